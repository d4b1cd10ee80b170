// Tests the layout of the page in Chromium: sizes of pictures and positions of texts. states.test.js checks every state
// at every width.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { writeNpy } from 'headlight-attention/formats';
import { makeCheckpoint } from '../support/checkpoint.js';
import { families } from '../support/families.js';
import { LONGER, NAMES } from '../support/opening.js';
import {
  assertAccessible,
  chooseMore,
  drawn,
  faults,
  openAt,
  openChooser,
  openEmpty,
  page,
  server,
  spoil,
} from '../support/page.js';
import { attentions } from '../support/weights_file.js';
import { HEIGHTS, open, PINNED_OPENING } from './open.js';

/** Widths of letters on other systems, relative to the widths on this system. */
const LETTERS = [1, 0.86];
async function openInLetters(share, width, hash, options = {}) {
  await openEmpty({ viewport: { width, height: HEIGHTS[width] }, locale: 'en-GB', ...options });
  await page.addInitScript((share) => {
    const local = (names) => names.map((name) => `local("${name}")`).join(', ');
    const faces = {
      'Iowan Old Style': ['DejaVu Serif', 'Liberation Serif', 'Noto Serif', 'Times New Roman'],
      'Other Sans': ['DejaVu Sans', 'Liberation Sans', 'Noto Sans', 'Arial'],
    };
    globalThis.lettersAreThere = Promise.all(
      Object.entries(faces).map(([name, from]) => {
        // Narrow letters get a larger line height.
        const high = share < 1 && { ascentOverride: '124%', descentOverride: '34%' };
        const face = new FontFace(name, local(from), { sizeAdjust: `${100 * share}%`, ...high });
        document.fonts.add(face);
        return face.load();
      }),
    );
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('body > div { --sans: "Other Sans" !important }');
    document.adoptedStyleSheets = [sheet];
  }, share);
  await page.goto(`${server.url}#${hash}`);
  await page.evaluate(() => globalThis.lettersAreThere);
  await page.waitForFunction(() => part('.page')?.dataset.busy === 'false' && part('.thumbnail'));
}

/** Returns the pairs of visible texts that overlap. */
const overlaps = (selector) =>
  page.evaluate((selector) => {
    const boxes = [...part('.page').querySelectorAll(selector)]
      .map((element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        return { text: element.textContent, box: range.getBoundingClientRect() };
      })
      .filter(({ text, box }) => text.trim() && box.width > 0);
    return boxes.flatMap((a, i) =>
      boxes
        .slice(i + 1)
        .filter(
          (b) =>
            Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left) > 1 &&
            Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top) > 1,
        )
        .map((b) => `${a.text} | ${b.text}`),
    );
  }, selector);

/** Returns the boxes of the texts of elements, without padding. */
const textBoxes = (selector) =>
  page.evaluate((selector) => {
    return [...part('.page').querySelectorAll(selector)].map((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      return { text: element.textContent, ...range.getBoundingClientRect().toJSON() };
    });
  }, selector);

/** Opens a file with attention weights. */
async function openWeights(shape, causal = true) {
  await openChooser();
  await page
    .locator('input[data-name=files]')
    .setInputFiles({ name: 'weights.npy', mimeType: '', buffer: Buffer.from(writeNpy(attentions(shape, causal))) });
  await page.waitForFunction(() => part('.model-menu .under')?.textContent.trim() === 'weights.npy');
  await page.waitForFunction(
    () => part('.page').dataset.busy === 'false' && part('.reading .keys-list') && part('.recognised li'),
  );
}

/** Minimum width of a picture in patches, by the width of the window. @type {Record<number, number>} */
const PATCHES = { 2560: 600, 1440: 400, 1024: 290, 768: 400, 360: 270 };
for (const [width, least] of [2560, 1440, 1024, 768, 360].map((width) => [width, PATCHES[width]]))
  test(`${width} px: a picture in patches is ${least} px wide, and its weights are in sight below it`, async () => {
    await open('model=patches&text=', Number(width));
    await page.waitForFunction(() => part('.pane canvas'));
    const [photo, weights] = await page.evaluate(() =>
      [...part('.patches-panes').querySelectorAll('.pane')].map((pane) => {
        const { width, bottom } = pane.getBoundingClientRect();
        return { width, bottom };
      }),
    );
    assert.ok(photo.width >= least && weights.width === photo.width, `${photo.width} px`);
    const end = await page.evaluate(() => part('.sheet, .whatif').getBoundingClientRect().top);
    assert.ok(weights.bottom <= end, `the weights end at ${weights.bottom}, the line begins at ${end}`);
  });

