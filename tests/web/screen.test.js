// Tests the page in Chromium: numbers, controls and layout.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { serve } from '../../src/build/server.ts';
import { shareText } from '../../web/model/numbers.ts';
import { OPENING } from '../../web/model/state.ts';
import { FROM, GUESS, LAST, NAMES, nameOf, TOKENS } from '../support/opening.js';
import {
  assertAccessible,
  chooseMore,
  download,
  drawn,
  faults,
  headSwitch,
  openEmpty,
  openPage,
  page,
  server,
  settle,
  share,
  site,
} from '../support/page.js';
import { fullTest, inTier } from '../support/tier.js';
import { loadWhale } from '../support/whale.js';

const { hl, whale, tokenizer } = await loadWhale();

/** Computes the weights of a head and the probabilities of the last row with the module. */
function run(text, edit = []) {
  return hl.scope(() => {
    const { ids } = tokenizer.encode(text);
    const input = { ids: { data: Int32Array.from(ids), shape: [1, ids.length] } };
    const { logits, captured } = whale.forward(input, { edit, capture: ['blocks.*.weights'] });
    const row = Array.from(logits.data).slice(-logits.shape[2]);
    const most = row.reduce((a, x) => Math.max(a, x), -Infinity);
    const sum = row.reduce((a, x) => a + Math.exp(x - most), 0);
    const T = ids.length;
    const weights = Array.from({ length: 5 }, (_, l) => captured[`blocks.${l}.weights`].copy());
    return {
      T,
      likely: row.map((x) => Math.exp(x - most) / sum),
      weight: (layer, head, t, s) => weights[layer][(head * T + t) * T + s],
    };
  });
}
const guesses = () =>
  page
    .locator('.prediction .option')
    .evaluateAll((rows) =>
      rows.map((row) => ({ now: row.querySelector('b').textContent, other: row.querySelector('.then')?.textContent })),
    );
const text = (selector) => page.locator(selector).first().textContent();
const press = async (...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};

test('the page opens with the demo model, its picture and its guess, without errors', async () => {
  await openPage();
  assert.equal(await page.locator('.thumbnail').count(), 20);
  assert.match(await text('.corner h2'), /^Layer 4, head 2/);
  assert.equal(await page.locator('.guess').textContent(), GUESS);
  assert.deepEqual(faults, []);
});

test("numbers on the screen equal the module's: guesses, and the weights of a row", async () => {
  await openPage();
  const { likely, weight, T } = run(OPENING);
  const without = run(OPENING, [{ at: 'blocks.4.heads', head: 2, set: 'zero' }]).likely;
  const [best] = likely.map((_, id) => id).sort((a, b) => likely[b] - likely[a]);
  const sorted = [...likely].sort((a, b) => b - a).slice(0, 5);
  assert.deepEqual(
    (await guesses()).map(({ now }) => now),
    sorted.map(shareText),
    'no likelier word is left out',
  );
  const bars = await page
    .locator('.prediction .track')
    .evaluateAll((tracks) => tracks.map((track) => track.querySelector('.bar').offsetWidth / track.offsetWidth));
  bars.forEach((share, i) => {
    assert.ok(Math.abs(share - sorted[i]) < 0.05, `bar ${i} is ${share} of the scale, expected ${sorted[i]}`);
  });
  assert.deepEqual((await guesses())[0].other, '', 'nothing is compared yet');
  await headSwitch().hover();
  await page.waitForFunction(() => part('.prediction.compared'));
  assert.deepEqual((await guesses())[0], { now: shareText(likely[best]), other: shareText(without[best]) });
  const figures = await page.locator('.figure').allTextContents();
  const large = Array.from({ length: T }, (_, s) => weight(4, 2, T - 1, s)).filter((w) => w >= 0.02);
  assert.equal(figures.length, large.length, 'small weights have no figure');
  figures.forEach((figure, i) => {
    assert.ok(Math.abs(Number(figure) - large[i]) <= 0.00501, `${i}: ${figure}`);
  });
  assert.equal(await text('.reading [data-name=weight]'), weight(4, 2, T - 1, FROM).toFixed(2));
});

