// Builds an ONNX model: inputs, operators, weights, outputs. A value is referenced by its name.

import { VERSION } from '../../../dist/abi/abi.js';
import { HeadlightError } from '../check/errors.ts';
import { block, bytes, float, integer, join, message, type Piece, string } from './proto.ts';

export type ElementType = 'float' | 'uint8' | 'int8' | 'int16' | 'int32' | 'int64' | 'bool';
/** a size, or the name of a dynamic size */
export type Dim = number | string;
export type Elements = Float32Array | Int8Array | Int16Array | Int32Array | BigInt64Array | Uint8Array;
export type Attributes = Record<string, number | string | readonly number[] | undefined>;
/**
 * files by name: model.onnx and, with external,
 *   model.onnx.data
 */
export type OnnxFiles = Record<string, Uint8Array<ArrayBuffer>>;
/**
 * A parameter or constant of the graph. get: returns the elements. inside: true if they are in model.onnx, not in the
 * data file.
 */
export type Initial = { name: string; type: number; shape: readonly number[]; get: () => Elements; inside: boolean };

// These are the numbers of fields and types in onnx.proto.
const MODEL = { version: 1, producer: 2, producerVersion: 3, graph: 7, operators: 8 };
const GRAPH = { operator: 1, name: 2, initializer: 5, input: 11, output: 12 };
const NODE = { input: 1, output: 2, name: 3, type: 4, attribute: 5 };
const ATTRIBUTE = { name: 1, float: 2, integer: 3, string: 4, integers: 8, type: 20 };
const ATTRIBUTE_TYPE = { float: 1, integer: 2, string: 3, integers: 7 };
const TENSOR = { size: 1, type: 2, name: 8, raw: 9, external: 13, location: 14 };
const OUTSIDE = 1;
const TYPES: Record<ElementType, number> = { float: 1, uint8: 2, int8: 3, int16: 5, int32: 6, int64: 7, bool: 9 };
const TYPE_OF: Record<string, ElementType> = {
  Float32Array: 'float',
  Uint8Array: 'bool',
  Int8Array: 'int8',
  Int16Array: 'int16',
  Int32Array: 'int32',
  BigInt64Array: 'int64',
};
/** Version of the ONNX file format (IR) for each opset. */
const IR_VERSION: Record<number, number> = { 17: 8, 23: 10 };
/** Attributes of type float, even if the value is an integer. */
const FLOATS = new Set(['alpha', 'beta', 'epsilon', 'scale', 'softcap']);
/** Alignment of tensors in the data file. */
const ALIGN = 64;
/** Minimum bytes of a tensor in the data file. Smaller tensors are in the model file. */
const MIN_EXTERNAL = 1024;
/** Maximum bytes of a protocol buffer. */
const MAX_BYTES = 2 ** 31 - 1;

export class OnnxGraph {
  declare opset: number;
  declare file: string;
  declare external: boolean;

  #names = 0;
  #nameOf: (name: string) => string;
  #nodes: Piece[] = [];
  #ends: Piece[] = [];
  #initials: Map<string, Initial> = new Map();
  /** Names that are inputs of an operator. */
  #read: Set<string> = new Set();
  /** Constants by type, shape and value. */
  #constants: Map<string, string> = new Map();

  /**
   * @param options file: name of the model file without .onnx; nameOf: maps the names of inputs, outputs, their axes
   *   and the data file
   */
  constructor({
    opset = 17,
    external = false,
    file = 'model',
    nameOf = (name) => name,
  }: { opset?: number; external?: boolean; file?: string; nameOf?: (name: string) => string } = {}) {
    this.opset = opset;
    this.file = file;
    this.external = external;
    this.#nameOf = nameOf;
  }

  /** Declares an input of the model and returns its mapped name. */
  input(name: string, type: ElementType, dims: readonly Dim[]) {
    return this.#end(GRAPH.input, name, type, dims);
  }

  /** Declares a value as an output of the model and returns its mapped name. */
  output(name: string, value: string, type: ElementType, dims: readonly Dim[]) {
    const mapped = this.#end(GRAPH.output, name, type, dims);
    this.#node('Identity', [value], {}, [mapped]);
    return mapped;
  }

