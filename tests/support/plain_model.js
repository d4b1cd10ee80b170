// A transformer in float64, in plain loops, whose intermediate values can be captured and edited. It is the reference
// for the analysis of models.

import { uniformSource } from '../../src/js/ops/random.ts';
import { norm } from './layers.js';
import { attention } from './reference.js';

const DEFAULTS = {
  layers: 2,
  dModel: 6,
  numHeads: 2,
  kvHeads: 2,
  headDim: 3,
  vocab: 9,
  embedDim: 6,
  mlp: 5,
  norm: 'layer',
  normPlace: 'before',
  normEps: 1e-5,
  finalNorm: true,
  bias: true,
  tied: false,
  head: 'logits',
  headTransform: 'none',
  pooler: 'none',
  pool: 'none',
  residualScale: 1,
  logitScale: 1,
  logitSoftcap: 0,
  causal: true,
  cross: false,
};

/** @param {object} given options of hl.transformer @param {number} [seed] */
export function plainModel(given, seed = 1) {
  const options = { ...DEFAULTS, ...given };
  if (given.normPlace === 'after') options.finalNorm = false;
  const parameters = makeParameters(options, uniformSource(seed));
  return {
    options,
    parameters,
    stateDict: () => parameters,
    forward: (ids, { capture = [], edit = [] } = {}) => run(options, parameters, ids, capture, edit),
  };
}

function makeParameters(options, random) {
  const { layers, dModel: C, numHeads: H, kvHeads: G, headDim: D, vocab, embedDim: E, mlp, bias, tied } = options;
  const parameters = {};
  const make = (name, ...shape) => {
    const data = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => 2 * random() - 1);
    parameters[name] = { data, shape };
  };
  const linear = (name, out, inside) => {
    make(`${name}.weight`, out, inside);
    if (bias) make(`${name}.bias`, out);
  };
  const normed = (name) => {
    if (options.norm === 'none') return;
    make(`${name}.weight`, C);
    if (options.norm === 'layer') make(`${name}.bias`, C);
  };
  const attended = (at) => {
    for (const [name, out, inside] of [
      ['wq', H * D, C],
      ['wk', G * D, C],
      ['wv', G * D, C],
      ['wo', C, H * D],
    ]) {
      make(`${at}.${name}`, out, inside);
      if (bias) make(`${at}.b${name[1]}`, out);
    }
  };
  make('embedding.table', vocab, E);
  if (E !== C) linear('embedding.project', C, E);
  for (let l = 0; l < layers; l++) {
    const at = `blocks.${l}`;
    if (options.normPlace !== 'outputs') for (const name of ['norm1', 'norm2']) normed(`${at}.${name}`);
    if (/both|outputs/.test(options.normPlace)) for (const name of ['after1', 'after2']) normed(`${at}.${name}`);
    attended(`${at}.attention`);
    if (options.cross) {
      normed(`${at}.cross.norm`);
      attended(`${at}.cross`);
    }
    if (mlp === 0) continue;
    linear(`${at}.up`, mlp, C);
    linear(`${at}.down`, C, mlp);
  }
  if (options.finalNorm) normed('norm');
  if (options.head === 'pooled' && options.pooler !== 'none') linear('pooler', C, C);
  if (options.head === 'logits' && E !== C) linear('head.project', E, C);
  if (!tied) make('head.weight', vocab, E);
  if (bias) make('head.bias', vocab);
  return parameters;
}