test('a head is switched off: the guess falls as with the same edit; Ctrl+Z undoes it', async () => {
  await openPage({ fresh: true });
  const before = await guesses();
  await headSwitch().click();
  await settle();
  await page.waitForFunction(() => part('.corner h2').textContent.includes('is off'));
  const { likely } = run(OPENING, [{ at: 'blocks.4.heads', head: 2, set: 'zero' }]);
  const best = Math.max(...likely);
  assert.equal((await guesses())[0].now, shareText(best));
  assert.equal((await guesses()).at(-1).other, before[0].now, 'what was guessed is still in the list');
  assert.equal(await text('.adds b'), '0.00');
  // While the pointer is over the word "off", the predictions without the head are shown.
  await page.mouse.move(5, 5);
  await press('Control+z');
  await page.waitForFunction(() => !part('.corner h2').textContent.includes('is off'));
  await settle();
  assert.deepEqual(await guesses(), before);
  await press('Control+Shift+z');
  await page.waitForFunction(() => part('.corner h2').textContent.includes('is off'));
});

test('the pointer over a token makes it the query, over a cell reads it; a click locks the cell', async () => {
  await openPage();
  const { weight } = run(OPENING);
  const word = await page.locator('[data-t="8"]').boundingBox();
  await page.mouse.move(word.x + 5, word.y + 10);
  await page.waitForFunction((name) => part('.title .query').textContent === name, NAMES[8]);
  const box = await page.locator('.matrix').boundingBox();
  const at = async (t, s) =>
    page.mouse.move(box.x + ((s + 0.5) * box.width) / TOKENS, box.y + ((t + 0.5) * box.height) / TOKENS);
  await at(11, 10);
  await page.waitForFunction((name) => part('.title .key').textContent === name, NAMES[10]);
  assert.equal(await text('.reading [data-name=weight]'), weight(4, 2, 11, 10).toFixed(2));
  await page.mouse.down();
  await page.mouse.up();
  await page.mouse.move(5, 5);
  assert.equal(await text('.title .key'), NAMES[10]);
  await press('Escape');
  await page.waitForFunction((name) => part('.title .query').textContent === name, NAMES[LAST]);
});

test('the keyboard moves between cells, heads and layers, and each is announced', async () => {
  await openPage();
  const { weight } = run(OPENING);
  await page.locator('#picture').focus();
  await press('ArrowUp', 'Home', 'ArrowRight');
  const said = () => text('.spoken');
  assert.equal(
    await said(),
    `Attention from ${nameOf(LAST - 1)} to ${nameOf(1)}: ${weight(4, 2, LAST - 1, 1).toFixed(2)}`,
  );
  await press(']');
  await page.waitForFunction(() => part('.corner h2').textContent.startsWith('Layer 4, head 3'));
  await press('[', '{');
  await page.waitForFunction(() => part('.corner h2').textContent.startsWith('Layer 3, head 2'));
  assert.equal(await said(), 'Layer 3, head 2');
  await settle();
  assert.ok(Math.abs(Number(await text('.reading [data-name=weight]')) - weight(3, 2, LAST - 1, 1)) <= 0.00501);
  await page.locator('.thumbnail[aria-checked=true]').focus();
  await press('ArrowUp', 'ArrowLeft');
  await page.waitForFunction(() => part('.corner h2').textContent.startsWith('Layer 4, head 1'));
});

test('the keys 1 to 6 choose the views, but are letters in a text field; the help lists them', async () => {
  const viewIs = (view) =>
    page.waitForFunction(
      (view) => (new URLSearchParams(location.hash.slice(1)).get('view') ?? 'heatmap') === view,
      view,
    );
  await openPage();
  const names = ['Heatmap', 'Lines', 'Flow', 'Trace', 'Text', 'Atlas'];
  for (const i of [1, 2, 3, 4, 5, 0]) {
    await press(String(i + 1));
    await viewIs(names[i].toLowerCase());
    assert.equal(await text('.spoken'), names[i]);
    await page.waitForFunction(
      (name) => part('.legend .views [aria-pressed=true], .pressed').innerText.trim() === name,
      names[i],
    );
  }
  await press('7', 'Alt+3', 'Control+3');
  await viewIs('heatmap');
  await page.getByRole('textbox', { name: 'The text. Write here' }).fill('At sea');
  await press('3');
  await page.waitForFunction(() => part('.sentence textarea').value === 'At sea3');
  await viewIs('heatmap');
  await openPage();
  await chooseMore('help');
  assert.match(await text('.help'), /1 … 6\s*Heatmap, Lines, Flow, Trace, Text, Atlas/);
  await press('Escape');
});