for (const model of ['constructed', 'patches'])
  test(`a phone held sideways, heads made by hand, ${model}: their pictures are at least 26 px wide`, async () => {
    await openAt(`model=${model}${model === 'patches' ? '&text=' : ''}`, { viewport: { width: 740, height: 360 } });
    const sides = await page.evaluate(() =>
      [...part('.model').querySelectorAll('.thumbnail .frame')].map((one) => one.getBoundingClientRect().width),
    );
    assert.ok(sides.length >= 6 && Math.min(...sides) >= 26, `${sides}`);
  });

test('768 px, lines: no sentence next to the name of the head is cut', async () => {
  await open(`view=lines&text=${encodeURIComponent(LONGER)}`, 768);
  await page.waitForFunction(() => part('.corner.above .role-text')?.textContent);
  const cut = await page.evaluate(() =>
    [...part('.page').querySelectorAll('.corner.above p')]
      .filter((p) => p.checkVisibility() && (p.scrollHeight > p.clientHeight + 1 || p.scrollWidth > p.clientWidth + 1))
      .map((p) => p.textContent),
  );
  assert.deepEqual(cut, []);
});

test('names of heads at the ends of their lines are not cut off at any width', async () => {
  await openEmpty({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
  await page.goto(`${server.url}#panel=train&training=repeat.1.2.16.1.0.003`);
  await page.locator('.speed button').click();
  await page.getByRole('menuitemradio', { name: 'as fast as it can' }).click();
  // Waits for the last step, at which the labels are at the right edge.
  const ended = () => page.waitForFunction(() => part('.time input').value === part('.time input').max);
  await page.locator('.play').click();
  await ended();
  for (const width of [2560, 1920, 1440, 1024]) {
    await page.setViewportSize({ width, height: HEIGHTS[width] });
    await drawn();
    const beyond = await page.evaluate(() =>
      [...part('.charts').querySelectorAll('.at-end')].flatMap((name) => {
        const range = document.createRange();
        range.selectNodeContents(name);
        const more = range.getBoundingClientRect().right - name.closest('.plot').getBoundingClientRect().right;
        return more > 0 ? [`${name.textContent}: ${more}`] : [];
      }),
    );
    assert.deepEqual(beyond, [], `${width} px`);
  }
});

test('before training, on a phone held sideways, nothing overlaps', async () => {
  // A new page is opened, because the page of another test may have trained in the background.
  await openAt('panel=train', { viewport: { width: 740, height: 360 }, fresh: true });
  await page.waitForFunction(() => part('.ramp span') && part('.corner'));
  const [words, title, legend, controls] = await page.evaluate(() =>
    ['.words', '.corner', '.ramp', '.whatif'].map((name) => part(name).getBoundingClientRect().toJSON()),
  );
  assert.ok(title.top > words.bottom && legend.bottom <= controls.top, `${title.top}, ${legend.bottom}`);
});

test('360 px: while the page opens and trains, no frame of it is wider than the screen', async () => {
  await openEmpty({ viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true, locale: 'en-GB' });
  await page.addInitScript(() => {
    globalThis.widest = 0;
    const look = () => {
      globalThis.widest = Math.max(globalThis.widest, document.documentElement?.scrollWidth ?? 0);
      requestAnimationFrame(look);
    };
    look();
  });
  await page.goto(`${server.url}#panel=train`);
  // The button moves while the page loads, so an earlier tap could miss it.
  await page.waitForFunction(() => part('.thumbnail'));
  await page.locator('.play').tap();
  await page.waitForFunction(() => part('.frames')?.querySelectorAll('canvas').length >= 2);
  assert.equal(await page.evaluate(() => globalThis.widest), 360);
});

test('without a pinned run the picture keeps its size, and instructions are in its empty half', async () => {
  const width = () => page.evaluate(() => part('.picture .matrix').getBoundingClientRect().width);
  await open('', 1440);
  const alone = await width();
  await page.goto(`${server.url}#view=compare`);
  await page.waitForFunction(() => part('.nothing-pinned button'));
  // The picture may be slightly smaller, because row labels are on the left in this view.
  assert.ok((await width()) > 0.95 * alone);
  const { left, bottom, stairs } = await page.evaluate(() => {
    const { left, bottom } = part('.nothing-pinned').getBoundingClientRect();
    // Finds the right end of the key labels that are above the bottom of the text.
    const labels = [...part('.labels').querySelectorAll('.key-label')].map((one) => one.getBoundingClientRect());
    return { left, bottom, stairs: Math.max(...labels.filter(({ top }) => top < bottom).map(({ right }) => right)) };
  });
  assert.ok(left > 0 && bottom > 0);
  const texts = await page.evaluate(() =>
    [...part('.nothing-pinned').children].map((line) => {
      const range = document.createRange();
      range.selectNodeContents(line);
      return range.getBoundingClientRect().left;
    }),
  );
  assert.ok(Math.min(...texts) > stairs, `${Math.min(...texts)} px, labels up to ${stairs}`);
  await assertAccessible();
});

test('360 px: the role of a head of a picture is not cut off, and no empty space is above it', async () => {
  await open('model=patches&text=&layer=0&head=4', 360);
  // The title and the sentence are loaded separately.
  await page.waitForFunction(
    () => part('.patches-title p')?.textContent && part('.patches-title h2') && part('.sentence .word'),
  );
  const { gap, cut } = await page.evaluate(() => {
    const title = part('.patches-title');
    const text = title.querySelector('p');
    const above = part('.sentence .word').getBoundingClientRect().bottom;
    return {
      gap: title.querySelector('h2').getBoundingClientRect().top - above,
      cut: text.scrollWidth - text.clientWidth,
    };
  });
  assert.ok(cut <= 0 && gap <= 16, JSON.stringify({ gap, cut }));
});

test('360 px, 32 × 32 heads: tiles have the whole width, and no empty space is above them', async () => {
  await open('', 1440);
  await openChooser();
  const npy = writeNpy(attentions([32, 32, 6, 6], true));
  await page
    .locator('input[data-name=files]')
    .setInputFiles({ name: 'many.npy', mimeType: '', buffer: Buffer.from(npy) });
  await page.waitForFunction(() => part('.page').querySelectorAll('.thumbnail').length === 1024);
  await page.setViewportSize({ width: 360, height: HEIGHTS[360] });
  await page.waitForFunction(() => part('.page.phone .thumbnail'));
  const { side, gap, right } = await page.evaluate(() => {
    const boxes = [...part('.page').querySelectorAll('.thumbnail .frame')].map((one) => one.getBoundingClientRect());
    const tops = boxes.map(({ top }) => top);
    return {
      side: boxes[0].width,
      right: Math.max(...boxes.map(({ right }) => right)),
      gap: Math.min(...tops) - part('.legend').getBoundingClientRect().bottom,
    };
  });
  assert.ok(side >= 8 && right > 320 && gap <= 16, JSON.stringify({ side, gap, right }));
});

test('360 px: descriptions of menu items are not cut off', async () => {
  await open('panel=train&training=repeat.1.2.16.1.0.003', 360);
  await page.locator('.seldom > button').click();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('menuitem', { name: /^Save as ONNX/ }).waitFor();
  const cut = await page.evaluate(() => {
    const { left, right } = part('[role=menu]').getBoundingClientRect();
    return [...part('[role=menu]').querySelectorAll('.about')].flatMap((about) => {
      const range = document.createRange();
      range.selectNodeContents(about);
      const text = range.getBoundingClientRect();
      return text.left < left || text.right > right ? [about.textContent] : [];
    });
  });
  assert.deepEqual(cut, []);
});

test('an encoder–decoder without a tokenizer asks for token numbers in each attention', async () => {
  await open('', 1440);
  await openChooser();
  const { files } = families.find(({ name }) => name.startsWith('T5'));
  await page
    .locator('input[data-name=files]')
    .setInputFiles(
      Object.entries(files).map(([name, content]) => ({ name, mimeType: '', buffer: Buffer.from(content) })),
    );
  await page.locator('.told .word').first().click();
  for (const attention of ['Encoder', 'Decoder to encoder']) {
    await page.getByRole('button', { name: attention, exact: true }).click();
    await page.locator('.sentence textarea').fill('some words');
    await page.getByText('it reads token numbers').waitFor();
    await page.getByRole('button', { name: 'Begin with some numbers' }).click();
    await page.waitForFunction(() => part('.picture .matrix'));
  }
  await assertAccessible();
  assert.deepEqual(faults, []);
});

for (const width of [1440, 768, 360])
  for (const text of ['C', 'Call', 'Call me'])
    test(`${width} px, “${text}”: cells are at most 120 px, and the head’s name is above them`, async () => {
      await open(`text=${encodeURIComponent(text)}`, width);
      await page.waitForFunction(() => part('.corner p')?.textContent && part('.picture .matrix canvas').style.width);
      const found = await page.evaluate(() => {
        const box = part('.picture .matrix').getBoundingClientRect();
        const texts = [...part('.corner').querySelectorAll('.head-name, p')].map((line) => {
          const range = document.createRange();
          range.selectNodeContents(line);
          return range.getBoundingClientRect().bottom;
        });
        const tokens = part('.picture').querySelectorAll('.labels .row-label').length;
        return { cell: box.width / tokens, top: box.top, texts: Math.max(...texts) };
      });
      assert.ok(found.cell <= 120 && found.texts <= found.top, JSON.stringify(found));
    });

test('768 px: all strips of a reading, and the contribution, are in sight', async () => {
  await open('', 768);
  await page.waitForFunction(() => part('.adds b') && part('.strip .bars'));
  const [end, line] = await page.evaluate(() =>
    ['.adds', '.whatif']
      .map((name) => part(name).getBoundingClientRect())
      .map(({ top, bottom }, i) => (i ? top : bottom)),
  );
  assert.ok(end <= line, `it ends at ${end}, the line begins at ${line}`);
});

test('the sequence of training is in one line next to its note, from 1024 to 1920 px', async () => {
  await open('panel=train&training=repeat.2.4.64.1.0.003', 1440);
  await page.waitForFunction(() => part('.letters .letter'));
  for (const [width, height] of [
    [1920, 1080],
    [1440, 900],
    [1280, 800],
    [1024, 768],
  ]) {
    await page.setViewportSize({ width, height });
    await drawn();
    const lines = await page.evaluate(
      () => new Set([...part('.letters').children].map((letter) => letter.getBoundingClientRect().top)).size,
    );
    assert.equal(lines, 1, `${width} px`);
  }
});

test('labels above a full picture are horizontal and centred on their columns, if they fit', async () => {
  await open('', 1440);
  await openWeights([2, 2, 12, 12], false);
  const labels = (await textBoxes('.labels .key-label')).map(({ left, right }) => (left + right) / 2);
  const { left, width } = await page.evaluate(() => part('.picture .matrix').getBoundingClientRect().toJSON());
  assert.equal(labels.length, 12);
  labels.forEach((middle, i) => assert.ok(Math.abs(middle - left - ((i + 0.5) * width) / 12) < 2, `${i}: ${middle}`));
  const high = (await textBoxes('.labels .key-label')).map(({ height }) => height);
  assert.ok(Math.max(...high) < 26, `${high}`);
});

test('a file of weights: small weights have two digits, and its close button does not say model', async () => {
  await open('', 1440);
  await openWeights([1, 2, 60, 60]);
  const figures = await page.locator('.keys-list b').allTextContents();
  for (const figure of figures) assert.match(figure, /^(<0\.01|[01]\.\d\d)$/);
  assert.doesNotMatch(await page.locator('.prediction.about button').textContent(), /model/);
});

for (const width of [2560, 1920, 1440])
  for (const [layers, heads] of [
    [1, 1],
    [1, 2],
    [2, 2],
    [1, 4],
    [2, 4],
  ])
    test(`${width} px, ${layers} × ${heads} heads: large thumbnails, close together, on the base line`, async () => {
      await open(`panel=train&training=repeat.${layers}.${heads}.32.1.0.003`, width);
      await page.waitForFunction(() => part('.lesson .tasks') && part('.picture .matrix'));
      const { frames, column, base, end } = await page.evaluate(() => {
        const box = (element) => element.getBoundingClientRect().toJSON();
        return {
          frames: [...part('.model').querySelectorAll('.frame')].map(box),
          column: box(part('.model')).width,
          base: box(part('.picture .matrix')).bottom,
          end: Math.max(...[...part('.model').querySelectorAll('.frame')].map((one) => box(one).bottom)),
        };
      });
      const side = frames[0].width;
      const across = Math.min(heads, layers * heads === 4 ? 2 : heads);
      const room = (column - 22) / across;
      const letter = width >= 2200 ? 15.5 : width >= 1700 ? 13.5 : 12;
      assert.ok(side >= Math.min(0.85 * room, 0.9 * 16 * letter), `${side} px of ${room}`);
      const tops = [...new Set(frames.map(({ top }) => top))].sort((a, b) => a - b);
      tops.slice(1).forEach((top, i) => assert.ok(top - tops[i] <= 2 * side, `rows at ${tops}, ${side} px high`));
      assert.ok(Math.abs(end - base) < 24, `heads: ${end}, picture: ${base}`);
      // The frame of the chosen head, 5 px wide, touches no other head.
      const lefts = frames.filter(({ top }) => top === frames[0].top).map(({ left }) => left);
      lefts.slice(1).forEach((left, i) => assert.ok(left - lefts[i] - side > 5, `${lefts}, ${side} px wide`));
    });

for (const [width, hash] of [
  [1440, 'model=constructed'],
  [1920, 'model=patches&text='],
])
  test(`${width} px, ${hash}: the model begins directly below the text about it`, async () => {
    await open(hash, width);
    await page.waitForFunction(() => part('.prediction.about p') && part('.thumbnail'));
    const [text] = (await textBoxes('.prediction.about')).map(({ bottom }) => bottom);
    const [sort] = (await textBoxes('.sort .under')).map(({ top }) => top);
    assert.ok(sort >= text - 4 && sort < text + 90, `${text}, ${sort}`);
  });

for (const width of [1440, 360])
  test(`${width} px: no dot of the story’s steps is cut off`, async () => {
    await open('panel=story', width);
    const dot = page.locator('.steps li button').first();
    await dot.waitFor();
    const [left, column] = await page.evaluate(() => {
      const button = part('.steps li button');
      const { left, width } = button.getBoundingClientRect();
      const dot = Number.parseFloat(getComputedStyle(button, '::before').width);
      return [left + (width - dot) / 2, part('.story').getBoundingClientRect().left];
    });
    assert.ok(left >= column, `${left}, the column begins at ${column}`);
  });

for (const width of [2560, 1920, 1440, 1024])
  test(`${width} px: product, sum and weight of step 4 are in one line each`, async () => {
    await open('panel=story&step=4', width);
    await page.waitForFunction(() => part('.sums [data-name=score]'));
    const heights = (await textBoxes('.sums > p')).map(({ height }) => height);
    assert.ok(heights.length === 4 && Math.max(...heights) < 2 * Math.min(...heights), `${heights}`);
  });

test('1280 × 800: the reading fits, with the help open too; in a lower window the keyboard scrolls it', async () => {
  await openAt('', { viewport: { width: 1280, height: 800 } });
  await page.waitForFunction(() => part('.reading .adds b'));
  const hidden = () => page.evaluate(() => part('.reading').scrollHeight - part('.reading').clientHeight);
  assert.ok((await hidden()) <= 0, `${await hidden()} px are hidden`);
  await chooseMore('help');
  await page.waitForFunction(() => part('.help dl'));
  await assertAccessible();
  await page.keyboard.press('Escape');
  await page.locator('.in-full').click();
  await page.setViewportSize({ width: 1280, height: 560 });
  await page.waitForFunction(() => part('.reading').tabIndex === 0);
  assert.ok((await hidden()) > 0);
  await assertAccessible();
});

test('the buttons of the views stay in place, whichever is chosen', async () => {
  await open('', 1920);
  const places = [];
  for (const name of ['heatmap', 'lines', 'flow']) {
    await open(`view=${name}`, 1920);
    await page.waitForFunction(() => part('.picture .matrix, svg.lines, .flow-drawing'));
    places.push(await page.evaluate(() => part('.legend .views').getBoundingClientRect().right));
  }
  await page.goto(`${server.url}#view=compare`);
  await page.waitForFunction(() => part('.nothing-pinned button'));
  places.push(await page.evaluate(() => part('.legend .views').getBoundingClientRect().right));
  assert.ok(Math.max(...places) - Math.min(...places) <= 2, `${places}`);
  const [ramp, picture] = await page.evaluate(() =>
    ['.ramp', '.compare .matrix'].map((name) => part(name).getBoundingClientRect().left),
  );
  assert.ok(Math.abs(ramp - picture) <= 1, `${ramp}, ${picture}`);
});

for (const width of [1920, 1024])
  test(`${width} px: the title of a composition breaks between its two heads`, async () => {
    await open('view=flow', width);
    spoil();
    await page.locator('.neighbours button').first().click();
    await page.waitForFunction(() => part('.made .title')?.textContent.includes('→'));
    const lines = await page.evaluate(() => {
      const nodes = [];
      const walker = document.createTreeWalker(part('.made .title'), NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) nodes.push(walker.currentNode);
      return nodes.map((node) => {
        const range = document.createRange();
        range.selectNodeContents(node);
        return range.getClientRects().length;
      });
    });
    assert.ok(
      lines.every((n) => n <= 1),
      `${lines}`,
    );
  });

test('training: no space before a per cent sign or a comma; the keys of the help are not broken', async () => {
  await open('panel=train&training=repeat.1.2.16.1.0.003', 1920);
  await page.waitForFunction(() => /%/.test(part('.charts .title')?.textContent));
  assert.match(await page.locator('.charts .title').textContent(), /^\d+\.\d% right$/);
  const comma = await page.evaluate(() => {
    const [before, comma] = ['.trainbar .menu:has(+ .comma)', '.comma'].map((one) => part(one).getBoundingClientRect());
    return comma.left - before.right;
  });
  assert.ok(comma <= 2, `${comma} px`);
  await chooseMore('help');
  await page.locator('.help dt').first().waitFor();
  const keys = await textBoxes('.help dt');
  assert.ok(keys.find(({ text }) => /Shift/.test(text)).height < 45);
  for (const { text } of keys.filter(({ text }) => /Ctrl/.test(text))) assert.doesNotMatch(text, /Ctrl Z|Shift Z/);
});

test('1024 tokens: the frame in the lens is not cut off', async () => {
  await open('', 1440);
  await openWeights([1, 1, 1024, 1024]);
  await page.locator('canvas.lens').waitFor();
  await page.locator('#picture').focus();
  // Chooses the first key of the last token, whose cell is in a corner of the magnifier.
  for (const key of ['PageDown', 'Home']) await page.keyboard.press(key);
  await page.waitForFunction(() => part('.reading .title .key')?.textContent === '0');
  const dark = await page.evaluate(() => {
    const canvas = part('canvas.lens');
    const { data, width, height } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const isDark = (x, y) => [0, 1, 2].every((i) => data[4 * (y * width + x) + i] < 90);
    const found = Array.from({ length: width * height }, (_, i) => [i % width, Math.floor(i / width)]);
    const [xs, ys] = [0, 1].map((i) => found.filter(([x, y]) => isDark(x, y)).map((at) => at[i]));
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const [x, y] = [Math.round((left + right) / 2), Math.round((top + bottom) / 2)];
    return [isDark(left, y), isDark(right, y), isDark(x, top), isDark(x, bottom), isDark(x, y)];
  });
  assert.deepEqual(dark, [true, true, true, true, false]);
});

test('the query token stays in sight when the page’s width changes', async () => {
  const text =
    'Call me Ishmael. Some years ago, never mind how long precisely, having little or no money in my purse, and ' +
    'nothing particular to interest me on shore, I thought I would sail about a little. Call me';
  await open(`text=${encodeURIComponent(text)}`, 1024);
  for (const width of [1920, 1440, 1024]) {
    await page.setViewportSize({ width, height: HEIGHTS[width] });
    await page.waitForFunction(() => {
      const [word, box] = ['.line .is-query', '.words'].map((name) => part(name)?.getBoundingClientRect());
      return word.top >= box.top && word.bottom <= box.bottom + 4;
    });
  }
});

for (const [name, hash] of Object.entries({
  'heads made by hand': 'model=constructed&layer=0&head=5',
  'before training': 'panel=train&training=brackets.2.4.32.1.0.003',
}))
  for (const width of [1440, 1024])
    test(`${width} px, ${name}: names of heads neither overlap nor leave their column`, async () => {
      await open(hash, width);
      await page.waitForFunction(() => part('.role-name'));
      for (let head = 0; head < 8; head++) {
        await page.evaluate((head) => part('.model').querySelectorAll('.thumbnail')[head].click(), head);
        await page.waitForFunction(
          (head) => part('.model').querySelectorAll('.thumbnail')[head].getAttribute('aria-checked') === 'true',
          head,
        );
        assert.deepEqual(await overlaps('.layer-name, .role-name'), []);
        const edge = await page.evaluate(() => part('.middle').getBoundingClientRect().left);
        for (const { text, right } of await textBoxes('.role-name'))
          assert.ok(right < edge, `${text} ends at ${right}`);
      }
    });

test('1024 px: the description of a file of weights is not cut off', async () => {
  await open('', 1024);
  await openWeights([4, 4, 12, 12]);
  const cut = await page.evaluate(
    () => part('.prediction.about').scrollHeight - part('.prediction.about').clientHeight,
  );
  assert.ok(cut <= 1, `${cut} px`);
});

test('360 px: the heading above the similarity of two sentences is not cut off', async () => {
  await open('model=sentence&text=How+do+whales+sleep%3F&second=When+does+a+whale+rest%3F&layer=0&head=0', 360);
  await page.waitForFunction(() => part('.prediction h2')?.textContent.startsWith('How similar'));
  const [inside, width] = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = part('.prediction h2');
    return [scrollWidth, clientWidth];
  });
  assert.ok(inside <= width, `${inside} in ${width} px`);
});

