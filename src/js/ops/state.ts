// Reads and writes state dictionaries: arrays by the names of parameters.

import { checkNames, readRecord } from '../check/arguments.ts';
import { shapeError } from '../check/errors.ts';
import { formatShape, sameShape } from '../check/shape.ts';
import { readTensorLike, type TensorLike } from '../check/tensorlike.ts';
import { checkAlive, shapeOf, Tensor, touch, viewOf } from '../memory/tensor.ts';

export type StateEntry = { data: Float32Array; shape: number[] };

/**
 * Copies an array in the memory of the parameters, because it may be a view of one. target: buffer of the parameters.
 */
export function readArray(caller: string, name: string, value: unknown, target: ArrayBufferLike) {
  if (value instanceof Tensor) return { shape: shapeOf(value), floats: viewOf(value).slice() };
  const source = readTensorLike(value as TensorLike, caller, name).apartFrom(target);
  return { shape: source.shape, floats: source.floats() };
}

/** Names in other libraries of the table of an embedding and of the parameters of additive attention. */
const ALIASES = { weight: 'table', 'W_q.weight': 'wq', 'W_k.weight': 'wk', 'w_v.weight': 'w' };

/** returns copies */
export function writeParameters(parameters: Readonly<Record<string, Tensor>>): Record<string, StateEntry> {
  checkAlive(parameters, 'stateDict', 'parameters');
  return Object.fromEntries(
    Object.entries(parameters).map(([name, tensor]) => [
      name,
      { data: Float32Array.from(viewOf(tensor)), shape: [...shapeOf(tensor)] },
    ]),
  );
}

/** Sets parameters. Validates all names and shapes before any parameter changes. */
export function readParameters(parameters: Readonly<Record<string, Tensor>>, dict: Record<string, TensorLike>) {
  const caller = 'loadStateDict';
  const expected = Object.entries(parameters);
  const given: Map<string, unknown> = new Map();
  for (const [name, value] of readRecord(caller, 'dict', dict, 'an object of named tensors')) {
    const alias = Object.hasOwn(ALIASES, name) ? ALIASES[name as keyof typeof ALIASES] : name;
    given.set(!Object.hasOwn(parameters, name) && Object.hasOwn(parameters, alias) ? alias : name, value);
  }
  checkNames(
    caller,
    [...given.keys()],
    expected.map(([name]) => name),
  );
  checkAlive(parameters, caller, 'parameters');
  const sources = expected.map(([name, tensor]) => {
    const { shape, floats } = readArray(caller, name, given.get(name), viewOf(tensor).buffer);
    if (!sameShape(shape, shapeOf(tensor))) throw shapeError(caller, name, shape, formatShape(shapeOf(tensor)));
    return floats;
  });
  checkAlive(parameters, caller, 'parameters');
  expected.forEach(([, tensor], i) => {
    viewOf(tensor).set(sources[i]);
    touch(tensor);
  });
}