fullTest(
  'an animation leads from the chosen head to the large picture, unless the visitor wants no motion',
  async () => {
    const beam = () => page.evaluate(() => part('.beam path').getAttribute('d') ?? '');
    await openPage({ fresh: true });
    assert.equal(await beam(), '', 'nothing has been chosen');
    await page.locator("[data-head='2.1']").click();
    await page.waitForFunction(() => part('.beam path').getAttribute('d'));
    const [x, y] = (await beam()).match(/[\d.]+/g).map(Number);
    const [left, top] = await page.evaluate(() => {
      const area = part('.beam').getBoundingClientRect();
      const frame = part("[data-head='2.1'] .frame").getBoundingClientRect();
      return [frame.right - area.left, frame.top - area.top];
    });
    assert.ok(Math.abs(x - left) < 2 && Math.abs(y - top) < 2, `${x}, ${y} is not ${left}, ${top}`);
    // The beam from the thumbnail of the chosen head to the heatmap fades, and does not block the pointer.
    await page.waitForFunction(() => getComputedStyle(part('.beam')).opacity === '0');
    assert.equal(await page.evaluate(() => getComputedStyle(part('.beam')).pointerEvents), 'none');
    await openPage({ reducedMotion: 'reduce', fresh: true });
    await page.locator("[data-head='2.1']").click();
    await page.waitForFunction(() => part('.corner h2').textContent.startsWith('Layer 2, head 1'));
    assert.equal(await beam(), '');
  },
);

test('a visitor edits the text, and the model continues it until it is stopped', async () => {
  await openPage();
  const field = page.getByRole('textbox', { name: 'The text. Write here' });
  await field.fill('The White Whale! cried Ahab; hast thou seen the White');
  await settle();
  await page.waitForFunction(() => part('.guess')?.textContent === 'Whale');
  await page.getByRole('button', { name: 'write on' }).click();
  await page.waitForFunction(() => part('textarea').value.length > 55);
  // Presses the button without waiting, because after the end of writing the same button would start it again.
  await page.evaluate(() => {
    const buttons = [...part('.sentence').querySelectorAll('button')];
    buttons.find(({ textContent }) => textContent === 'stop')?.click();
  });
  await page.getByRole('button', { name: 'write on' }).waitFor();
  await settle();
  const longer = await field.inputValue();
  assert.ok(longer.startsWith('The White Whale! cried Ahab; hast thou seen the White'));
  await press('Escape', 'Control+z');
  await page.waitForFunction((before) => part('textarea').value.length < before, longer.length);
  assert.equal(await field.inputValue(), 'The White Whale! cried Ahab; hast thou seen the White');
});

test('letters that are typed faster than the page is drawn are all kept', async () => {
  await openPage();
  await page.evaluate(
    () =>
      new Promise((done) => {
        const field = part('.sentence textarea');
        const letters = [...' of whales'];
        const type = () => {
          field.value += letters.shift();
          field.dispatchEvent(new InputEvent('input', { bubbles: true }));
        };
        // The next letter is typed as soon as the previous one is drawn.
        const drawn = new MutationObserver(() => {
          if (letters.length > 0) return type();
          drawn.disconnect();
          done();
        });
        drawn.observe(part('.sentence .line'), { subtree: true, childList: true, characterData: true });
        type();
      }),
  );
  await settle();
  assert.equal(await page.locator('.sentence textarea').inputValue(), `${OPENING} of whales`);
});

test('temperature, mask, pin and patch change the run as forward does', async () => {
  await openPage();
  const slider = page.getByRole('slider');
  await slider.focus();
  await press('End');
  await settle();
  await page.waitForFunction(() => part('.slider b').textContent === '10.00');
  const hot = run(OPENING, [{ at: 'blocks.*.scores', temperature: 10 }]).likely;
  assert.equal((await guesses())[0].now, shareText(Math.max(...hot)));
  await page.getByRole('button', { name: 'Reset' }).click();
  await page.locator('.whatif > .pin').click();
  await page.locator('.changes > button').click();
  await page.getByRole('button', { name: 'mask: causal' }).click();
  await page.getByRole('menuitemradio', { name: /^none/ }).click();
  await page.waitForFunction(() => part('.corner.above') !== null);
  await settle();
  const { weight } = run(OPENING, [{ at: 'blocks.*.scores', mask: 'none' }]);
  assert.ok(Math.abs(Number(await text('.figure.here')) - weight(4, 2, LAST, FROM)) <= 0.00501);
  assert.match(await text('.other'), /in the pinned run/);
});