  #end(field: number, name: string, type: ElementType, dims: readonly Dim[]) {
    const mapped = this.#nameOf(name);
    const axes = dims.map((dim) => (typeof dim === 'string' ? this.#nameOf(dim) : dim));
    this.#ends.push(valueInfo(field, mapped, type, axes));
    return mapped;
  }

  /** Adds an operator and returns the name of its output. '' omits an optional input. */
  op(type: string, inputs: readonly string[], attributes: Attributes = {}) {
    return this.ops(type, inputs, attributes, 1)[0];
  }

  /** Adds an operator and returns the names of its outputs. */
  ops(type: string, inputs: readonly string[], attributes: Attributes, outputs: number) {
    const made = Array.from({ length: outputs }, () => `${type}_${this.#names++}`);
    this.#node(type, inputs, attributes, made);
    return made;
  }

  #node(type: string, inputs: readonly string[], attributes: Attributes, outputs: readonly string[]) {
    for (const name of inputs) this.#read.add(name);
    const parts = [
      ...inputs.map((name) => string(NODE.input, name)),
      ...outputs.map((name) => string(NODE.output, name)),
      string(NODE.name, outputs[0]),
      string(NODE.type, type),
      ...Object.entries(attributes).flatMap(([name, value]) => (value === undefined ? [] : [attribute(name, value)])),
    ];
    this.#nodes.push(block(GRAPH.operator, ...parts));
  }

  /** Adds ReduceMax, ReduceMean or another reduction. The axes of these operators are an input since opset 18. */
  reduce(type: string, x: string, axes: number[], keepdims = 1) {
    if (this.opset >= 18 || type === 'ReduceSum') return this.op(type, [x, this.ints(...axes)], { keepdims });
    return this.op(type, [x], { axes, keepdims });
  }

  cast(x: string, type: ElementType) {
    return this.op('Cast', [x], { to: TYPES[type] });
  }

  /**
   * Returns the size of an axis.
   * @returns a vector of one int64
   */
  size(x: string, axis: number) {
    return this.op('Gather', [this.op('Shape', [x]), this.ints(axis)]);
  }

  /** Reshapes a value. A size is a number (0 for unchanged, −1 for inferred) or a vector of one int64. */
  reshape(x: string, ...sizes: readonly Dim[]) {
    if (sizes.every((size) => typeof size === 'number'))
      return this.op('Reshape', [x, this.ints(...(sizes as number[]))]);
    const parts = sizes.map((size) => (typeof size === 'number' ? this.ints(size) : size));
    return this.op('Reshape', [x, this.op('Concat', parts, { axis: 0 })]);
  }

  /**
   * Returns the vector 0, 1, …, size − 1.
   * @param size a vector of one int64
   */
  range(size: string) {
    return this.op('Range', [this.int(0), this.op('Squeeze', [size, this.ints(0)]), this.int(1)]);
  }

  /** Returns a constant vector of int64. */
  ints(...values: number[]) {
    return this.constant(BigInt64Array.from(values, BigInt), [values.length]);
  }

  /** Returns a constant scalar of int64. */
  int(value: number) {
    return this.constant(BigInt64Array.of(BigInt(value)), []);
  }

  /** Returns a constant scalar of float32. */
  float(value: number) {
    return this.constant(Float32Array.of(value), []);
  }

  /** Returns a constant boolean scalar. */
  bool(value: boolean) {
    return this.constant(Uint8Array.of(Number(value)), []);
  }

  /** Returns a small constant tensor. Equal constants are shared. A Uint8Array contains booleans. */
  constant(data: Elements, shape: readonly number[]) {
    const key = [data.constructor.name, shape.join('×'), bytesOf(data)].join(' ');
    const name = this.#constants.get(key) ?? `constant_${this.#constants.size}`;
    this.#constants.set(key, name);
    return this.#initial(name, typeOf(data), shape, () => data, true);
  }

