// A decoder like GPT-2 or Llama as an ONNX model, in the operators that onnxruntime runs fastest. Its inputs and
// outputs include the KV cache. Its weights are in a second file, one after another.
//
// The forms of attention, which differ in how they read and extend the KV cache:
//   gqa     com.microsoft.GroupQueryAttention: past keys and values are inputs, past and new ones are outputs
//   concat  MatMul, Softmax and Concat, with the same inputs and outputs
//   rows    for one token: past keys and values are inputs, only the new ones are outputs; only scores are concatenated

import { block, concat, FLOAT, INT8, INT64, int, node, string } from './onnx.js';

const [UINT8, INT32] = [2, 6];
const MICROSOFT = 'com.microsoft';
/** Number of weights that share a scale in com.microsoft.MatMulNBits. */
const GROUP = 32;
const ALIGN = 64;
/** Rows that are transposed at a time. */
const ABREAST = 16;
/** A float attribute with the value 1. The exact integer would be written as an integer attribute. */
const ONE = 1.0000001;

const dims = (shape) => block(2, ...shape.map((n) => block(1, Number.isInteger(n) ? int(1, n) : string(2, n))));
const valueInfo = (field, name, type, shape) =>
  block(field, string(1, name), block(2, block(1, int(1, type), dims(shape))));
const entry = (key, value) => block(13, string(1, key), string(2, String(value)));

/** Collects the nodes, weights, inputs and outputs of a graph. */
class Program {
  #parts = [];
  #weights = [];
  #size = 0;
  #names = 0;

  /** Adds a node. @returns the name of its output, or the names of its outputs */
  op(type, inputs, attributes = {}, { domain = '', outputs = 1, names } = {}) {
    const made = names ?? Array.from({ length: outputs }, () => `t${this.#names++}`);
    this.#parts.push(node(type, inputs, made, attributes, domain));
    return made.length === 1 ? made[0] : made;
  }

  microsoft(type, inputs, attributes = {}, more = {}) {
    return this.op(type, inputs, attributes, { ...more, domain: MICROSOFT });
  }

  input(name, type, shape) {
    this.#parts.push(valueInfo(11, name, type, shape));
    return name;
  }

  output(name, shape) {
    this.#parts.push(valueInfo(12, name, FLOAT, shape));
  }

  /** Adds a small constant, which is stored in the model. */
  constant(type, data, shape) {
    const name = `c${this.#names++}`;
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    this.#parts.push(block(5, ...shape.map((n) => int(1, n)), int(2, type), string(8, name), block(9, bytes)));
    return name;
  }

  ints(...values) {
    return this.constant(INT64, BigInt64Array.from(values, BigInt), [values.length]);
  }

