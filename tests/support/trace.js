// The two sentences of the tests of Trace, the shares that the module computes for them, and positions of cells of the
// grid.

import { logitDifference, patchGrid } from 'headlight-attention/analysis';
import { page } from './page.js';
import { loadWhale } from './whale.js';

export const { whale, tokenizer } = await loadWhale();
export const SHIP = 'They gave the ship to me. They gave the';
export const WHALE = SHIP.replace('ship', 'whale');
export const hashOf = (upper, lower, more = '') => {
  const pinned = encodeURIComponent(new URLSearchParams({ text: upper }));
  return `view=trace&text=${encodeURIComponent(lower)}&pinned=${pinned}${more}`;
};
export const WORDS = '&trace=own.0.score.ship.whale';

/**
 * Computes the recovered shares of the demo model. Returns a function of the kind of value (`part`), the layer and the
 * index of the token or head (`place`).
 */
export async function sharesOf(upper, lower, words) {
  const [a, b] = words.map((word) => tokenizer.encode(`the ${word}`).ids.at(-1));
  const model = {
    options: whale.options,
    forward: (text, options) => whale.forward(tokenizer.encode(text).ids, options),
  };
  const { grids } = await patchGrid(model, upper, lower, logitDifference(a, b));
  return (part, layer, place) => {
    const { data, shape } = grids[part].recovered;
    return data[layer * shape[1] + place];
  };
}
export const T = tokenizer.encode(WHALE).ids.length;
export const isWhole = () => page.waitForFunction(() => part('.trace-cells') && !part('.trace-bar'));
export const said = (pattern) =>
  page.waitForFunction((source) => new RegExp(source).test(part('.spoken[role=status]').textContent), pattern.source);
/** Returns the position in the page, in pixels, of a cell of the grid. */
export async function placeOf(kind, { row, rows, column, columns }) {
  const box = await page.locator(`.trace-cells.${kind}`).boundingBox();
  return { x: box.x + ((column + 0.5) * box.width) / columns, y: box.y + (row * box.height) / rows };
}

export const percent = (x) => `${Math.round(100 * x) || 0}`.replace('-', '−');