function run(options, parameters, ids, capture, edits) {
  const { dModel: C, numHeads: H, kvHeads: G, headDim: D, mlp, normPlace, cross } = options;
  const [B, T] = [ids.length, ids[0].length];
  const captured = {};
  const matches = (pattern, name) => new RegExp(`^${pattern.replaceAll('*', '\\d+')}$`).test(name);

  /** Captures and edits a value. Returns the value with which the computation continues. */
  const pass = (name, data, shape) => {
    const value = Float64Array.from(data);
    const [rows, width] = shape.slice(-2);
    const heads = shape.at(-3);
    for (const { at, head, token, set } of edits.filter((edit) => matches(edit.at, name)))
      for (let i = 0; i < value.length; i++) {
        const [t, h] = [Math.floor(i / width) % rows, Math.floor(i / width / rows) % heads];
        if ((head ?? h) === h && (token ?? t) === t) value[i] = set.data[i];
        if (set.data.length !== value.length) throw new Error(`${at}: ${set.shape}`);
      }
    if (capture.some((pattern) => matches(pattern, name))) captured[name] = { data: Float32Array.from(value), shape };
    return value;
  };
  const vector = (name) => parameters[name]?.data;
  const linear = (name, x, bias = `${name}.bias`) => {
    const {
      data,
      shape: [out, inside],
    } = parameters[`${name}.weight`] ?? parameters[name];
    return Float64Array.from({ length: (x.length / inside) * out }, (_, i) => {
      const [row, o] = [Math.floor(i / out) * inside, i % out];
      let sum = vector(bias)?.[o] ?? 0;
      for (let c = 0; c < inside; c++) sum += x[row + c] * data[o * inside + c];
      return sum;
    });
  };
  const normed = (name, x) =>
    vector(`${name}.weight`)
      ? Float64Array.from(
          norm(x, vector(`${name}.weight`), vector(`${name}.bias`), { eps: 1e-5, mean: options.norm === 'layer' }),
        )
      : x;
  const add = (a, b) => a.map((x, i) => x + b[i]);
  /** Transposes (B,T,N·D) to (B,N,T,D), and back. */
  const split = (x, n) => ({
    shape: [B, n, T, D],
    data: Float64Array.from(x, (_, i) => {
      const [d, t, h, b] = [i % D, Math.floor(i / D) % T, Math.floor(i / D / T) % n, Math.floor(i / D / T / n)];
      return x[((b * T + t) * n + h) * D + d];
    }),
  });
  const join = (x) =>
    Float64Array.from(x, (_, i) => {
      const [d, h, t, b] = [i % D, Math.floor(i / D) % H, Math.floor(i / D / H) % T, Math.floor(i / D / H / T)];
      return x[((b * H + h) * T + t) * D + d];
    });
  const attend = (at, value, x, from, causal) => {
    const of = (name, input, n) => {
      const { data, shape } = split(linear(`${at}.w${name[0]}`, input, `${at}.b${name[0]}`), n);
      return { data: pass(value + name, data, shape), shape };
    };
    const { output, weights } = attention(of('query', x, H), of('key', from, G), of('value', from, G), { causal });
    pass(`${value}weights`, weights, [B, H, T, T]);
    return linear(`${at}.wo`, join(pass(`${value}heads`, output, [B, H, T, D])), `${at}.bo`);
  };
  const scaled = (x) => x.map((value) => value * options.residualScale);
  const after = (name, x) => scaled(/both|outputs/.test(normPlace) ? normed(name, x) : x);

  const { data: table } = parameters['embedding.table'];
  const E = options.embedDim;
  const rows = Float64Array.from(ids.flat().flatMap((id) => [...table.subarray(id * E, (id + 1) * E)]));
  const position = (x) => x.map((value, i) => value + Math.sin(Math.floor(i / C) % T) / 2);
  let x = pass('embed', position(E === C ? rows : linear('embedding.project', rows)), [B, T, C]);
  const memory = x.map((value, i) => Math.cos(i) - value / 2);
  for (let l = 0; l < options.layers; l++) {
    const at = `blocks.${l}`;
    const post = normPlace === 'after';
    const stream = normPlace === 'stream';
    const before = pass(`${at}.in`, x, [B, T, C]);
    const inside = post ? before : normed(`${at}.norm1`, before);
    const attended = attend(`${at}.attention`, `${at}.`, inside, inside, options.causal);
    x = add(stream ? inside : before, pass(`${at}.attention`, after(`${at}.after1`, attended), [B, T, C]));
    if (post) x = normed(`${at}.norm1`, x);
    if (cross) {
      const read = post ? x : normed(`${at}.cross.norm`, x);
      x = add(stream ? read : x, scaled(attend(`${at}.cross`, `${at}.cross.`, read, memory, false)));
      if (post) x = normed(`${at}.cross.norm`, x);
    }
    if (mlp > 0) {
      const from = normPlace === 'parallel' ? before : x;
      const read = post ? x : pass(`${at}.norm2`, normed(`${at}.norm2`, from), [B, T, C]);
      const hidden = linear(`${at}.up`, read).map((value) => Math.max(value, 0));
      x = add(stream ? read : x, pass(`${at}.mlp`, after(`${at}.after2`, linear(`${at}.down`, hidden)), [B, T, C]));
      if (post) x = normed(`${at}.norm2`, x);
    }
    x = pass(`${at}.out`, x, [B, T, C]);
  }
  x = normed('norm', x);
  if (options.head === 'pooled')
    x = Float64Array.from({ length: B * C }, (_, i) => x[Math.floor(i / C) * T * C + (i % C)]);
  if (parameters['pooler.weight']) x = linear('pooler', x);
  if (parameters['head.project.weight']) x = linear('head.project', x);
  const logits = linear(
    options.tied ? 'embedding.table' : 'head',
    x.map((value) => value * options.logitScale),
    'head.bias',
  );
  const cap = options.logitSoftcap;
  const data = Float32Array.from(logits, (z) => (cap > 0 ? cap * Math.tanh(z / cap) : z));
  const shape = options.head === 'pooled' ? [B, options.vocab] : [B, T, options.vocab];
  return { logits: { data, shape }, captured, dispose() {} };
}