  /** Adds a weight to the second file. `make` is called when the file is written. */
  weight(type, shape, make) {
    const name = `w${this.#names++}`;
    const length = shape.reduce((a, b) => a * b, type === FLOAT ? 4 : 1);
    const offset = this.#size;
    this.#size = Math.ceil((offset + length) / ALIGN) * ALIGN;
    this.#weights.push({ offset, make });
    this.#parts.push(
      block(
        5,
        ...shape.map((n) => int(1, n)),
        int(2, type),
        string(8, name),
        entry('location', 'weights'),
        entry('offset', offset),
        entry('length', length),
        int(14, 1),
      ),
    );
    return name;
  }

  finish() {
    const data = new Uint8Array(this.#size);
    for (const { offset, make } of this.#weights) {
      const { buffer, byteOffset, byteLength } = make();
      data.set(new Uint8Array(buffer, byteOffset, byteLength), offset);
    }
    const model = concat([
      int(1, 8),
      block(8, string(1, ''), int(2, 17)),
      block(8, string(1, MICROSOFT), int(2, 1)),
      block(7, ...this.#parts, string(2, 'decoder')),
    ]);
    return { model, data };
  }
}

/** Transposes several weights (out, in) to (in, out) and concatenates their columns. */
function columns(parts, inside) {
  const width = parts.reduce((n, part) => n + part.length / inside, 0);
  const to = new parts[0].constructor(inside * width);
  let first = 0;
  for (const part of parts) {
    const out = part.length / inside;
    // Transposes a few rows at a time, so that the cache lines that are written stay in the caches.
    for (let from = 0; from < out; from += ABREAST) {
      const end = Math.min(from + ABREAST, out);
      for (let i = 0; i < inside; i++)
        for (let o = from; o < end; o++) to[i * width + first + o] = part[o * inside + i];
    }
    first += out;
  }
  return to;
}

function join(parts) {
  const to = new parts[0].constructor(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts) {
    to.set(part, at);
    at += part.length;
  }
  return to;
}

/** Rounds to integers of 8 bits, with a scale for every `group` numbers. */
function quantize(data, group) {
  const scales = new Float32Array(data.length / group);
  const integers = new Int8Array(data.length);
  for (let g = 0; g < scales.length; g++) {
    let most = 0;
    for (let i = g * group; i < (g + 1) * group; i++) most = Math.max(most, Math.abs(data[i]));
    scales[g] = most / 127;
    for (let i = g * group; i < (g + 1) * group; i++) integers[i] = Math.round(data[i] / scales[g]);
  }
  return { scales, integers };
}

/** Rounds to codes of 4 bits, two in a byte, with a scale for every GROUP numbers. Code 8 represents 0. */
function quantizeNibbles(data) {
  const scales = new Float32Array(data.length / GROUP);
  const integers = new Uint8Array(data.length / 2);
  for (let g = 0; g < scales.length; g++) {
    let most = 0;
    for (let i = g * GROUP; i < (g + 1) * GROUP; i++) if (Math.abs(data[i]) > Math.abs(most)) most = data[i];
    scales[g] = most / -8;
    const code = (x) => (most === 0 ? 8 : Math.min(15, Math.round(x / scales[g]) + 8));
    for (let i = g * GROUP; i < (g + 1) * GROUP; i += 2) integers[i / 2] = code(data[i]) | (code(data[i + 1]) << 4);
  }
  return { scales, integers };
}

/**
 * Returns a function for two calls: the first computes and stores a value, the second returns the stored value and
 * releases it.
 */
function once(make) {
  let made;
  return () => {
    const given = made ?? make();
    made = made ? undefined : given;
    return given;
  };
}

/**
 * Adds nodes that compute x · weightᵀ + bias.
 * @param weights functions that return weights (out, in), which are concatenated along out; `sizes` has the number of
 * outputs of each weight
 */
function product(program, quantized, x, { weights, sizes, inside, bias }) {
  const out = sizes.reduce((a, b) => a + b);
  const all = () => weights.map((weight) => weight());
  if (!quantized) {
    const y = program.op('MatMul', [x, program.weight(FLOAT, [inside, out], () => columns(all(), inside))]);
    return bias ? program.op('Add', [y, bias]) : y;
  }
  if (quantized === 'dynamic') {
    const rounded = once(() => all().map((part) => quantize(part, inside)));
    const integers = program.weight(INT8, [inside, out], () =>
      columns(
        rounded().map((r) => r.integers),
        inside,
      ),
    );
    const scales = program.weight(FLOAT, [out], () => join(rounded().map((r) => r.scales)));
    return program.microsoft('DynamicQuantizeMatMul', [x, integers, scales, '', ...(bias ? [bias] : [])]);
  }
  const groups = inside / GROUP;
  const bits = quantized === 'nibbles' ? 4 : 8;
  const rounded = once(() => (bits === 4 ? quantizeNibbles(join(all())) : quantize(join(all()), GROUP)));
  const integers = program.weight(UINT8, [out, groups, (GROUP * bits) / 8], () =>
    bits === 4 ? rounded().integers : Uint8Array.from(rounded().integers, (integer) => integer + 128),
  );
  const scales = program.weight(FLOAT, [out * groups], () => rounded().scales);
  const y = program.microsoft('MatMulNBits', [x, integers, scales], {
    K: inside,
    N: out,
    bits,
    block_size: GROUP,
    accuracy_level: 4,
  });
  return bias ? program.op('Add', [y, bias]) : y;
}

/** Returns tables of cosines and sines, each (context, width/2). */
function angles(context, width, theta) {
  const half = width / 2;
  const angle = (i) => Math.floor(i / half) / theta ** ((i % half) / half);
  const table = (of) => Float32Array.from({ length: context * half }, (_, i) => of(angle(i)));
  return [table(Math.cos), table(Math.sin)];
}

/**
 * Writes a decoder. Inputs: ids and positions (1,T); depending on the form also past.L.key and past.L.value, mask
 * (1,1,T,S), seqlens and total. Outputs: logits (1,V) of the last token; present.L.key and present.L.value.
 * @param options of hl.transformer
 * @param weightOf a function from the name of a parameter to its Float32Array
 * @param how { form, quantized?: 'dynamic' | 'groups' | 'nibbles' }: quantized weights have a scale for each row
 * ('dynamic'), for each group of 8-bit weights ('groups'), or for each group of 4-bit weights ('nibbles')
 * @returns { model, data }: the bytes of the model, and those of its external file `weights`
 */
export function decoderModel(options, weightOf, { form, quantized }) {
  const { layers, dModel: C, numHeads: H, kvHeads: G = H, mlp = 4 * C, vocab, context } = options;
  const { norm = 'layer', gated = false, normEps = 1e-5, rotary, tied } = options;
  if (!tied) throw new Error('the head must be tied to the embedding');
  const D = C / H;
  const llama = norm === 'rms';
  const program = new Program();
  const vector = (name) => program.weight(FLOAT, [weightOf(name).length], () => weightOf(name));
  const biasOf = (name) => (llama ? undefined : vector(name));
  const linear = (x, name, out, inside, bias) =>
    product(program, quantized, x, { weights: [() => weightOf(name)], sizes: [out], inside, bias });

  program.input('ids', INT64, [1, 'rows']);
  if (form !== 'gqa' || !rotary) program.input('positions', INT64, [1, 'rows']);
  if (form === 'gqa') {
    program.input('seqlens', INT32, [1]);
    program.input('total', INT32, []);
  }
  if (form === 'concat') program.input('mask', FLOAT, [1, 1, 'rows', 'all']);
  const table = program.weight(FLOAT, [vocab, C], () => weightOf('embedding.table'));
  const turns = rotary && angles(context, D, rotary.theta).map((t) => program.weight(FLOAT, [context, D / 2], () => t));

  /** Adds two values, and normalizes the sum. */
  const addNorm = (x, y, name, bias) => {
    const scale = vector(`${name}.weight`);
    if (!llama) {
      const inputs = [x, y, scale, vector(`${name}.bias`), bias];
      const [normed, , , sum] = program.microsoft(
        'SkipLayerNormalization',
        inputs,
        { epsilon: normEps },
        { outputs: 4 },
      );
      return { normed, sum };
    }
    const given = [{ epsilon: normEps }, { outputs: 4 }];
    const [normed, , , sum] = program.microsoft('SkipSimplifiedLayerNormalization', [x, y, scale], ...given);
    return { normed, sum };
  };

  const attendWhole = (l, qkv) => {
    const past = ['key', 'value'].map((name) => program.input(`past.${l}.${name}`, FLOAT, [1, G, 'past', D]));
    const present = ['key', 'value'].map((name) => `present.${l}.${name}`);
    for (const name of present) program.output(name, [1, G, 'present', D]);
    return program.microsoft(
      'GroupQueryAttention',
      [qkv, '', '', ...past, 'seqlens', 'total', ...(turns ?? [])],
      { num_heads: H, kv_num_heads: G, ...(turns && { do_rotary: 1 }) },
      { names: [`joined.${l}`, ...present] },
    )[0];
  };

  /** Adds attention composed of basic operators. */
  const attendParts = (l, qkv) => {
    const split = program.ints(H * D, G * D, G * D);
    const parts = program.op('Split', [qkv, split], { axis: -1 }, { outputs: 3 });
    const turned = { perm: [0, 2, 1, 3] };
    const [q, k, v] = parts.map((part, i) => {
      const rows = program.op('Reshape', [part, program.ints(0, -1, i === 0 ? H : G, D)]);
      const byHeads = program.op('Transpose', [rows], turned);
      return turns && i < 2 ? program.microsoft('RotaryEmbedding', [byHeads, 'positions', ...turns]) : byHeads;
    });
    const scaled = program.op('Mul', [q, program.constant(FLOAT, Float32Array.of(1 / Math.sqrt(D)), [])]);
    const grouped = (x) => (G === H ? x : program.op('Reshape', [x, program.ints(1, G, -1, D)]));
    const query = grouped(scaled);
    const mixture = form === 'rows' ? rows(l, query, k, v) : joined(l, query, k, v);
    const heads = G === H ? mixture : program.op('Reshape', [mixture, program.ints(1, H, -1, D)]);
    return program.op('Reshape', [program.op('Transpose', [heads], turned), program.ints(0, -1, H * D)]);
  };

  const joined = (l, query, k, v) => {
    const [keys, values] = [
      ['key', k],
      ['value', v],
    ].map(([name, fresh]) => {
      const past = program.input(`past.${l}.${name}`, FLOAT, [1, G, 'past', D]);
      const present = `present.${l}.${name}`;
      program.output(present, [1, G, 'present', D]);
      return program.op('Concat', [past, fresh], { axis: 2 }, { names: [present] });
    });
    let scores = program.op('MatMul', [query, program.op('Transpose', [keys], { perm: [0, 1, 3, 2] })]);
    // Reshapes the scores of the groups, (1,G,H/G·T,S), to (1,H,T,S) for the mask.
    if (G !== H) scores = split(scores, H);
    let weights = program.op('Softmax', [program.op('Add', [scores, 'mask'])], { axis: -1 });
    if (G !== H) weights = split(weights, G);
    return program.op('MatMul', [weights, values]);
  };

  /** Reshapes (1,n,m,S) to (1,heads,·,S). */
  const split = (x, heads) => {
    const length = program.op('Shape', [x], { start: 3 });
    const shape = program.op('Concat', [program.ints(1, heads, -1), length], { axis: 0 });
    return program.op('Reshape', [x, shape]);
  };

  /**
   * Adds attention of one token, in the form `rows`. Past keys are stored as columns, so that the product with one
   * query reads them sequentially.
   */
  const rows = (l, query, k, v) => {
    const key = program.input(`past.${l}.key`, FLOAT, [1, G, D, 'past']);
    const value = program.input(`past.${l}.value`, FLOAT, [1, G, 'past', D]);
    for (const [name, fresh] of [
      ['key', k],
      ['value', v],
    ]) {
      program.op('Identity', [fresh], {}, { names: [`present.${l}.${name}`] });
      program.output(`present.${l}.${name}`, [1, G, 1, D]);
    }
    const own = program.op('MatMul', [query, program.op('Transpose', [k], { perm: [0, 1, 3, 2] })]);
    const scores = program.op('Concat', [program.op('MatMul', [query, key]), own], { axis: -1 });
    const weights = program.op('Softmax', [scores], { axis: -1 });
    const axis = program.ints(3);
    const before = program.op('Slice', [weights, program.ints(0), program.ints(-1), axis]);
    const last = program.op('Slice', [weights, program.ints(-1), program.ints(2 ** 31), axis]);
    return program.op('Add', [program.op('MatMul', [before, value]), program.op('MatMul', [last, v])]);
  };

  const feedForward = (l, x) => {
    const at = `blocks.${l}`;
    if (!gated) {
      const up = linear(x, `${at}.up.weight`, mlp, C);
      return linear(program.microsoft('FastGelu', [up, vector(`${at}.up.bias`)]), `${at}.down.weight`, C, mlp);
    }
    const [gate, up] = ['gate', 'up'].map((name) => linear(x, `${at}.${name}.weight`, mlp, C));
    const inside = program.op('Mul', [program.microsoft('QuickGelu', [gate], { alpha: ONE }), up]);
    return linear(inside, `${at}.down.weight`, C, mlp);
  };

  let x = program.op('Gather', [table, 'ids']);
  let normed;
  if (!llama) {
    const places = program.weight(FLOAT, [context, C], () => weightOf('embedding.position'));
    x = program.op('Add', [x, program.op('Gather', [places, 'positions'])]);
    const inputs = [x, vector('blocks.0.norm1.weight'), vector('blocks.0.norm1.bias')];
    normed = program.op('LayerNormalization', inputs, { axis: -1, epsilon: normEps });
  } else
    normed = program.op('SimplifiedLayerNormalization', [x, vector('blocks.0.norm1.weight')], {
      axis: -1,
      epsilon: normEps,
    });
  for (let l = 0; l < layers; l++) {
    const at = `blocks.${l}`;
    const names = ['q', 'k', 'v'];
    const biases = () => join(names.map((name) => weightOf(`${at}.attention.b${name}`)));
    const qkv = product(program, quantized, normed, {
      weights: names.map((name) => () => weightOf(`${at}.attention.w${name}`)),
      sizes: [H * D, G * D, G * D],
      inside: C,
      bias: llama ? undefined : program.weight(FLOAT, [(H + 2 * G) * D], biases),
    });
    const attended = form === 'gqa' ? attendWhole(l, qkv) : attendParts(l, qkv);
    const out = linear(attended, `${at}.attention.wo`, C, C);
    const mid = addNorm(x, out, `${at}.norm2`, biasOf(`${at}.attention.bo`));
    const next = l + 1 < layers ? `blocks.${l + 1}.norm1` : 'norm';
    const end = addNorm(mid.sum, feedForward(l, mid.normed), next, biasOf(`${at}.down.bias`));
    x = end.sum;
    normed = end.normed;
  }
  const last = program.op('Gather', [normed, program.constant(INT64, BigInt64Array.of(-1n), [])], { axis: 1 });
  const logits = quantized
    ? linear(last, 'embedding.table', vocab, C)
    : program.op('Gemm', [last, table], { transB: 1 });
  program.op('Identity', [logits], {}, { names: ['logits'] });
  program.output('logits', [1, vocab]);
  return program.finish();
}
