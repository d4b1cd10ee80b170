// Writes a multi-head layer as an ONNX model. Implements only the parts of the protocol-buffer format that such a model
// needs; decoder.js uses them to write whole models.

const text = new TextEncoder();

export function concat(parts) {
  const bytes = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function varint(value) {
  const bytes = [];
  let x = BigInt.asUintN(64, BigInt(value));
  do {
    bytes.push(Number(x & 127n) | (x > 127n ? 128 : 0));
    x >>= 7n;
  } while (x > 0n);
  return Uint8Array.from(bytes);
}

export const int = (field, value) => concat([varint(field << 3), varint(value)]);
const float = (field, value) => concat([varint((field << 3) | 5), new Uint8Array(Float32Array.of(value).buffer)]);
export const block = (field, ...parts) => {
  const bytes = concat(parts);
  return concat([varint((field << 3) | 2), varint(bytes.length), bytes]);
};
export const string = (field, value) => block(field, text.encode(value));

export const FLOAT = 1;
export const INT8 = 3;
export const INT64 = 7;

function attribute(name, value) {
  if (Array.isArray(value)) return block(5, string(1, name), ...value.map((v) => int(8, v)), int(20, 7));
  return Number.isInteger(value)
    ? block(5, string(1, name), int(3, value), int(20, 2))
    : block(5, string(1, name), float(2, value), int(20, 1));
}

export function node(type, inputs, outputs, attributes = {}, domain = '') {
  return block(
    1,
    ...inputs.map((x) => string(1, x)),
    ...outputs.map((x) => string(2, x)),
    string(4, type),
    ...Object.entries(attributes).map(([k, v]) => attribute(k, v)),
    string(7, domain),
  );
}

function initializer(name, data, shape) {
  const type = data instanceof Float32Array ? FLOAT : data instanceof Int8Array ? INT8 : INT64;
  return block(
    5,
    ...shape.map((n) => int(1, n)),
    int(2, type),
    string(8, name),
    block(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength)),
  );
}

const valueInfo = (field, name, shape) =>
  block(field, string(1, name), block(2, block(1, int(1, FLOAT), block(2, ...shape.map((n) => block(1, int(1, n)))))));

/** Rounds a weight (out, in) to integers of 8 bits, with a scale for each output. */
function quantize(weight, width) {
  const scales = Float32Array.from(
    { length: width },
    (_, o) => weight.subarray(o * width, (o + 1) * width).reduce((most, x) => Math.max(most, Math.abs(x)), 0) / 127,
  );
  return { scales, integers: Int8Array.from(weight, (x, i) => Math.round(x / scales[Math.floor(i / width)])) };
}

function transpose(data, width) {
  const to = new data.constructor(data.length);
  for (let r = 0; r < width; r++) for (let c = 0; c < width; c++) to[c * width + r] = data[r * width + c];
  return to;
}

/**
 * Writes the ONNX model of a layer. Inputs: query (B,T,C) and, if they differ from it, key (B,S,C) and value. Outputs:
 * output (B,T,C) and weights (B,H,T,S).
 */
export function graphModel(problem, { fused, int8, withWeights }) {
  const { kind, batch, queries, keys, width, heads, causal } = problem.shape;
  const head = width / heads;
  const scale = 1 / Math.sqrt(head);
  const nodes = [];
  const initializers = [];
  const constant = (name, data, shape) => initializers.push(initializer(name, data, shape));
  const source = {
    q: 'query',
    k: problem.self ? 'query' : 'key',
    v: kind === 'attention' ? 'value' : problem.self ? 'query' : 'key',
  };

  const project = (from, letter, to) => {
    constant(`b${letter}`, problem[`b${letter}`], [width]);
    if (int8) {
      const { scales, integers } = quantize(problem[`w${letter}`], width);
      constant(`w${letter}`, transpose(integers, width), [width, width]);
      constant(`s${letter}`, scales, [width]);
      const [x, scale, zero, sums, wide, factor] = ['x', 'scale', 'zero', 'sums', 'wide', 'factor'].map(
        (name) => `${letter}_${name}`,
      );
      nodes.push(
        node('DynamicQuantizeLinear', [from], [x, scale, zero]),
        node('MatMulInteger', [x, `w${letter}`, zero], [sums]),
        node('Cast', [sums], [wide], { to: FLOAT }),
        node('Mul', [scale, `s${letter}`], [factor]),
        node('Mul', [wide, factor], [`${to}_product`]),
      );
    } else {
      constant(`w${letter}`, transpose(problem[`w${letter}`], width), [width, width]);
      nodes.push(node('MatMul', [from, `w${letter}`], [`${to}_product`]));
    }
    nodes.push(node('Add', [`${to}_product`, `b${letter}`], [to]));
    return to;
  };
  const projected = Object.fromEntries(
    Object.entries(source).map(([letter, name]) => [
      letter,
      kind === 'layer' ? project(name, letter, `${letter}_projected`) : name,
    ]),
  );

  const joined = kind === 'layer' ? 'joined' : 'output';
  if (fused) {
    const attributes = { num_heads: heads, scale, ...(causal && { unidirectional: 1 }) };
    nodes.push(
      node('MultiHeadAttention', [projected.q, projected.k, projected.v], [joined], attributes, 'com.microsoft'),
    );
  } else {
    const split = (letter, rows, perm) => {
      constant(`${letter}_shape`, BigInt64Array.from([batch, rows, heads, head].map(BigInt)), [4]);
      nodes.push(
        node('Reshape', [projected[letter], `${letter}_shape`], [`${letter}_4d`]),
        node('Transpose', [`${letter}_4d`], [`${letter}_heads`], { perm }),
      );
    };
    split('q', queries, [0, 2, 1, 3]);
    split('k', keys, [0, 2, 3, 1]);
    split('v', keys, [0, 2, 1, 3]);
    constant('scale', Float32Array.of(scale), []);
    constant('joined_shape', BigInt64Array.from([batch, queries, width].map(BigInt)), [3]);
    nodes.push(node('MatMul', ['q_heads', 'k_heads'], ['raw']), node('Mul', ['raw', 'scale'], ['scaled']));
    if (causal) {
      constant(
        'mask',
        Float32Array.from({ length: queries * keys }, (_, i) => (i % keys > Math.floor(i / keys) ? -1e9 : 0)),
        [queries, keys],
      );
      nodes.push(node('Add', ['scaled', 'mask'], ['masked']));
    }
    nodes.push(
      node('Softmax', [causal ? 'masked' : 'scaled'], ['weights'], { axis: -1 }),
      node('MatMul', ['weights', 'v_heads'], ['values']),
      node('Transpose', ['values'], ['values_4d'], { perm: [0, 2, 1, 3] }),
      node('Reshape', ['values_4d', 'joined_shape'], [joined]),
    );
  }
  if (kind === 'layer') project('joined', 'o', 'output');

  const inputs = [valueInfo(11, 'query', [batch, queries, width])];
  if (!problem.self) inputs.push(valueInfo(11, 'key', [batch, keys, width]));
  if (kind === 'attention') inputs.push(valueInfo(11, 'value', [batch, keys, width]));
  const outputs = [valueInfo(12, 'output', [batch, queries, width])];
  if (withWeights) outputs.push(valueInfo(12, 'weights', [batch, heads, queries, keys]));
  const graph = block(7, ...nodes, string(2, 'attention'), ...initializers, ...inputs, ...outputs);
  return concat([
    int(1, 8),
    block(8, string(1, ''), int(2, 17)),
    block(8, string(1, 'com.microsoft'), int(2, 1)),
    graph,
  ]);
}
