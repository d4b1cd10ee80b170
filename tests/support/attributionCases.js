// Reads golden values, computed in float64, of methods that attribute a metric to values and edges of tiny checkpoints.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GOLDEN } from './golden.js';

const FOLDER = join(GOLDEN, 'attribution');
const ARRAYS = { float32: Float32Array, int32: Int32Array };

/**
 * Yields the cases of a kind, 'attribution' or 'edges':
 * { model, checkpoint, name, options, clean, corrupted, outputs }. clean and corrupted are token ids.
 */
export function* casesOf(kind) {
  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.json'))) {
    const { model, bin, cases } = JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));
    const bytes = readFileSync(join(FOLDER, bin));
    const read = (list) =>
      Object.fromEntries(
        list.map(({ name, dtype, shape, offset, bytes: length }) => [
          name,
          { shape, data: new ARRAYS[dtype](new Uint8Array(bytes.subarray(offset, offset + length)).buffer) },
        ]),
      );
    for (const { inputs, outputs, ...rest } of cases) {
      if (rest.kind !== kind) continue;
      const { clean, corrupted } = read(inputs);
      const checkpoint = join(GOLDEN, 'models', model);
      yield {
        ...rest,
        model,
        checkpoint,
        clean: [...clean.data],
        corrupted: [...corrupted.data],
        outputs: read(outputs),
      };
    }
  }
}

/** Returns the largest difference, relative to the largest expected value. The difference of NaN is Infinity. */
export function off({ data }, expected) {
  if (data.length !== expected.data.length) return Infinity;
  let [most, top] = [0, 0];
  expected.data.forEach((value, i) => {
    const difference = Math.abs(data[i] - value);
    if (!(difference <= most)) most = Number.isNaN(difference) ? Infinity : difference;
    top = Math.max(top, Math.abs(value));
  });
  return most / (top || 1);
}
