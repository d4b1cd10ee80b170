// Reads samples of sound as the input of a model.

import { shapeError } from '../../check/errors.js';
import { readNumbers, toLabels } from '../../ops/labels.js';
import { framesOf, samplesFor } from './options.js';

/** @import { NamedInput, ReadInput } from '../input.js' */
/** @import { Resolved } from '../options.js' */
/** @import { Sound } from './options.js' */

/**
 * Reads samples and their padding. A frame is padding unless all its samples are kept.
 * @param {string} caller
 * @param {NamedInput} input
 * @param {Resolved} options
 * @returns {ReadInput}
 */
export function readSamples(caller, { given, called: names }, options) {
  const sound = /** @type {Sound} */ (options.sound);
  const called = names.samples ?? 'samples';
  const source = readNumbers(given.samples, caller, called);
  const [data, { shape }] = [source.floats(), source];
  if (shape.length !== 1 && shape.length !== 2) throw shapeError(caller, called, shape, '(N) or (B,N)');
  const batched = shape.length === 2;
  const [batch, count] = batched ? shape : [1, shape[0]];
  const rows = framesOf(sound, count);
  if (rows === 0) throw shapeError(caller, called, shape, `at least ${samplesFor(sound, 1)} samples`);
  return {
    ...{ called, batched, batch, rows, numbers: { data, shape: [batch, count] } },
    keep: given.keep === undefined ? undefined : readKeep(),
  };

  function readKeep() {
    const name = names.keep ?? 'keep';
    const read = toLabels(readNumbers(given.keep, caller, name), caller, 2, undefined, name);
    if (read.ints.length !== batch * count)
      throw shapeError(
        caller,
        name,
        read.shape,
        `as many as samples: ${batched ? `(${batch},${count})` : `(${count})`}`,
      );
    const keep = new Uint8Array(batch * rows);
    for (let b = 0; b < batch; b++) {
      const real = read.ints.subarray(b * count, (b + 1) * count).reduce((sum, one) => sum + one, 0);
      keep.fill(1, b * rows, b * rows + framesOf(sound, real));
    }
    return keep;
  }
}