test('1024 px: in the flow one can scroll to the ablation of every head', async () => {
  await open('view=flow', 1024);
  await page.waitForFunction(() => part('.adding .try') && part('.neighbours'));
  await page.locator('.adding .total').hover();
  await page.mouse.wheel(0, 400);
  await page.waitForFunction(
    () => part('.adding .try').getBoundingClientRect().bottom <= part('.whatif').getBoundingClientRect().top + 1,
  );
});

const toEmpty = async () => {
  await page.locator('textarea').fill('');
  await page.waitForFunction(() => part('.nothing h2') && part('.page').dataset.busy === 'false');
};
test('without a text the instructions are above the views, after the flow too', async () => {
  await open('view=flow', 1440);
  await page.waitForFunction(() => part('.flow-drawing'));
  await toEmpty();
  const [text, legend] = await page.evaluate(() =>
    ['.nothing .word', '.legend'].map((name) => part(name).getBoundingClientRect()),
  );
  assert.ok(text.bottom < legend.top, `${text.bottom} is above ${legend.top}`);
});

test('the buttons of the views stay in place with few tokens too', async () => {
  const places = [];
  for (const view of ['heatmap', 'lines', 'flow']) {
    await open(`view=${view}&text=Call`, 1440);
    await page.waitForFunction(() => part('.picture .matrix, svg.lines, .flow-drawing'));
    places.push(await page.evaluate(() => Math.round(part('.legend .views').getBoundingClientRect().right)));
  }
  assert.equal(new Set(places).size, 1, places.join(', '));
});

