import assert from 'node:assert/strict';
import test from 'node:test';
import { layOutLines, tokenAt } from '../../../web/view/lines.js';

const context = { font: '', measureText: (text) => ({ width: 7 * text.length }) };

test('every token of a layout is found where it stands, and nothing beside it', () => {
  for (const [T, S, width] of [
    [18, 18, 700],
    [3, 40, 300],
    [60, 2, 900],
  ]) {
    const names = (n) => Array.from({ length: n }, (_, i) => `token${i}`);
    const layout = layOutLines(context, { queries: names(T), keys: names(S) }, width);
    assert.ok(layout.row >= 14 && layout.row <= 24 && layout.left < layout.right && layout.right <= width);
    for (let t = 0; t < T; t++)
      assert.deepEqual(tokenAt(layout, layout.left - 1, layout.top + (t + 0.5) * layout.row, T, S), {
        side: 'query',
        index: t,
      });
    for (let s = 0; s < S; s++)
      assert.deepEqual(tokenAt(layout, layout.right + 1, layout.top + (s + 0.5) * layout.row, T, S), {
        side: 'key',
        index: s,
      });
    assert.equal(tokenAt(layout, -5, 10, T, S), null);
    const below = layout.top + (Math.min(T, S) + 0.5) * layout.row;
    if (T !== S) assert.equal(tokenAt(layout, T < S ? layout.left - 1 : layout.right + 1, below, T, S), null);
    assert.equal(tokenAt(layout, layout.right, layout.height + 20, T, S), null);
  }
});