test('the address contains the state, and restores it', async () => {
  await openPage({}, '#layer=3&head=3&scale=4.2%3A0&cell=5.2&text=Call+me+Ishmael.+Call+me');
  assert.match(await text('.corner h2'), /^Layer 3, head 3/);
  assert.equal(await text('.title .query'), 'ma');
  await page.getByRole('radio', { name: /^Layer 4, head 2/ }).click();
  await page.waitForFunction(() => /layer/.test(location.hash) === false && /scale/.test(location.hash));
});

for (const [width, height] of inTier(
  [
    [1440, 900],
    [1024, 768],
    [1920, 1080],
    [2560, 1440],
    [900, 700],
  ],
  [[1024, 768]],
))
  test(`${width} × ${height}: nothing scrolls, and every part is in sight`, async () => {
    await openPage({ viewport: { width, height } });
    const found = await page.evaluate(() => {
      const { scrollWidth, scrollHeight } = document.documentElement;
      const boxes = ['.picture .matrix', '.legend', '.prediction', '.model', '.reading .adds', '.whatif', '.actions'];
      return {
        scroll: [scrollWidth - innerWidth, scrollHeight - innerHeight],
        beyond: boxes.filter((name) => {
          const { left, right, top, bottom } = part(name).getBoundingClientRect();
          return left < 0 || top < 0 || right > innerWidth + 0.5 || bottom > innerHeight + 0.5;
        }),
        under: part('.reading .adds').getBoundingClientRect().bottom - part('.whatif').getBoundingClientRect().top,
      };
    });
    assert.deepEqual([found.scroll, found.beyond], [[0, 0], []]);
    assert.ok(found.under <= 0, `the reading column ends ${found.under} px below the what-if line`);
  });

test('360 px: nothing scrolls sideways, a touch reads a cell, the sheet shows its computation', async () => {
  await openPage({ viewport: { width: 360, height: 740 }, hasTouch: true });
  const sideways = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.equal(await sideways(), 0);
  const box = await page.locator('.matrix').boundingBox();
  const cell = box.width / TOKENS;
  await page.touchscreen.tap(box.x + 2.5 * cell, box.y + 6.5 * cell);
  await page.waitForFunction((name) => part('.sheet .query').textContent === name, NAMES[6]);
  await page.locator('.sheet-line').tap();
  assert.equal(await page.locator('.sheet .strip').count(), 5);
  assert.equal(await sideways(), 0);
  await press('Escape');
  await page.waitForFunction(() => part('.sheet .strip') === null);
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await page.locator('.thumbnail').first().tap();
  await page.waitForFunction(() => part('.corner h2').textContent.startsWith('Layer 0, head 0'));
});

fullTest('upright again, the picture is above the model', async () => {
  await openPage({ viewport: { width: 740, height: 360 }, hasTouch: true });
  await page.setViewportSize({ width: 360, height: 740 });
  await page.waitForFunction(() => {
    const [above, below] = ['.matrix', '.model'].map((name) => part(name).getBoundingClientRect());
    return !part('.low') && above.bottom < below.top && below.left < 40;
  });
});

test('360 px: the list of changes closes by Escape, which returns the focus, and by a press elsewhere', async () => {
  await openPage({ viewport: { width: 360, height: 740 }, hasTouch: true });
  const more = page.locator('.changes > button');
  const isOpen = (wanted) => page.waitForFunction((wanted) => (part('.settings') !== null) === wanted, wanted);
  await more.tap();
  await isOpen(true);
  await press('Escape');
  await isOpen(false);
  assert.ok(await more.evaluate((element) => element.getRootNode().activeElement === element));
  await more.tap();
  await isOpen(true);
  await page.touchscreen.tap(180, 200);
  await isOpen(false);
});