  /**
   * Returns a parameter. Calls with the same name return the same tensor.
   * @param data the elements, or a function that returns them when the file is written
   */
  weight(name: string, data: Elements | (() => Float32Array), shape: readonly number[]) {
    const lazy = typeof data === 'function';
    const inside = !this.external || product(shape) * (lazy ? 4 : data.BYTES_PER_ELEMENT) < MIN_EXTERNAL;
    return this.#initial(name, lazy ? 'float' : typeOf(data), shape, lazy ? data : () => data, inside);
  }

  #initial(name: string, type: ElementType, shape: readonly number[], get: () => Elements, inside: boolean) {
    if (!this.#initials.has(name)) this.#initials.set(name, { name, type: TYPES[type], shape, get, inside });
    return name;
  }

  /**
   * Encodes the model with all parameters that an operator reads.
   * @param title title of the graph
   */
  finish(title: string): OnnxFiles {
    const external: { offset: number; data: Uint8Array }[] = [];
    const dataFile = this.#nameOf(`${this.file}.onnx.data`);
    let size = 0;
    const needed = [...this.#initials.values()].filter(({ name }) => this.#read.has(name));
    const initials = needed.map(({ name, type, shape, get, inside }) => {
      const data = bytesOf(get());
      const head = [
        ...shape.map((n) => integer(TENSOR.size, n)),
        integer(TENSOR.type, type),
        string(TENSOR.name, name),
      ];
      if (inside) return block(GRAPH.initializer, ...head, bytes(TENSOR.raw, data));
      const offset = Math.ceil(size / ALIGN) * ALIGN;
      size = offset + data.length;
      external.push({ offset, data });
      const entries = Object.entries({ location: dataFile, offset, length: data.length });
      return block(
        GRAPH.initializer,
        ...head,
        ...entries.map(([key, value]) => block(TENSOR.external, string(1, key), string(2, String(value)))),
        integer(TENSOR.location, OUTSIDE),
      );
    });
    const graph = block(MODEL.graph, ...this.#nodes, string(GRAPH.name, title), ...initials, ...this.#ends);
    const model = message(
      integer(MODEL.version, IR_VERSION[this.opset] ?? IR_VERSION[23]),
      string(MODEL.producer, 'headlight'),
      string(MODEL.producerVersion, VERSION),
      graph,
      block(MODEL.operators, string(1, ''), integer(2, this.opset)),
    );
    if (model.size > MAX_BYTES) {
      const expected = 'at most 2 GB in one file; external: true writes the parameters to a second file';
      throw new HeadlightError('ARGUMENT', `toOnnx: the model takes ${model.size} bytes, expected ${expected}`, {
        parameter: 'external',
        expected,
        got: model.size,
      });
    }
    const files = { [`${this.file}.onnx`]: join(model) };
    // onnxruntime-node rejects an empty file.
    if (size === 0) return files;
    const data = new Uint8Array(size);
    for (const part of external) data.set(part.data, part.offset);
    return { ...files, [dataFile]: data };
  }
}

const product = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1);

const bytesOf = ({ buffer, byteOffset, byteLength }: Elements): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

const typeOf = (data: Elements) => TYPE_OF[data.constructor.name];

function attribute(name: string, value: NonNullable<Attributes[string]>) {
  const [kind, ...parts] =
    typeof value === 'string'
      ? [ATTRIBUTE_TYPE.string, string(ATTRIBUTE.string, value)]
      : typeof value !== 'number'
        ? [ATTRIBUTE_TYPE.integers, ...value.map((x) => integer(ATTRIBUTE.integers, x))]
        : FLOATS.has(name)
          ? [ATTRIBUTE_TYPE.float, float(ATTRIBUTE.float, value)]
          : [ATTRIBUTE_TYPE.integer, integer(ATTRIBUTE.integer, value)];
  return block(
    NODE.attribute,
    string(ATTRIBUTE.name, name),
    ...(parts as Piece[]),
    integer(ATTRIBUTE.type, kind as number),
  );
}

function valueInfo(field: number, name: string, type: ElementType, dims: readonly Dim[]) {
  const sizes = dims.map((dim) => block(1, typeof dim === 'number' ? integer(1, dim) : string(2, dim)));
  return block(field, string(1, name), block(2, block(1, integer(1, TYPES[type]), block(2, ...sizes))));
}
