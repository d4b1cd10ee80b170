// Tests the input that a program passes to the view: every form is converted to one form, and errors contain the name
// of the parameter.

import assert from 'node:assert/strict';
import test from 'node:test';
import {
  lengthsOf,
  readModel,
  readParts,
  readQkv,
  readTexts,
  readWeights,
} from '../../../../web/model/programInput.ts';

/** Returns weights (…,T,S) whose rows sum to 1. All rows are different. */
function weights(...shape) {
  const S = shape.at(-1);
  const rows = shape.reduce((a, b) => a * b, 1) / S;
  const data = new Float32Array(rows * S);
  for (let r = 0; r < rows; r++) {
    const row = Array.from({ length: S }, (_, s) => 1 + ((r * 7 + s * 3) % 5));
    const sum = row.reduce((a, b) => a + b);
    row.forEach((x, s) => (data[r * S + s] = x / sum));
  }
  return { data, shape };
}
const shapes = ({ layers }) => layers.map(({ shape }) => shape.join('×'));
const refusal = (call) => {
  try {
    call();
  } catch ({ name, parameter, message }) {
    assert.equal(name, 'HeadlightError');
    return `${parameter}: ${message}`;
  }
  return assert.fail('nothing was refused');
};

test('weights of a head, of heads, of layers and of a batch are layers of (H,T,S)', () => {
  assert.deepEqual(shapes(readWeights('mount', weights(3, 4))), ['1×3×4']);
  assert.deepEqual(shapes(readWeights('mount', weights(2, 3, 4))), ['2×3×4']);
  assert.deepEqual(shapes(readWeights('mount', weights(5, 2, 3, 4))), Array(5).fill('2×3×4'));
  assert.deepEqual(shapes(readWeights('mount', weights(5, 1, 2, 3, 4))), Array(5).fill('2×3×4'));
  const all = weights(2, 3, 2, 4, 4);
  const { layers } = readWeights('mount', all, { batch: 2 });
  assert.deepEqual(shapes({ layers }), ['2×4×4', '2×4×4']);
  assert.deepEqual([...layers[1].data], [...all.data.slice((3 + 2) * 32, (3 + 3) * 32)]);
});

test('lists of layers in the forms of transformers.js, onnxruntime and TensorFlow.js', () => {
  const layer = weights(1, 2, 4, 4);
  const dims = { data: layer.data, dims: layer.shape, type: 'float32' };
  const sync = { shape: layer.shape, dataSync: () => layer.data, data: async () => layer.data };
  const { layers } = readWeights('mount', [layer, dims, sync]);
  assert.deepEqual(shapes({ layers }), ['2×4×4', '2×4×4', '2×4×4']);
  for (const { data } of layers) assert.equal(data.buffer, layer.data.buffer, 'not copied');
  const half = { data: Uint16Array.of(0x3c00, 0, 0x3800, 0x3800), dims: [1, 1, 2, 2], type: 'float16' };
  assert.deepEqual([...readWeights('mount', [half]).layers[0].data], [1, 0, 0.5, 0.5]);
});

test('nested arrays of numbers or of typed arrays', () => {
  const nested = [
    [1, 0],
    [0.25, 0.75],
  ];
  assert.deepEqual(shapes(readWeights('mount', nested)), ['1×2×2']);
  assert.deepEqual(shapes(readWeights('mount', [[nested], [nested]])), ['1×2×2', '1×2×2']);
  assert.deepEqual(shapes(readWeights('mount', [Float32Array.of(1, 0), Float32Array.of(0.5, 0.5)])), ['1×2×2']);
});

test('causal weights are recognised', () => {
  assert.equal(
    readWeights('mount', [
      [1, 0],
      [0.5, 0.5],
    ]).causal,
    true,
  );
  assert.equal(
    readWeights('mount', [
      [0.9, 0.1],
      [0.5, 0.5],
    ]).causal,
    false,
  );
  assert.equal(
    readWeights('mount', [
      [1, 0, 0],
      [0.5, 0.5, 0],
    ]).causal,
    false,
  );
});

test('values that are not weights are refused with the name of the parameter', () => {
  assert.match(
    refusal(() => readWeights('mount', [])),
    /^attentions: mount: attentions is \[\], expected at least one layer/,
  );
  assert.match(
    refusal(() => readWeights('mount', null)),
    /^attentions: .*null/,
  );
  assert.match(
    refusal(() => readWeights('mount', [1, 2])),
    /^attentions: .*expected \(T,S\), \(H,T,S\)/,
  );
  assert.match(
    refusal(() =>
      readWeights('mount', [
        [1, 2],
        [-3, 4],
      ]),
    ),
    /^attentions: .*is 2, expected weights, which are numbers from 0/,
  );
  assert.match(
    refusal(() => readWeights('mount', [weights(2, 3, 3), weights(2, 4, 4)])),
    /^attentions\[1\]: .*\(2, 3, 3\)/,
  );
  assert.match(
    refusal(() => readWeights('mount', weights(2, 2, 2, 3, 3))),
    /^batch: .*because attentions has 2 texts/,
  );
  assert.match(
    refusal(() => readWeights('mount', weights(2, 1, 2, 3, 3), { batch: 1 })),
    /^batch: /,
  );
  assert.match(
    refusal(() => readWeights('mount', { data: new Float32Array(1), shape: [1, 5000] })),
    /^attentions/,
  );
  assert.match(
    refusal(() => readWeights('mount', { shape: [1, 5000], data: new Float32Array(5000) })),
    /at most 4096 tokens/,
  );
});