const SIDEWAYS = [
  [667, 375],
  [740, 360],
  [844, 390],
  [932, 430],
];
for (const [width, height] of inTier(SIDEWAYS, [SIDEWAYS[0]]))
  test(`${width} × ${height}, sideways: text, picture, model, guess and what if are in sight`, async () => {
    await openPage({ viewport: { width, height }, hasTouch: true, isMobile: true });
    const boxes = ['.words', '.picture .matrix', '.model', '.prediction .option', '.sheet', '.whatif'];
    const found = await page.evaluate((boxes) => {
      const box = (name) => part(name).getBoundingClientRect();
      const end = box('.whatif').top;
      return {
        beyond: boxes.filter((name) => {
          const { left, right, top, bottom } = box(name);
          const low = name === '.whatif' || name === '.sheet' ? innerHeight : end;
          return left < 0 || top < 0 || right > innerWidth + 0.5 || bottom > low + 0.5;
        }),
        across: [box('.picture .matrix').right <= box('.model').left, box('.changes').right <= box('.sheet').left],
        sideways: document.documentElement.scrollWidth - innerWidth,
        side: box('.picture .matrix').height / innerHeight,
      };
    }, boxes);
    assert.deepEqual([found.beyond, found.across, found.sideways], [[], [true, true], 0]);
    assert.ok(found.side > 0.5, `the picture takes ${found.side} of the height`);
  });

fullTest('a phone held sideways: reading, rarely used controls and story are next to the picture', async () => {
  const [width, height] = SIDEWAYS[1];
  await openPage({ viewport: { width, height }, hasTouch: true, isMobile: true });
  const box = await page.locator('.matrix').boundingBox();
  await page.touchscreen.tap(box.x + (2.5 * box.width) / TOKENS, box.y + (6.5 * box.width) / TOKENS);
  await page.waitForFunction((name) => part('.sheet .query').textContent === name, NAMES[6]);
  await page.locator('.sheet-line').tap();
  const apart = () =>
    page.evaluate(() => {
      const { left, top } = part('.sheet, .story').getBoundingClientRect();
      const { right, bottom } = part('.matrix').getBoundingClientRect();
      return { beside: left >= right, below: top >= bottom };
    });
  await page.locator('.sheet .strip').first().waitFor();
  assert.deepEqual(await apart(), { beside: true, below: false });
  await assertAccessible();
  await press('Escape');
  await page.locator('.changes > button').tap();
  await page.locator('.settings').waitFor();
  await assertAccessible();
  await press('Escape');
  await page.locator('.story-word').tap();
  await page.locator('.steps li:nth-child(3) button').tap();
  await page.waitForFunction(() => part('.story')?.dataset.step === '3' && part('.page').dataset.busy === 'false');
  assert.deepEqual(await apart(), { beside: true, below: false });
  await assertAccessible();
});

for (const [language, locale] of [
  ['en', 'en-GB'],
  ['zh', 'zh-CN'],
])
  for (const colorScheme of ['light', 'dark'])
    fullTest(`axe finds nothing: ${language}, ${colorScheme}`, async () => {
      await openPage({ locale, colorScheme });
      await assertAccessible();
      await chooseMore('help');
      await assertAccessible();
      await press('Escape');
      await page.locator('.changes > button').click();
      await page.locator('.settings').waitFor();
      await assertAccessible();
      await press('Escape');
      await openPage({ locale, colorScheme, viewport: { width: 360, height: 740 } }, '#scale=4.2%3A0');
      await page.locator('.sheet-line').click();
      await assertAccessible();
    });

test('a first visit has no layout shift, and loads at most 248 kB compressed, without models', async () => {
  await openEmpty({ viewport: { width: 1440, height: 900 } });
  await page.addInitScript(() => {
    globalThis.moved = 0;
    new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) globalThis.moved += value;
    }).observe({ type: 'layout-shift', buffered: true });
  });
  const names = new Set(['index.html']);
  page.on('response', (response) => names.add(new URL(response.url()).pathname.slice(1) || 'index.html'));
  await page.goto(server.url);
  await settle();
  await drawn();
  const moved = await page.evaluate(() => globalThis.moved);
  assert.ok(moved <= 0.05, `${moved}`);
  const code = [...names].filter((name) => !name.startsWith('whale.'));
  assert.ok(code.some((name) => name.endsWith('.wasm')) && code.includes('page.worker.js'), `${code}`);
  const bytes = await Promise.all(code.map(async (name) => gzipSync(await readFile(join(site, name))).length));
  const sum = bytes.reduce((a, b) => a + b);
  assert.ok(sum <= 248_000, `${sum}: ${code.map((name, i) => `${name} ${bytes[i]}`)}`);
});