test('names that are too close to each other are hidden, except those of the line that is read', async () => {
  const seen = () =>
    page.evaluate(
      () =>
        [...part('.page').querySelectorAll('.lines text')].filter(
          (text) => !/rgba\(.*, 0\)/.test(getComputedStyle(text).fill),
        ).length,
    );
  await open(`view=lines&text=${encodeURIComponent('Call me Ishmael. '.repeat(30))}`, 1440);
  await page.waitForFunction(() => part('svg.lines'));
  assert.equal(await seen(), 2);
  await open('view=lines', 1440);
  await page.waitForFunction(() => part('svg.lines'));
  assert.equal(await seen(), 2 * NAMES.length);
});

test('the role of a head is not under the lens of many tokens', async () => {
  await open(`text=${encodeURIComponent('Call me Ishmael. '.repeat(60))}`, 1440);
  await page.waitForFunction(() => part('.lens') && part('.corner p')?.textContent);
  const [text, lens] = await page.evaluate(() =>
    ['.corner p', '.lens'].map((name) => part(name).getBoundingClientRect()),
  );
  assert.ok(text.bottom <= lens.top, `${text.bottom} is above ${lens.top}`);
});

test('320 px: neither the what-if line nor the title overlaps anything', async () => {
  await openAt('', { viewport: { width: 320, height: 480 } });
  await page.waitForFunction(() => part('.page').dataset.busy === 'false' && part('.thumbnail'));
  const [value, on] = await page.evaluate(() =>
    ['.whatif .slider b', '.whatif .changes'].map((name) => part(name).getBoundingClientRect()),
  );
  assert.ok(value.right <= on.left + 1, `${value.right} is left of ${on.left}`);
  const names = await textBoxes('.labels .row-label');
  assert.ok(names.length >= NAMES.length);
  for (const title of await textBoxes('.corner .head-name, .corner p'))
    for (const name of names) {
      const beside = name.right <= title.left || name.top >= title.bottom || name.bottom <= title.top;
      assert.ok(beside, `${name.text} is next to ${title.text}`);
    }
});

