// States of the page. A state has an address, further actions, and a condition to wait for.

import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeNpy } from 'headlight-attention/formats';
import { OPENING } from '../../web/model/state.ts';
import { makeCheckpoint } from '../support/checkpoint.js';
import { families } from '../support/families.js';
import { LONGER } from '../support/opening.js';
import { writePng } from '../support/png.js';
import { attentions } from '../support/weights_file.js';

/** The two sentences of a trace. */
const PAIR = ['They gave the ship to me. They gave the', 'They gave the whale to me. They gave the'];
const traced = (page) => page.waitForFunction(() => part('.trace-cells') && !part('.trace-bar'));
const inCircuit = (page) =>
  page.waitForFunction(
    () => part('.circuit-list li') && part('[data-name=kept], [data-name=cuts]') && !part('.circuit-work'),
  );
/** A passage that repeats its beginning. */
const PASSAGE =
  'Call me Ishmael. Some years ago, never mind how long precisely, having little or no money in my purse, and ' +
  'nothing particular to interest me on shore, I thought I would sail about a little and see the watery part of ' +
  'the world. It is a way I have of driving off the spleen. Call me Ishmael. Some years ago I thought I would sail';
const surprised = (page) => page.waitForFunction(() => part('.mean-track .thin')?.getAttribute('d'));
const pinned = (text) => `pinned=${encodeURIComponent(new URLSearchParams({ text }))}`;

function folderOf(make) {
  const folder = mkdtempSync(join(tmpdir(), 'headlight-'));
  make(folder);
  return readdirSync(folder).map((name) => join(folder, name));
}
const checkpoint = (name) => folderOf((folder) => makeCheckpoint(folder, name));
const family = (name) =>
  folderOf((folder) => {
    const { files } = families.find((one) => one.name === name);
    for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content);
  });
const weights = (given) => folderOf((folder) => writeFileSync(join(folder, 'attentions.npy'), writeNpy(given)));

/** Returns a picture of a disc above a horizon. */
const picture = (side = 224) =>
  writePng(side, (x, y) => {
    if (Math.hypot(x - 0.65 * side, y - 0.35 * side) < 0.15 * side) return [250, 210, 90];
    return y < 0.6 * side ? [120, 170, 220 - y / 3] : [30, 70 + (y % 9) * 4, 110];
  });

/** Writes sentences for which this tiny model has different vectors. */
async function writeSentences(page) {
  for (const [i, text] of ['whales swim here', 'two ships', 'a dog'].entries())
    await page.locator('.matching-line input').nth(i).fill(text);
  await page.waitForFunction(
    () => new Set([...part('.page').querySelectorAll('.matching-line > b')].map((b) => b.textContent)).size === 3,
  );
}

/** Returns a file with the weights of 32 layers of 32 heads. Each head attends to a window of a different width. */
function many() {
  const [L, T] = [32, 24];
  const data = new Float32Array(L * L * T * T);
  for (let i = 0; i < L * L; i++) {
    const [back, breadth] = [i % 7, 0.4 + ((i * 7919) % 97) / 20];
    for (let t = 0; t < T; t++) {
      let sum = 0;
      for (let s = 0; s <= t; s++) {
        const weight = Math.exp(-Math.abs(t - s - back) / breadth) + (i % 5 === 0 && s === 0 ? 2 : 0);
        data[(i * T + t) * T + s] = weight;
        sum += weight;
      }
      for (let s = 0; s <= t; s++) data[(i * T + t) * T + s] /= sum;
    }
  }
  return { data, shape: [L, L, T, T] };
}

/** Returns a file with the weights of 4096 tokens. Each token attends to its neighbours and to every 512th token. */
function long() {
  const T = 4096;
  const data = new Float32Array(2 * T * T);
  for (let h = 0; h < 2; h++)
    for (let t = 0; t < T; t++) {
      const row = data.subarray((h * T + t) * T, (h * T + t + 1) * T);
      for (let s = Math.max(0, t - 40); s <= t; s++) row[s] += (0.6 / Math.min(41, t + 1)) * (h + 1);
      for (let s = 0; s <= t; s += 512) row[s] += 0.1;
      const sum = row.reduce((a, b) => a + b);
      for (let s = 0; s <= t; s++) row[s] /= sum;
    }
  return { data, shape: [2, T, T] };
}