test('NaN is accepted as a weight', () => {
  assert.ok(
    Number.isNaN(
      readWeights('mount', [
        [1, 0],
        [Number.NaN, 0],
      ]).layers[0].data[2],
    ),
  );
});

test('queries, keys and values; heads may share keys', () => {
  const zeros = (...shape) => ({ data: new Float32Array(shape.reduce((a, b) => a * b)), shape });
  const { query, key, value } = readQkv('mount', { q: zeros(4, 3, 8), k: zeros(2, 5, 8), v: zeros(1, 2, 5, 6) });
  assert.deepEqual(
    [query.shape, key.shape, value.shape],
    [
      [4, 3, 8],
      [2, 5, 8],
      [2, 5, 6],
    ],
  );
  const refused = (shapes) =>
    refusal(() =>
      readQkv('mount', Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, zeros(...shape)]))),
    );
  assert.match(refused({ q: [3, 8], k: [3, 7], v: [3, 8] }), /^k: .*as wide as q/);
  assert.match(refused({ q: [3, 3, 8], k: [2, 3, 8], v: [2, 3, 8] }), /^k: .*divides the 3 heads of q/);
  assert.match(refused({ q: [3, 8], k: [4, 8], v: [5, 8] }), /^v: /);
  assert.match(refused({ q: [2, 3, 3, 8], k: [3, 8], v: [3, 8] }), /^q: /);
});

test('the number of texts equals the number of tokens, and the space characters of tokenizers are removed', () => {
  assert.deepEqual(readTexts('mount', 'tokens', ['Ġthe', '▁sea', '</s>', 'Ġ'], 4), ['the', 'sea', '</s>', 'Ġ']);
  assert.match(
    refusal(() => readTexts('mount', 'tokens', ['a'], 2)),
    /^tokens: mount: tokens has 1 texts, expected 2/,
  );
  assert.match(
    refusal(() => readTexts('mount', 'tokens', ['a', 3], 2)),
    /^tokens\[1\]: /,
  );
  assert.match(
    refusal(() => readTexts('mount', 'keys', 'a b', 2)),
    /^keys: /,
  );
});

test('a model is a URL or files', async () => {
  assert.deepEqual(readModel('mount', './gpt2', 'https://a.b/c/'), { kind: 'folder', url: 'https://a.b/c/gpt2' });
  const { files } = readModel('mount', { 'config.json': new Blob(['{}']), 'a.safetensors': new Uint8Array(3) }, '');
  assert.deepEqual(
    files.map(({ path, file }) => [path, file.size]),
    [
      ['config.json', 2],
      ['a.safetensors', 3],
    ],
  );
  assert.match(
    refusal(() => readModel('mount', { 'config.json': '{}' }, '')),
    /^model\["config\.json"\]: /,
  );
  assert.match(
    refusal(() => readModel('mount', 5, '')),
    /^model: /,
  );
});

test('the numbers of tokens of encoder and decoder come from either attention, or from that between them', () => {
  const of = (...parts) =>
    lengthsOf({ parts: parts.map(([part, T, S]) => ({ part, layers: [{ shape: [2, T, S] }] })) });
  const [encoder, decoder, cross] = [
    ['encoder', 4, 4],
    ['decoder', 3, 3],
    ['cross', 3, 4],
  ];
  for (const parts of [[encoder, decoder, cross], [cross], [encoder, decoder], [encoder, cross], [decoder, cross]])
    assert.deepEqual(of(...parts), { source: 4, target: 3 });
  assert.deepEqual(of(encoder), { source: 4, target: undefined });
  assert.deepEqual(of(decoder), { source: undefined, target: 3 });
});

test('later tokens may be seen by the encoder and between the two, not by a causal decoder', () => {
  const causal = {
    data: Float32Array.of(1, 0, 0.5, 0.5),
    shape: [1, 2, 2],
  };
  const { parts } = readParts('test', { decoder: causal, cross: causal, encoder: weights(1, 2, 2) });
  assert.deepEqual(
    parts.map(({ part, causal }) => [part, causal]),
    [
      ['encoder', false],
      ['decoder', true],
      ['cross', false],
    ],
  );
});
