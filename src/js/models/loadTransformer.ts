// Loads a transformer from a file that save() has written.

import { checkNames, readRecord } from '../check/arguments.ts';
import { HeadlightError, shapeError } from '../check/errors.ts';
import { quoteNames } from '../check/quote.ts';
import { formatShape, sameShape } from '../check/shape.ts';
import type { TensorLike } from '../check/tensorlike.ts';
import { parseJson } from '../io/json.ts';
import { areRounded, widenRows } from '../io/roundedRows.ts';
import { readSafetensors, readSafetensorsHeader } from '../io/safetensors.ts';
import type { Memory } from '../memory/memory.ts';
import type { StateEntry } from '../ops/state.ts';
import { type Resolved, resolveOptions, type TransformerOptions } from './options.ts';
import { parameterShapes } from './parameters.ts';
import { Transformer } from './transformer.ts';
import { allocateWeights } from './weights.ts';

export type SavedTransformer = { tensors: Record<string, TensorLike & StateEntry>; metadata: Record<string, string> };

const CALLER = 'loadTransformer';
/** Maximum number of missing names that an error lists. */
const MAX_MISSING = 8;

function readSavedOptions({ headlight }: Record<string, string>): TransformerOptions {
  const fail = (reason: string) =>
    new HeadlightError('FORMAT', `${CALLER}: cannot read the options of the transformer from the file: ${reason}`, {
      parameter: 'headlight',
      got: headlight,
    });
  if (headlight === undefined) throw fail('no "headlight" in its metadata');
  return parseJson(headlight, (reason) =>
    fail(`"headlight" in its metadata is not JSON as expected: ${reason}`),
  ) as TransformerOptions;
}

const isParsed = (saved: unknown): saved is SavedTransformer =>
  typeof saved === 'object' && saved !== null && 'tensors' in saved && 'metadata' in saved;

/** Refuses tensors that are missing, unknown or have another shape than the options require. */
function checkTensors(options: Resolved, tensors: Record<string, { shape: readonly number[] }>) {
  const got = Object.keys(tensors);
  const expected: string[] = [];
  for (const [name, shape] of parameterShapes(options)) {
    expected.push(name);
    const tensor = tensors[name];
    if (Array.isArray(tensor?.shape) && !sameShape(tensor.shape, shape))
      throw shapeError(CALLER, name, tensor.shape, formatShape(shape));
    // The options may specify a million layers, so the loop ends after the first missing names.
    if (expected.length > got.length + MAX_MISSING) {
      const missing = expected.filter((other) => !(other in tensors)).slice(0, MAX_MISSING);
      const details = { parameter: missing[0], expected, got };
      throw new HeadlightError('ARGUMENT', `${CALLER}: missing ${quoteNames(missing)} and others`, details);
    }
  }
  checkNames(CALLER, got, expected);
}

/** The file's options determine the allocated memory, so they are first compared with the tensors. */
export function loadTransformer(memory: Memory, saved: ArrayBuffer | ArrayBufferView | SavedTransformer): Transformer {
  const { tensors: ranges, metadata } = isParsed(saved) ? saved : readSafetensorsHeader(saved);
  readRecord(CALLER, 'tensors', ranges, 'an object of named tensors');
  readRecord(CALLER, 'metadata', metadata, 'an object of named texts');
  if (areRounded(ranges)) {
    const tensors = widenRows(isParsed(saved) ? ranges : readSafetensors(saved).tensors);
    return loadTransformer(memory, { tensors, metadata });
  }
  const options = resolveOptions(readSavedOptions(metadata));
  checkTensors(options, ranges);
  const step = Number(metadata['headlight.step'] ?? 0);
  const tensors = isParsed(saved) ? ranges : readSafetensors(saved).tensors;
  // No random initial values, which would only be overwritten.
  const model = new Transformer(memory, options, allocateWeights(memory, options), step);
  try {
    return model.loadStateDict(tensors as Record<string, StateEntry>);
  } catch (error) {
    model.dispose();
    throw error;
  }
}