for (const share of LETTERS)
  test(`360 px, letters of ${share}: three layers of heads and the first guesses are in sight`, async () => {
    await openInLetters(share, 360, '', { hasTouch: true });
    const found = await page.evaluate(() => {
      const end = part('.sheet').getBoundingClientRect().top;
      const whole = (selector) =>
        [...part('.page').querySelectorAll(selector)].filter((one) => one.getBoundingClientRect().bottom <= end).length;
      return { heads: whole('.thumbnail .frame'), guesses: whole('.prediction .option') };
    });
    assert.ok(found.heads >= 12 && found.guesses >= 2, JSON.stringify(found));
  });

for (const share of LETTERS)
  test(`two runs, letters of ${share}: no label overlaps a head or a cell of the other picture`, async () => {
    const longer = encodeURIComponent(LONGER);
    await openInLetters(share, 1440, `view=compare&text=${longer}&${PINNED_OPENING}`);
    await page.waitForFunction(() => part('.comparing .row-table'));
    const covered = await page.evaluate(() => {
      const root = part('.page').getRootNode();
      const over = (element, at) => {
        const { left, right, top, height } = element.getBoundingClientRect();
        const found = root.elementFromPoint(left + at * (right - left), top + 0.9 * height);
        return element.contains(found) ? [] : [found?.textContent];
      };
      const heads = [...part('.model').querySelectorAll('.thumbnail .frame')].map((frame) => frame.closest('button'));
      const pictures = [...part('.compare').querySelectorAll('.matrix')];
      return [...heads.flatMap((head) => over(head, 0.9)), ...pictures.flatMap((one) => over(one, 0.97))];
    });
    assert.deepEqual(covered, []);
    // The label of the key under the pointer is bold, and the last key has the least room.
    await page.setViewportSize({ width: 1280, height: 800 });
    const box = await page.locator('.compare .matrix').last().boundingBox();
    await page.mouse.move(box.x + box.width - 4, box.y + box.height - 4);
    await page.waitForFunction((name) => part('.comparing .key').textContent === name, NAMES.at(-1));
    const beyond = await page.evaluate(() => {
      const right = part('.instrument').getBoundingClientRect().right;
      return [...part('.compare').querySelectorAll('.is-key')].map((one) => one.getBoundingClientRect().right - right);
    });
    assert.ok(beyond.length === 2 && Math.max(...beyond) <= 0, `${beyond}`);
  });