export const settle = (page) =>
  page.waitForFunction(
    () =>
      part('.page')?.dataset.busy === 'false' &&
      part('.thumbnail, .first-sentence, .trace, .inside, .circuit, .text-view'),
  );

async function choose(page, files) {
  await page.evaluate(() => part('.model-menu > button').click());
  await page.evaluate(() => part('.model-menu [data-key=open]').click());
  await page.locator('input[data-name=files]').setInputFiles(files);
  await page.waitForFunction(() => part('.problem') || part('.model-menu .under').textContent.trim() !== 'Moby');
}
/** Returns an action that opens files, and closes the panel that describes them. */
const opens =
  (files, then = () => {}) =>
  async (page) => {
    await choose(page, files());
    // A panel describes a model. Weights from a file are described next to the heatmap.
    await page.waitForFunction(() => part('.told .word, .prediction.about .word'));
    await page.evaluate(() => part('.told .word')?.click());
    await settle(page);
    await then(page);
    await settle(page);
  };
/** Returns an action that opens a tiny model of sound. */
const opensListener =
  (name, then = () => {}) =>
  async (page) => {
    await choose(page, checkpoint(name));
    await page.waitForFunction(() => part('.record'));
    // Closes the panel that describes the model.
    await page.evaluate(() => part('.told .word')?.click());
    await settle(page);
    await then(page);
  };
/** Shows the attention of a decoder to its encoder. */
async function showCross(page) {
  await page.locator('.choice.parts .word').last().click();
  await settle(page);
}
/** Returns an action that chooses an item of a menu. */
const menu = (around, key) => async (page) => {
  await page.locator(`${around} button`).first().click();
  await page.locator(`${around} [data-key=${key}]`).click();
};
const sortMenu = (key) => menu('.sort', key);
const steps = (least) => (page) =>
  page.waitForFunction((least) => Number(part('.time input')?.value) >= least, least, { timeout: 300_000 });
const play = (page) => page.locator('.play').click();
const each =
  (...acts) =>
  async (page) => {
    for (const act of acts) await act(page);
  };
/** Returns an action that chooses an answer of the story. */
const predict = (i) => async (page) => {
  await page.waitForFunction(() => part('.answer'));
  await page.evaluate((i) => part('.ask').querySelectorAll('input')[i].click(), i);
  await page.waitForFunction(() => part('.do, .seen'));
};
const seen = (n) => (page) => page.waitForFunction((n) => part('.story').querySelectorAll('.seen').length >= n, n);
const slideTo = (selector, value) => (page) =>
  page.evaluate(
    ([selector, value]) => {
      const input = part(selector);
      input.value = value;
      for (const kind of ['input', 'change']) input.dispatchEvent(new Event(kind, { bubbles: true }));
    },
    [selector, value],
  );
const flip = async (page) => {
  await page.waitForFunction(() => part('.pair-area input:enabled'));
  await slideTo('.pair-area input', '-20')(page);
};
const warm = slideTo('.whatif input', '1');
const cut = (page) => page.evaluate(() => part('.cut-line .switch').click());
const skipQuestion = async (page) => {
  await page.waitForFunction(() => part('.quiz-buttons'));
  const number = await page.evaluate(() => part('.story .story-of + .do, .do').textContent);
  await page.evaluate(() => part('.quiz-buttons .word').click());
  await page.waitForFunction((before) => part('.story .do')?.textContent !== before, number);
};
/** A text on which the demo model is trained. It is long enough to hold out its end. */
const LETTER =
  'The letters came on Monday, and nobody read them. On Tuesday the postman sang about rivers, and the whole town ' +
  'listened until dawn. On Wednesday the letters came again, and the postman read them to the town: the rivers were ' +
  'full, the bridges were open, and all the boats were painted green and gold. On Thursday nobody came, because the ' +
  'postman was asleep by the river. The town waited for him on the bridge until dawn, and sang about the letters, ' +
  'the rivers and the boats. On Friday he woke, and read them a letter that he had written to the town himself.';
