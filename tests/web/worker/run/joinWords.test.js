// Tests words instead of tokens: the weights of the tokens of a key are added, those of the tokens of a query are
// averaged.

import assert from 'node:assert/strict';
import test from 'node:test';
import { initialState } from '../../../../web/model/state.ts';
import { joinWords, wordsOf } from '../../../../web/worker/run/joinWords.ts';

/** Returns the pieces of a text in which | separates the tokens. */
function piecesOf(text) {
  let end = 0;
  return text.split('|').map((token, i) => {
    const start = end;
    end += token.length;
    const space = /^\s*/.exec(token)[0];
    return { id: i, start, end, space, text: token.slice(space.length), name: token.trim() };
  });
}
const words = { ...initialState, units: 'words' };
const [layers, heads] = [2, 2];
/** Returns a causal run whose rows sum to 1. */
function runOf(pieces) {
  const T = pieces.length;
  const weights = new Float32Array(layers * heads * T * T);
  for (let i = 0; i < layers * heads; i++)
    for (let t = 0; t < T; t++) {
      const row = Array.from({ length: t + 1 }, (_, s) => 1 + ((7 * i + 3 * t + 5 * s) % 11));
      const sum = row.reduce((a, b) => a + b);
      row.forEach((x, s) => {
        weights[(i * T + t) * T + s] = x / sum;
      });
    }
  return { pieces, cut: false, T, layer: 0, head: 0, place: T - 1, weights, values: {} };
}

test('a word is its letters without a space; signs are alone', () => {
  const pieces = piecesOf('C|all| me| I|sh|mael|.| 12|3|,| C|all');
  assert.deepEqual(
    wordsOf(pieces).map(([from, to]) =>
      pieces
        .slice(from, to)
        .map(({ text }) => text)
        .join(''),
    ),
    ['Call', 'me', 'Ishmael', '.', '123', ',', 'Call'],
  );
});

test('weights are added over keys and averaged over queries, rows sum to 1, and places are those of words', () => {
  const pieces = piecesOf('C|all| me| I|sh|mael|.| C|all');
  const run = runOf(pieces);
  const joined = joinWords(run, words, { layers, heads });
  const groups = wordsOf(pieces);
  const W = groups.length;
  assert.deepEqual([joined.T, joined.S, joined.place, joined.joined], [5, undefined, 4, true]);
  assert.equal(joined.values, undefined);
  assert.deepEqual(
    joined.pieces.map(({ name, start, end }) => [name, start, end]),
    [
      ['Call', 0, 4],
      ['me', 4, 7],
      ['Ishmael', 7, 15],
      ['.', 15, 16],
      ['Call', 16, 21],
    ],
  );
  for (let i = 0; i < layers * heads; i++)
    for (const [w, [from, to]] of groups.entries()) {
      const row = joined.weights.subarray((i * W + w) * W, (i * W + w + 1) * W);
      assert.ok(Math.abs(row.reduce((a, b) => a + b) - 1) < 1e-6);
      for (const [v, [first, end]] of groups.entries()) {
        let wanted = 0;
        for (let t = from; t < to; t++)
          for (let s = first; s < end; s++) wanted += run.weights[(i * run.T + t) * run.T + s] / (to - from);
        assert.ok(Math.abs(row[v] - wanted) < 1e-6, `${i} ${w} ${v}`);
      }
    }
});

test('equal words have equal ids, and where tokens are shown the run stays as it is', () => {
  const pieces = piecesOf('C|all| me| C|all').map((piece) => ({ ...piece, id: piece.name.charCodeAt(0) }));
  const run = runOf(pieces);
  const ids = joinWords(run, words, { layers, heads }).pieces.map(({ id }) => id);
  assert.equal(ids[0], ids[2]);
  assert.ok(ids[0] < -1 && ids[1] >= 0);
  for (const state of [initialState, { ...words, view: 'flow' }, { ...words, panel: 'story' }])
    assert.equal(joinWords(run, state, { layers, heads }), run);
});
