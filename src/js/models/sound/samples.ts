// Reads samples of sound as the input of a model.

import { shapeError } from '../../check/errors.ts';
import { readNumbers, toLabels } from '../../ops/labels.ts';
import type { NamedInput, ReadInput } from '../input.ts';
import type { Resolved } from '../options.ts';
import { framesOf, type Sound, samplesFor } from './options.ts';

/** Reads samples and their padding. A frame is padding unless all its samples are kept. */
export function readSamples(caller: string, { given, called: names }: NamedInput, options: Resolved): ReadInput {
  const sound = options.sound as Sound;
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
