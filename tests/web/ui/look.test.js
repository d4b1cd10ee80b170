// Tests colours, sizes and texts, which are computed without a browser.

import assert from 'node:assert/strict';
import test from 'node:test';
import { placeOf, RAMP, toRgb, weightAt } from '../../../web/drawing/colourRamp.ts';
import { runPairOf, SIGNED } from '../../../web/drawing/tokenPairs.ts';
import { comparisonOf, figureOf } from '../../../web/features/export/figure.ts';
import { highestScores } from '../../../web/model/roles.ts';
import { nameOf, piecesOf, positionIn, restOf, spokenName } from '../../../web/model/tokens.ts';
import {
  labelSize,
  MIN_PICTURE,
  patchesOf,
  pictureOf,
  rowsOf,
  screenOf,
  TEXT_HEIGHTS,
  thumbnailsOf,
  topOf,
} from '../../../web/ui/layout.ts';
import { PALETTE } from '../../../web/ui/palette.ts';
import { assertSame } from '../../support/same.js';

/** Returns the relative luminance as WCAG defines it. */
const luminance = (rgb) => {
  const [r, g, b] = rgb.map((x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
};
const rgbOf = (hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

test('text has a contrast of 4.5 with the canvas, figures in cells nearly so', () => {
  for (const palette of Object.values(PALETTE))
    for (const name of ['ink', 'ink2', 'ink3', 'query', 'key', 'value', 'data'])
      assert.ok(contrast(rgbOf(palette[name]), rgbOf(palette.bg)) >= 4.5, name);
  for (const ramp of Object.values(RAMP))
    ramp.colours.forEach((colour, i) => {
      const figure = ramp.isLight(weightAt(i / 255)) ? [26, 24, 30] : [255, 255, 255];
      assert.ok(contrast(colour, figure) > 3, `${i}: ${contrast(colour, figure)}`);
    });
});

test('equal tokens are distinguished by their position, from 0', () => {
  const names = ['To', 'the', 'last', 'the'];
  assert.deepEqual(
    names.map((_, at) => positionIn(names, at)),
    [null, 1, null, 3],
  );
  assert.deepEqual(
    [0, 3].map((at) => spokenName(names, at)),
    ['To', 'the (3)'],
  );
});

test('a number that is NaN has a colour, which no weight has', () => {
  for (const theme of ['light', 'dark'])
    for (const ramp of [RAMP[theme], SIGNED[theme]]) {
      assert.match(ramp.css(Number.NaN), /^rgb\((\d+) \1 \1\)$/);
      assert.equal(typeof ramp.isLight(Number.NaN), 'boolean');
      assert.ok(Number.isInteger(ramp.pixel(Number.NaN)));
      for (let i = 0; i <= 255; i++) assert.notEqual(ramp.css(weightAt(i / 255)), ramp.css(Number.NaN));
    }
});

test('the ramp is monotone in lightness, and its ends are those of the style', () => {
  const light = RAMP.light.colours.map(luminance);
  const dark = RAMP.dark.colours.map(luminance);
  for (let i = 1; i < 256; i++) assert.ok(light[i] <= light[i - 1] + 1e-3 && dark[i] >= dark[i - 1] - 1e-3);
  assert.equal(RAMP.light.css(0), `rgb(${toRgb([0.958, 0.012, 318]).join(' ')})`);
  for (const w of [0, 0.01, 0.3, 1]) assert.ok(Math.abs(weightAt(placeOf(w)) - w) < 1e-12);
});

test('cells are whole pixels and the picture fits its room, labels included', () => {
  for (const tokens of [1, 2, 17, 40, 64, 200, 1000])
    for (const full of [false, true]) {
      const widest = (size) => 5 * size;
      const { cell, left, top, side } = pictureOf({ width: 684, height: 640, tokens, most: 15, widest, full });
      assert.ok(cell < 4 || Number.isInteger(cell), 'smaller ones are pooled');
      assert.ok(left + side <= 684 && top + side <= 640 + 1, `${tokens}: ${left} ${top} ${side}`);
    }
  assert.equal(labelSize(39, 15), 15);
});

test('thumbnails of few tokens are whole multiples of them, and stay in their room', () => {
  const room = { width: 318, height: 440, tokens: 17, layers: 5, heads: 4, names: true };
  const { size, words } = thumbnailsOf(room);
  assert.ok(words === 'role' && size % 17 === 0 && size >= 34);
  assert.equal(thumbnailsOf({ ...room, height: 300 }).words, 'role');
  // In rows that are hardly higher than a line of text, thumbnails have no texts.
  assert.equal(thumbnailsOf({ ...room, width: 192, height: 194 }).words, 'none');
  assert.ok(thumbnailsOf({ ...room, layers: 32, heads: 32 }).size >= 8);
});

test('thumbnails fit beside each other, with half of one between rows at most, and tiles are adjacent', () => {
  for (const [layers, heads] of [
    [5, 4],
    [12, 12],
    [32, 32],
    [2, 32],
    [48, 2],
  ])
    for (const [width, height] of [
      [318, 440],
      [192, 900],
      [900, 300],
    ])
      for (const names of [false, true])
        for (const letter of [12, 15]) {
          const room = { width, height, tokens: 17, layers, heads, names, letter };
          const { size, across, down, spare, words } = thumbnailsOf(room);
          const text = (TEXT_HEIGHTS[words] * letter) / 12;
          const said = JSON.stringify(room);
          assert.equal(across * heads, width);
          assert.ok(down * layers <= height + 1e-9 && size <= 16 * letter, said);
          if (size < MIN_PICTURE) {
            assert.ok(down <= across + 2 && spare === 0, said);
            assert.ok(down === across + 2 || Math.abs(down * layers - height) < 1e-9, said);
          } else {
            assert.ok(size <= across - 5 && size + text <= down + 1e-9, said);
            if (names) assert.ok(spare <= 0.5 * size + 1e-9 && Math.abs(down - size - text - spare) < 1e-9, said);
          }
        }
});

test('pieces of one word touch, a character of several tokens belongs to the first, no name is empty', () => {
  const text = 'Call Ishmael\n鲸';
  const offsets = [
    [0, 4],
    [4, 8],
    [8, 12],
    [12, 13],
    [13, 14],
    [13, 14],
  ];
  const pieces = piecesOf(text, { ids: [1, 2, 3, 4, 5, 6], offsets });
  assert.deepEqual(
    pieces.map(({ space, text: letters }) => space + letters),
    ['Call', ' Ish', 'mael', '\n', '鲸', ''],
  );
  assert.deepEqual([pieces[3].name, pieces[5].name, nameOf(' ')], ['↵', '·', '␣']);
  assert.equal(restOf(`${text}  `, pieces), '  ');
});

test('scores of a head are listed in descending order, without those that are unknown', () => {
  assert.deepEqual(highestScores({ first: 0.1, previous: 0.9, induction: Number.NaN }), [
    ['previous', 0.9],
    ['first', 0.1],
  ]);
});

test('an exported drawing has the title, every label, and a cell for every weight that is not masked', () => {
  const names = ['a', '<b>', 'c'];
  const weights = Float32Array.from([1, 0, 0, 0.5, 0.5, 0, 0.1, 0.2, 0.7]);
  const { svg } = figureOf({ weights, names, title: 'Layer 0, head 0', about: 'a & b', theme: 'light' });
  assert.match(svg, /^<svg [^>]*viewBox/);
  assert.ok(svg.includes('&lt;b&gt;') && svg.includes('a &amp; b') && !svg.includes('<b>'));
  assert.equal(svg.match(new RegExp(`fill="${RAMP.light.css(1).replace(/[()]/g, '\\$&')}"`, 'g')).length, 2);
  const big = new Float32Array(100 * 100);
  const many = figureOf({ weights: big, names: Array(100).fill('x'), title: 't', about: '', theme: 'dark' });
  assert.ok(many.svg.length < 100_000, `${many.svg.length} characters`);
});

test('the cells of an exported picture cover each row up to the diagonal, equal neighbours of many as one', () => {
  for (const [T, gap, most] of [
    [5, 1, 5],
    [70, 0, 36],
  ]) {
    const weights = Float32Array.from({ length: T * T }, (_, i) =>
      i % T > i / T ? 0 : i % T < T / 2 ? 0.5 : 1 / (i % 7),
    );
    const { svg } = figureOf({ weights, names: Array(T).fill('x'), title: '', about: '', theme: 'light' });
    const rows = Map.groupBy(
      [...svg.matchAll(/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"/g)].map(([, ...box]) => box.map(Number)),
      ([, y]) => y,
    );
    // Omits the row of the legend, which has 55 steps.
    const ys = [...rows.keys()].filter((y) => rows.get(y).length < 50).sort((y, z) => y - z);
    assert.equal(ys.length, T);
    const [left, cell] = [rows.get(ys[0])[0][0], ys[1] - ys[0]];
    for (const [t, y] of ys.entries()) {
      let end = left;
      for (const [x, , width] of rows.get(y)) {
        assert.ok(Math.abs(x - end) < 0.11, `row ${t} at ${x}`);
        end = x + width + gap;
      }
      assert.ok(Math.abs(end - left - (t + 1) * cell) < 0.11 && rows.get(y).length <= most, `row ${t}`);
    }
  }
});

test('a picture and its patches with weights fit in their room', () => {
  const lengths = { paneLine: 24, paneGap: 16, paneTitle: 40, besidePanes: 200 };
  for (const [width, height] of [
    [700, 600],
    [330, 600],
    [1200, 300],
    [500, 380],
  ])
    for (const [rows, columns] of [
      [14, 14],
      [10, 14],
      [3, 9],
    ]) {
      const found = patchesOf({ width, height, rows, columns }, lengths);
      const across = (found.split ? 2 * found.width + 16 : found.width) + (found.titled ? 0 : 200);
      assert.ok(found.size > 1 && found.width === columns * found.size);
      assert.ok(across <= width && found.height <= height, `${width} × ${height}: ${JSON.stringify(found)}`);
    }
});

test('two runs are exported side by side or as their difference; many cells become one image', () => {
  const pieces = (names) => names.map((name) => ({ name }));
  const run = (names, weights) => ({
    T: names.length,
    S: names.length,
    pieces: pieces(names),
    keys: pieces(names),
    layer: 0,
    head: 0,
    about: { causal: true, heads: 1 },
    weights: Float32Array.from(weights),
  });
  const runs = runPairOf(run(['a', 'b'], [1, 0, 0.5, 0.5]), run(['a', 'c', 'b'], [1, 0, 0, 0, 1, 0, 0.25, 0, 0.75]));
  const sides = ['Now', 'Pinned'].map((title) => ({ title, about: '' }));
  const drawn = { runs, sides, title: 'Layer 0, head 0', about: '', theme: 'light' };
  const filled = (svg, fill) => svg.split(`fill="${fill}"`).length - 1;
  const { svg } = comparisonOf({ ...drawn, way: 'beside' });
  assert.match(svg, />Now<.*>Pinned</s);
  assert.ok(filled(svg, RAMP.light.css(0.25)) > 0);
  assertSame('comparison', { beside: svg.split('\n') });
  const difference = comparisonOf({ ...drawn, way: 'difference' }).svg;
  assertSame('differences', { svg: difference.split('\n') });
  for (const d of [0.25, -0.25]) assert.ok(filled(difference, SIGNED.light.css(d)) > 0, `${d}`);
  assert.ok(difference.includes('>+1<') && !difference.includes('Pinned'));
  const weights = new Float32Array(300 * 300);
  const large = figureOf({
    weights,
    names: Array(300).fill('x'),
    title: 't',
    about: '',
    theme: 'dark',
    raster: () => 'R',
  });
  assert.match(large.svg, /<image [^>]*href="R"/);
  assert.ok(large.svg.length < 20_000);
});

test('the labels of the last keys, which begin at their columns, end within the view', () => {
  for (const width of [288, 328, 530]) {
    const names = Array.from({ length: 17 }, (_, s) => (s === 16 ? 'longest' : 'to'));
    const widest = (size) => 7 * 0.6 * size;
    const beyond = (size, cell) => Math.max(...names.map((name, s) => name.length * 0.6 * size + 2 - (17 - s) * cell));
    const { cell, left, wide, size } = pictureOf({
      width,
      height: width,
      tokens: 17,
      most: 14,
      widest,
      beyond,
      full: false,
    });
    assert.ok(left + wide - cell + 2 + 7 * 0.6 * size <= width, `${width} px`);
  }
});

test('an exported figure names its rows and columns, and its labels have the same width in every font', () => {
  const drawn = {
    weights: Float32Array.of(1, 0, 0.25, 0.75),
    names: ['so', 'it'],
    title: 'Moby: Layer 4, head 2',
    about: 'so it',
    theme: /** @type {const} */ ('light'),
    axes: /** @type {[string, string]} */ (['query', 'key']),
    measure: (text, size) => 0.5 * size * text.length,
  };
  const { svg } = figureOf(drawn);
  assert.match(svg, />↑ query<.*>key →</s);
  assert.equal(svg.match(/textLength="15\.0"[^>]*>(so|it)</g)?.length, 4);
  assert.doesNotMatch(svg, />\.75</);
  assertSame('figure', { svg: figureOf({ ...drawn, figures: true }).svg.split('\n'), plain: svg.split('\n') });
  assert.match(figureOf({ ...drawn, figures: true }).svg, />1\.0<.*>\.25<.*>\.75</s);
});

test('the screen is chosen by the width; a low window is a phone held sideways', () => {
  const nameOf = (width, low) => Object.values(screenOf(width, low)).join(' ');
  assert.deepEqual(
    [2560, 1920, 1440, 1024, 768, 360].map((width) => nameOf(width)),
    ['wide huge', 'wide', 'desk', 'desk narrow', 'tablet', 'phone'],
  );
  assert.deepEqual(
    [1440, 844, 360].map((width) => nameOf(width, true)),
    ['desk', 'phone low', 'phone'],
  );
});

test('small cells fill the view; a low picture is in its middle, a large one on the base line', () => {
  const room = { width: 648, height: 648, most: 15, widest: () => 100, full: false };
  for (const tokens of [180, 241, 300, 1000]) {
    const { side } = pictureOf({ ...room, tokens });
    assert.ok(side > 0.92 * 600, `${tokens}: ${side}`);
  }
  assert.equal(topOf(600, { side: 500, top: 20 }), 100);
  assert.equal(topOf(600, { side: 100, top: 20 }), 250);
});

test('the heads of a single layer stand in as many rows as make them largest', () => {
  const room = { tokens: 10, layers: 1, heads: 8, names: true, letter: 12, name: 60 };
  const shapeOf = (width, height) => {
    const { columns, rows } = rowsOf({ ...room, width, height });
    return [columns, rows];
  };
  assert.deepEqual(shapeOf(400, 60), [6, 2]);
  assert.deepEqual(shapeOf(200, 400), [2, 4]);
  assert.deepEqual(shapeOf(90, 500), [1, 8]);
  assert.deepEqual(shapeOf(600, 60), [8, 1]);
  const layered = rowsOf({ ...room, layers: 3, width: 90, height: 500 });
  assert.deepEqual([layered.columns, layered.rows], [8, 1]);
});