for (const [width, share] of [1440, 1024].flatMap((width) => LETTERS.map((share) => [width, share])))
  test(`${width} px, letters of ${share}: the table of all heads has all its columns in sight`, async () => {
    await openInLetters(share, width, 'panel=table');
    await page.waitForFunction(() => part('.heads-table td'));
    const [content, room] = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = part('.heads-table .scrolls');
      return [scrollWidth, clientWidth];
    });
    assert.ok(content <= room, `${content} px in ${room} px`);
  });

for (const width of [1440, 1024])
  test(`${width} px: the tables of heads have all columns, and no part of the atlas covers another`, async () => {
    const cut = (selector) =>
      page.evaluate((selector) => part(selector).scrollWidth - part(selector).clientWidth, selector);
    await open('panel=table', width);
    await page.waitForFunction(() => part('.heads-table td'));
    assert.ok((await cut('.heads-table .scrolls')) <= 0);
    await open('', width);
    await page.locator('.legend button', { hasText: /^Atlas$/ }).click();
    await page.waitForFunction(() => part('.atlas-grid'));
    const [map, area, passages] = await page.evaluate(() =>
      ['.atlas-map', '.atlas-area', '.atlas-passages'].map((name) => part(name).getBoundingClientRect().toJSON()),
    );
    assert.ok(area.bottom <= map.bottom + 1, `the map ends at ${area.bottom}, its part at ${map.bottom}`);
    assert.ok(passages.left >= map.right || passages.top >= map.bottom, 'the passages do not cover the map');
    await page.locator('.as-table').click();
    await page.waitForFunction(() => part('.atlas-table td'));
    assert.ok((await cut('.atlas-table')) <= 0);
    await page.locator('.as-table').click();
  });