fullTest('the worker uses all cores if the page is isolated, otherwise one thread', async () => {
  /** Returns the name of the binary that a page of this server loads, without the extension. */
  async function binaryOf({ url }) {
    await openEmpty();
    const names = [];
    page.on('response', (response) => names.push(new URL(response.url()).pathname));
    await page.goto(`${url}#text=At+sea`);
    await settle();
    return names.flatMap((name) => /headlight\.(.+)\.wasm$/.exec(name)?.[1] ?? []);
  }
  const [isolated] = await binaryOf(server);
  const cores = await page.evaluate(() => navigator.hardwareConcurrency);
  assert.equal(isolated, cores > 1 ? 'relaxed-threads' : 'relaxed');
  const plain = await serve({ root: site, headers: { 'Cross-Origin-Embedder-Policy': 'unsafe-none' } });
  try {
    assert.deepEqual(await binaryOf(plain), ['relaxed']);
  } finally {
    await plain.close();
  }
});

test('exported files contain the shown numbers', async () => {
  await openPage();
  const take = async (name) => {
    await share();
    return (await download(() => page.getByRole('menuitem', { name }).click())).bytes;
  };
  const csv = String(await take(/CSV/))
    .trim()
    .split('\r\n');
  assert.equal(csv.length, TOKENS + 1);
  const { weight } = run(OPENING);
  assert.ok(
    Math.abs(
      Number(
        csv
          .at(-1)
          .split(',')
          .at(FROM + 1),
      ) - weight(4, 2, LAST, FROM),
    ) < 1e-6,
  );
  assert.match(String(await take(/SVG$/)), /Layer 4, head 2/);
  assert.deepEqual([...(await take(/PNG/)).subarray(1, 4)], [...Buffer.from('PNG')]);
});

test('the first picture and its guesses are shown before the worker has answered', async () => {
  await openEmpty({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
  let goOn;
  await page.route('**/whale.safetensors', (route) => (goOn = () => route.continue()));
  await page.goto(server.url);
  await page.waitForFunction(() => part('#picture') && part('.prediction .tick'));
  assert.equal(await page.evaluate(() => part('.page').dataset.busy), 'true');
  assert.match(await text('.corner'), /Layer 4, head 2.*looks at the word after them/s);
  const before = await guesses();
  const { likely } = run(OPENING);
  assert.equal(before[0].now, shareText(Math.max(...likely)));
  // A request that is sent meanwhile is answered after the model has been read.
  await headSwitch().click();
  await page.waitForFunction(() => part('.corner h2').textContent.includes('is off'));
  goOn();
  await settle();
  assert.notEqual((await guesses())[0].now, before[0].now);
  assert.deepEqual(faults, []);
});

fullTest('a stored first picture that cannot be read is ignored', async () => {
  await openEmpty({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
  await page.route('**/whale.first.json', (route) => route.fulfill({ status: 200, body: '<!doctype html>' }));
  await page.goto(server.url);
  await settle();
  assert.match(await text('.corner'), /Layer 4, head 2/);
  assert.deepEqual(faults, []);
});

test('an error says that a model cannot be read, and the visitor can try again', async () => {
  await openEmpty({ viewport: { width: 1440, height: 900 } });
  await page.route('**/whale.safetensors', (route) => route.fulfill({ status: 500, body: 'no' }));
  await page.goto(server.url);
  await page.waitForFunction(() => part('.failed-run')?.textContent.includes('whale.safetensors'));
  await page.unroute('**/whale.safetensors');
  await page.getByRole('button', { name: 'Try again' }).click();
  await settle();
});

fullTest('the error that a model cannot be read stays when the first picture comes later', async () => {
  await openEmpty({ viewport: { width: 1440, height: 900 } });
  let goOn;
  const failed = new Promise((resolve) => (goOn = resolve));
  await page.route('**/whale.first.json', (route) => failed.then(() => route.continue()));
  await page.route('**/whale.safetensors', (route) => route.fulfill({ status: 500, body: 'no' }));
  await page.goto(server.url);
  await page.waitForFunction(() => part('.failure'));
  goOn();
  await page.waitForFunction(() => part('#picture') && part('.prediction .tick'));
  assert.match(await text('.failure'), /whale\.safetensors/);
});
