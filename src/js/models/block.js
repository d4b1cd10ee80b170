// The block of every transformer, read from top to bottom. x is (B,T,C); in brackets what only some have.
//
//   before, both:  x = x + [after1] attention([norm1] x)       after:  x = norm1(x + attention(x))
//                  x = x + [after2] mlp([norm2] x)                     x = norm2(x + mlp(x))
//   parallel:      x = x + attention(norm1(x)) + mlp(norm2(x))
//   stream:        x = norm1(x), x = x + attention(x)
//                  x = norm2(x), x = x + mlp(x)
//
//   attention:  q, k, v = x·Wqᵀ, x·Wkᵀ, x·Wvᵀ → [norm] → [rotary] → softmax(q·kᵀ + bias)·v → ·Woᵀ
//   mlp:        down(activation(up(x))), or down(activation(gate(x)) · up(x))

import { shapeOf } from '../memory/tensor.js';
import { ROWS } from './edits.js';
import { scaleOf } from './options.js';
import { watchedAttention } from './watchedAttention.js';

/** @import { Tensor } from '../memory/tensor.js' */
/** @import { Stride } from './graph.js' */
/** @import { Run } from './run.js' */

/** Of each block: full names by those within it. @type {Map<string, string>[]} */
const fullNames = [];
/**
 * Gives the full name of what is in block i. Each is made once: to look up one that is put together anew, it has to be
 * read letter by letter, which takes a tenth of the time of a small model's token.
 * @param {number} i
 */
function inBlock(i) {
  const made = (fullNames[i] ??= new Map());
  return (/** @type {string} */ name) => {
    const found = made.get(name) ?? `blocks.${i}.${name}`;
    made.set(name, found);
    return found;
  };
}

/**
 * @param {Run} run
 * @param {number} i
 * @param {Tensor} input
 */
export function block(run, i, input) {
  const { normPlace, mlp, cross, sharedNorm } = run.options;
  const { graph } = run;
  const at = inBlock(i);
  let x = run.pass(at('in'), input, ROWS);
  if (normPlace === 'after') {
    const attended = attend(run, i, x);
    x = normed(run, at('norm1'), run.pass(at('mid'), graph.add(run.narrowed(x), attended), ROWS));
    if (cross) x = normed(run, at('cross.norm'), graph.add(x, attendAcross(run, i, x)));
    if (mlp > 0) x = normed(run, at('norm2'), graph.add(x, feedForward(run, i, x)));
    return run.pass(at('out'), x, ROWS);
  }
  const readBy = (/** @type {string} */ name) => {
    const read = normed(run, at(name), x);
    if (normPlace === 'stream') x = read;
    return read;
  };
  const first = readBy('norm1');
  const attended = attend(run, i, first);
  x = run.narrowed(x);
  if (normPlace === 'parallel') {
    const second = sharedNorm ? run.pass(at('norm2'), run.narrowed(first), ROWS) : normed(run, at('norm2'), x);
    const mid = run.pass(at('mid'), graph.add(x, attended), ROWS);
    return run.pass(at('out'), mlp > 0 ? graph.add(mid, feedForward(run, i, second)) : mid, ROWS);
  }
  x = run.pass(at('mid'), graph.add(x, attended), ROWS);
  if (cross) {
    const read = readBy('cross.norm');
    x = graph.add(x, attendAcross(run, i, read));
  }
  if (mlp > 0) {
    const read = readBy('norm2');
    x = graph.add(x, feedForward(run, i, read));
  }
  return run.pass(at('out'), x, ROWS);
}

/** Where there is such a norm. @param {Run} run @param {string} name @param {Tensor} x */
function normed(run, name, x) {
  return run.pass(name, run.norm(name, x), ROWS);
}

/** @param {Run} run @param {number} i @param {Tensor} x */
function feedForward(run, i, x) {
  const { graph, options } = run;
  const at = inBlock(i);
  const up = run.linear(at('up'), x);
  const inside = options.gated
    ? graph.gated(run.linear(at('gate'), x), up, options.activation)
    : graph.activation(up, options.activation);
  const down = run.linear(at('down'), run.pass(at('hidden'), inside, ROWS));
  return run.pass(at('mlp'), options.normPlace === 'both' ? run.norm(at('after2'), down) : down, ROWS);
}

/**
 * Queries, keys and values of one attention, the keys in their place.
 * @typedef {{ tensor: Tensor, stride: Stride }} Laid
 */

/** Rows (B,N,heads·width), split into heads by strides. @param {Tensor} tensor @param {number} width @returns {Laid} */
function byRows(tensor, width) {
  const [, rows, channels] = shapeOf(tensor);
  return { tensor, stride: [rows * channels, width, channels] };
}