test('the button that shows every step is visible without the pointer', async () => {
  await open('', 1440);
  await page.mouse.move(1, 1);
  await page.waitForFunction(() => getComputedStyle(part('.in-full')).opacity === '1');
});

test('the frame of the focus at the edge of the picture is whole', async () => {
  await open('view=trace&text=The old man saw the ship&pinned=text%3DThe old man saw the whale', 1440);
  await page.locator('.trace-row.upper .side').focus();
  const cut = await page.evaluate(() => {
    const { left, top } = part('.trace-row.upper .side').getBoundingClientRect();
    const cutting = [];
    for (let box = part('.trace-row.upper .side').parentElement; box; box = box.parentElement) {
      const { overflow, overflowClipMargin } = getComputedStyle(box);
      const room = overflow === 'clip' ? Number.parseFloat(overflowClipMargin) : 0;
      const edge = box.getBoundingClientRect();
      if (overflow !== 'visible' && (edge.left - room > left - 4 || edge.top - room > top - 4))
        cutting.push(box.className);
    }
    return cutting;
  });
  assert.deepEqual(cut, []);
});

test('the messages of a chat cover neither the guesses nor the picture', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'headlight-'));
  makeCheckpoint(folder, 'gpt2');
  const chat_template = '{% for m in messages %}{{ m.role }}: {{ m.content }} {% endfor %}';
  writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify({ chat_template }));
  await open('', 1440);
  spoil();
  await openChooser();
  await page.locator('input[data-name=files]').setInputFiles(readdirSync(folder).map((name) => join(folder, name)));
  await page.waitForFunction(() => part('.model-menu .under')?.textContent.trim() === 'gpt2' && !part('.busy'));
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'messages', exact: true }).click();
  await page.waitForFunction(() => part('.messages textarea'));
  await drawn();
  const [messages, guesses, picture, end] = await page.evaluate(() =>
    ['.messages', '.prediction', '.matrix', '.whatif'].map((name) => part(name).getBoundingClientRect().toJSON()),
  );
  assert.ok(guesses.top >= messages.bottom && picture.top >= messages.bottom, `${messages.bottom}, ${picture.top}`);
  assert.ok(picture.bottom <= end.top, 'the picture is still whole');
  rmSync(folder, { recursive: true });
});