const own = `panel=train&training=whale.5.4.128.1.0.0005&lesson=${encodeURIComponent(LETTER)}`;
const constructed = 'model=constructed&text=The+cat+sat+on+the+mat+because+it+was+tired.&layer=0&head=5';

/** @type {Record<string, { hash?: string, act?: (page: any) => Promise<void>, locale?: string, fresh?: boolean }>} */
export const STATES = {
  explore: { hash: '' },
  cell: { hash: 'cell=15.3' },
  off: { hash: 'scale=4.2%3A0' },
  patch: { hash: `patch=4.2%3A1&text=${encodeURIComponent(LONGER)}&${pinned(OPENING)}` },
  flow: { hash: 'view=flow' },
  flowread: { hash: 'view=flow', act: (page) => page.locator('.adding li button').first().click() },
  circuit: { hash: 'view=flow&circuit=usual_', act: inCircuit },
  circuitCut: { hash: 'view=flow&circuit=zero_8_h3.3-k4.2', act: inCircuit },
  circuitPair: {
    hash: `view=flow&circuit=usual_&text=${encodeURIComponent(PAIR[1])}&${pinned(PAIR[0])}`,
    act: inCircuit,
  },
  circuitLength: { hash: `view=flow&circuit=other_&${pinned('Call me')}` },
  circuitRefused: {
    hash: 'view=flow&circuit=usual_',
    act: opens(() => family('OPT with a narrow embedding and norms after')),
  },
  lines: { hash: 'view=lines' },
  traceBegin: { hash: 'view=trace' },
  trace: {
    hash: `view=trace&patch=heads.4.10%3A1&text=${encodeURIComponent(PAIR[1])}&${pinned(PAIR[0])}`,
    act: traced,
  },
  traceOffer: {
    hash: `text=${encodeURIComponent(PAIR[1])}&${pinned(PAIR[0])}`,
    act: (page) => page.waitForFunction(() => part('.trace-offer')),
  },
  traceSame: { hash: `view=trace&text=${encodeURIComponent(PAIR[0])}&${pinned(PAIR[0])}` },
  text: { hash: `view=text&cell=70.3&text=${encodeURIComponent(PASSAGE)}`, act: surprised },
  textLong: { hash: `view=text&text=${encodeURIComponent(`${PASSAGE} about. ${PASSAGE}.`)}`, act: surprised },
  textOff: { hash: `view=text&scale=4.2%3A0&text=${encodeURIComponent(PASSAGE)}`, act: surprised },
  written: {
    hash: `written=38&text=${encodeURIComponent('They gave the ship to me. They gave the ship to me. They')}`,
    act: (page) => page.waitForFunction(() => part('.written-words tbody td') && part('.written-control')),
  },
  sum: { hash: 'sum=columns.3.4.12', act: (page) => page.waitForFunction(() => part('.sum li')) },
  words: {
    hash: `units=words&text=${encodeURIComponent('Call me Ishmael. Some years ago, call me Ishmael. Some')}`,
    act: (page) => page.waitForFunction(() => part('.reading li')),
  },
  textTable: {
    hash: `view=text&text=${encodeURIComponent(PASSAGE)}`,
    act: each(surprised, (page) => page.locator('.text-choices [aria-pressed]').click()),
    fresh: true,
  },
  tried: {
    act: each(sortMenu('ablate'), (page) =>
      page.waitForFunction(() => /^Ablate/.test(part('.ablation .try')?.textContent)),
    ),
  },
  beam: {
    // Shows the animation from the chosen head to the picture, paused after a third of its time.
    act: (page) =>
      page.evaluate(async () => {
        const drawn = () => part('.beam path').getAttribute('d');
        const before = drawn();
        part('[data-head="3.1"]').click();
        while (drawn() === before) await new Promise(requestAnimationFrame);
        const [animation] = part('.beam').getAnimations();
        animation.pause();
        animation.currentTime = 110;
      }),
    fresh: true,
  },
  table: { hash: 'panel=table' },
  story1: { hash: 'panel=story' },
  story3: { hash: 'panel=story&step=3' },
  story3do: { hash: 'panel=story&step=3', act: predict(2) },
  story3seen: { hash: 'panel=story&step=3&cell=13.4', act: each(predict(2), seen(1)) },
  story4: { hash: 'panel=story&step=4' },
  story4do: { hash: 'panel=story&step=4', act: predict(2) },
  story4seen: { hash: 'panel=story&step=4', act: each(predict(2), flip, seen(1)) },
  story4warm: { hash: 'panel=story&step=4', act: each(predict(2), flip, seen(1), predict(1), warm, seen(2)) },
  story8: { hash: 'panel=story&step=8' },
  story8do: { hash: 'panel=story&step=8', act: predict(1) },
  story8seen: {
    hash: 'panel=story&step=8',
    act: each(predict(2), (page) => page.evaluate(() => part('.corner .switch').click()), seen(1)),
  },
  storyCut: { hash: 'panel=story&step=10' },
  storyCutDo: { hash: 'panel=story&step=10', act: predict(1) },
  storyCutSeen: { hash: 'panel=story&step=10', act: each(predict(1), cut, seen(1)) },
  story9: { hash: 'panel=story&step=9' },
  quiz: { hash: 'panel=story&step=11' },
  quizResult: { hash: 'panel=story&step=12', act: each(...Array(3).fill(skipQuestion)) },
  beside: { hash: `view=compare&scale=4.2%3A0&${pinned(OPENING)}` },
  difference: { hash: `view=compare&versus=difference&scale=4.2%3A0&${pinned(OPENING)}` },
  prompts: { hash: `view=compare&${pinned(LONGER)}` },
  unpinned: { hash: 'view=compare' },
  painted: { hash: 'painted=all%3A16.0-3' },
  brush: {
    act: each(
      (page) => page.locator('.changes > button').click(),
      (page) => page.locator('.settings .menu button').first().click(),
      (page) => page.locator('[data-key=brush]').click(),
    ),
    fresh: true,
  },
  constructed: { hash: `${constructed}&cell=7.5` },
  patches: { hash: 'model=patches&text=&layer=0&head=4&cell=38.24' },
  patches0: { hash: 'model=patches&text=' },
  sentence: { hash: 'model=sentence&text=How+do+whales+sleep%3F&second=When+does+a+whale+rest%3F&layer=1&head=0' },
  open: { act: menu('.model-menu', 'open') },
  problem: {
    act: (page) =>
      choose(
        page,
        folderOf((folder) => writeFileSync(join(folder, 'film.mp4'), Buffer.alloc(100))),
      ),
  },
  told: { act: (page) => choose(page, checkpoint('bert')) },
  bert: {
    act: opens(
      () => checkpoint('bert'),
      (page) =>
        page
          .locator('.cover')
          .first()
          .click({ timeout: 3000 })
          .catch(() => {}),
    ),
  },
  vit: {
    act: opens(
      () => checkpoint('vit'),
      (page) =>
        page
          .locator('.file input')
          .last()
          .setInputFiles({ name: 'sun.png', mimeType: 'image/png', buffer: picture() })
          .catch(() => {}),
    ),
  },
  clip: { act: opens(() => checkpoint('clip'), writeSentences) },
  clipPicture: {
    act: opens(
      () => checkpoint('clip'),
      async (page) => {
        await writeSentences(page);
        await page.locator('.parts .word').last().click();
        await page.waitForFunction(() => part('.patches.large') && part('.corner .switch'));
        await page.evaluate(() => part('.corner .switch').click());
        await page.waitForFunction(() => part('.matching.compared .tick'));
      },
    ),
  },
  whisper: { act: opensListener('whisper', showCross) },
  wav2vec2: { act: opensListener('wav2vec2') },
  microphoneRefused: {
    act: opensListener('wav2vec2', async (page) => {
      await page.evaluate(() => {
        navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', 'NotAllowedError'));
      });
      await page.locator('[data-name=record]').click();
    }),
  },
  t5: { act: opens(() => family('T5, relu and a tied head')) },
  t5Off: {
    act: opens(
      () => family('T5, relu and a tied head'),
      async (page) => {
        await showCross(page);
        await page.locator('.corner .switch').click();
        await page.evaluate(() => part('.sort button').click());
        await page.waitForFunction(() => part('.sort [data-key=ablate]'));
        await page.evaluate(() => part('.sort [data-key=ablate]').click());
        await page.waitForFunction(() => part('.adding.ablation')?.querySelectorAll('li').length === 24);
      },
    ),
  },
  t5Flow: {
    act: opens(
      () => family('T5, relu and a tied head'),
      async (page) => {
        await showCross(page);
        await page.locator('.second').fill('7 9 3');
        await settle(page);
        await page.locator('.legend .views .word').last().click();
        await page.waitForFunction(() => part('.flow-drawing .ribbon'));
      },
    ),
  },
  mpnetOff: {
    act: opens(
      () => family('MPNet for sentences'),
      async (page) => {
        await page.locator('.corner .switch').click();
        await page.waitForFunction(() => part('.turned dl'));
      },
    ),
  },
  elsewhere: { act: opens(() => weights(attentions([4, 4, 12, 12], true))) },
  full: { act: opens(() => weights(attentions([3, 4, 12, 12], false))) },
  many: { act: opens(() => weights(many())) },
  long: { act: opens(() => weights(long())) },
  empty: { hash: 'text=' },
  one: { hash: 'text=Call' },
  paragraph: {
    hash: `text=${encodeURIComponent(
      'Call me Ishmael. Some years ago, never mind how long precisely, having little or no money in my purse, and ' +
        'nothing particular to interest me on shore, I thought I would sail about a little. Call me',
    )}`,
  },
  gone: { hash: 'model=opened-3' },
  training: { hash: 'panel=train', act: each(play, steps(40)) },
  trained: {
    hash: 'panel=train&training=repeat.1.2.16.1.0.003',
    act: each(
      (page) => page.locator('.speed button').click(),
      (page) => page.getByRole('menuitemradio', { name: 'as fast as it can' }).click(),
      play,
      steps(300),
      play,
    ),
  },
  ownText: { hash: own, act: each(play, steps(3), play) },
  ownTextBeside: { hash: `${own}&view=compare&layer=3&head=3`, act: each(play, steps(3), play) },
  beforeTraining: { hash: 'panel=train&training=brackets.2.4.32.1.0.003' },
  more: { act: (page) => page.locator('.more-menu button').first().click(), fresh: true },
  help: { act: menu('.more-menu', 'help'), fresh: true },
  changes: { act: (page) => page.locator('.changes > button').click(), fresh: true },
  share: { act: (page) => page.locator('.actions button').click(), fresh: true },
  kinds: { act: (page) => page.locator('.legend .menu button').first().click(), fresh: true },
  inFull: { act: (page) => page.evaluate(() => part('.in-full').click()) },
  first0: { hash: 'first=0' },
  first1: { hash: 'first=1' },
  first2: { hash: 'first=2' },
  first3: { hash: 'first=3' },
  menu: { act: (page) => page.locator('.model-menu button').first().click(), fresh: true },
  chineseCircuit: { hash: 'view=flow&circuit=usual__h3.3-k4.2', locale: 'zh-CN', act: inCircuit },
  chinese: { locale: 'zh-CN' },
  chineseFirst0: { hash: 'first=0', locale: 'zh-CN' },
  chineseFirst1: { hash: 'first=1', locale: 'zh-CN' },
  chineseFirst2: { hash: 'first=2', locale: 'zh-CN' },
  chineseFirst3: { hash: 'first=3', locale: 'zh-CN' },
  chineseStory: { hash: 'panel=story&step=4', act: each(predict(2), flip, seen(1)), locale: 'zh-CN' },
  chineseCut: { hash: 'panel=story&step=10', act: each(predict(1), cut, seen(1)), locale: 'zh-CN' },
  chineseQuiz: { hash: 'panel=story&step=11', locale: 'zh-CN' },
};