/** @param {Run} run @param {number} i @param {Tensor} x */
function attend(run, i, x) {
  const { options, cache } = run;
  const { headDim, numHeads, kvHeads, normPlace, causal } = options;
  const at = inBlock(i);
  const placed = (/** @type {Tensor} */ projected, /** @type {string} */ norm, /** @type {number} */ heads) => {
    const scale = run.weight(norm);
    return run.rotate(scale ? run.headNorm(projected, scale) : projected, heads, i);
  };
  const k = placed(run.linear(at('attention.wk'), x, at('attention.bk')), at('attention.normK'), kvHeads);
  const v = run.linear(at('attention.wv'), x, at('attention.bv'));
  const window = options.window?.[i] ?? null;
  const side = window === null ? -1 : causal ? window - 1 : Math.floor(window / 2);
  const stored = cache?.store(i, k, v);
  if (i === options.layers - 1) run.narrow();
  const q = placed(
    run.linear(at('attention.wq'), run.narrowed(x), at('attention.bq')),
    at('attention.normQ'),
    numHeads,
  );
  const heads = attendHeads(run, at(''), i, {
    query: q,
    key: stored ? stored.key : byRows(k, headDim),
    value: stored ? stored.value : byRows(v, headDim),
    keys: run.past + run.rows,
    causal,
    window: [side, causal ? -1 : side],
    offset: run.past,
    padding: run.padding,
    bias: run.positionBias(),
    slopes: run.slopes,
  });
  const out = run.linear(at('attention.wo'), heads, at('attention.bo'));
  return run.pass(at('attention'), normPlace === 'both' ? run.norm(at('after1'), out) : out, ROWS);
}

/** Keys and values from the encoder. @param {Run} run @param {number} i @param {Tensor} x */
function attendAcross(run, i, x) {
  const at = inBlock(i);
  const { headDim } = run.options;
  const { key, value, padding } = run.crossKeysValues(i, at('cross'));
  const heads = attendHeads(run, at('cross.'), i, {
    query: run.linear(at('cross.wq'), x, at('cross.bq')),
    key: byRows(key, headDim),
    value: byRows(value, headDim),
    keys: shapeOf(key)[1],
    causal: false,
    window: [-1, -1],
    offset: 0,
    padding,
    bias: undefined,
    slopes: undefined,
  });
  return run.pass(at('cross.attention'), run.linear(at('cross.wo'), heads, at('cross.bo')), ROWS);
}

/**
 * @typedef {{ query: Tensor, key: Laid, value: Laid, keys: number, causal: boolean,
 *   window: readonly [number, number], offset: number, padding: Uint8Array | undefined,
 *   bias: { tensor: Tensor, stride: readonly number[] } | undefined, slopes: Float32Array | undefined }} Attended
 */

/**
 * softmax(q·kᵀ)·v: (B,T,H·D). Where values in between are asked for or changed, they are laid out by heads.
 * @param {Run} run
 * @param {string} at
 * @param {number} i
 * @param {Attended} given
 */
function attendHeads(run, at, i, given) {
  const { options, graph, values } = run;
  const { numHeads: heads, kvHeads, headDim: width } = options;
  const { keys } = given;
  const cross = at.includes('cross');
  const names = /** @type {const} */ (['query', 'key', 'value']);
  const sizes = { batch: run.batch, heads, kvHeads, queries: run.rows, keys, width };
  let { query, key, value } = given;
  if (!values.idle && names.some((name) => values.wants(at + name))) {
    query = run.passHeads(`${at}query`, query, heads, run.past);
    key = byRows(run.passHeads(`${at}key`, run.gather(key, kvHeads, keys), kvHeads, 0), width);
    value = byRows(run.passHeads(`${at}value`, run.gather(value, kvHeads, keys), kvHeads, 0), width);
  }
  // One stride serves keys and values.
  if (key.stride.some((step, axis) => step !== value.stride[axis])) {
    key = byRows(run.gather(key, kvHeads, keys), width);
    value = byRows(run.gather(value, kvHeads, keys), width);
  }
  const call = {
    query,
    key: key.tensor,
    value: value.tensor,
    sizes,
    keyStride: key.stride,
    scale: scaleOf(options, i),
    softcap: options.softcap,
    causal: given.causal,
    window: given.window,
    offset: given.offset,
    padding: given.padding,
    bias: given.bias,
    slopes: given.slopes,
    sinks: cross ? undefined : run.weight(inBlock(i)('attention.sinks')),
    dropout: run.dropout(i, cross),
    weights: false,
    scores: false,
  };
  if (values.idle) return graph.attention(call).output;
  return run.passHeads(`${at}heads`, watchedAttention(run, at, call), heads, run.past);
}
