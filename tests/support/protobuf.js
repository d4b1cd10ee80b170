// Reads the tensors of an ONNX file, with only as much of the protocol-buffer format as that requires.

const VARINT = 0;
const EIGHT_BYTES = 1;
const BLOCK = 2;
const FOUR_BYTES = 5;
/** Numbers of fields in onnx.proto. */
const MODEL = { graph: 7 };
const GRAPH = { node: 1, initializer: 5 };
const NODE = { output: 2, attribute: 5 };
const ATTRIBUTE = { tensor: 5 };
const TENSOR = { dims: 1, type: 2, name: 8, raw: 9 };
const FLOAT = 1;

/**
 * Returns the fields of a message: [number, value]. Values of length-delimited fields are bytes.
 * @param {Uint8Array} bytes
 * @returns {[number, any][]}
 */
function readFields(bytes) {
  const fields = [];
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return Number(BigInt.asIntN(64, value));
    }
  };
  while (at < bytes.length) {
    const key = varint();
    const kind = key & 7;
    if (kind === VARINT) fields.push([key >>> 3, varint()]);
    else {
      const size = kind === EIGHT_BYTES ? 8 : kind === FOUR_BYTES ? 4 : kind === BLOCK ? varint() : NaN;
      if (!(at + size <= bytes.length)) throw new Error(`a field at byte ${at} does not end`);
      fields.push([key >>> 3, bytes.subarray(at, at + size)]);
      at += size;
    }
  }
  return fields;
}

const all = (fields, number) => fields.filter(([n]) => n === number).map(([, value]) => value);
const text = (bytes) => new TextDecoder().decode(bytes);

/** @param {[number, any][]} fields of a TensorProto */
function readFloats(fields) {
  const [raw] = all(fields, TENSOR.raw);
  return { shape: all(fields, TENSOR.dims), data: new Float32Array(Uint8Array.from(raw).buffer) };
}

/**
 * Returns the float32 tensors of a model, both initializers and constants.
 * @param {Uint8Array} bytes of the file
 * @returns {Record<string, { data: Float32Array, shape: number[] }>}
 */
export function readOnnxTensors(bytes) {
  const graph = readFields(all(readFields(bytes), MODEL.graph)[0]);
  const tensors = all(graph, GRAPH.initializer).map((block) => {
    const fields = readFields(block);
    return [text(all(fields, TENSOR.name)[0]), fields];
  });
  for (const node of all(graph, GRAPH.node).map(readFields)) {
    for (const attribute of all(node, NODE.attribute).map(readFields)) {
      const [tensor] = all(attribute, ATTRIBUTE.tensor);
      if (tensor) tensors.push([text(all(node, NODE.output)[0]), readFields(tensor)]);
    }
  }
  return Object.fromEntries(
    tensors
      .filter(([, fields]) => all(fields, TENSOR.type)[0] === FLOAT && all(fields, TENSOR.raw).length === 1)
      .map(([name, fields]) => [name, readFloats(fields)]),
  );
}
