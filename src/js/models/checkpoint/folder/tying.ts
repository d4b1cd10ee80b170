// Checks whether a model has a head, or another embedding, that differs from the embedding that is read. Only a few
// ranges are compared, because one trained separately differs in every row.

import { sameShape } from '../../../check/shape.ts';
import type { Family } from '../../families/common.ts';
import type { Folder } from '../files.ts';
import { sourceOf } from '../naming.ts';
import type { Stored } from '../readWeights.ts';

/** Number of bytes of a compared range, and number of ranges. Tensors of up to 4 MB are compared completely. */
const RANGE = 2 ** 18;
const RANGES = 16;

/**
 * Names of a tied head in the files. Some families have a classification head of another shape than the embedding
 * there.
 */
export function tiedHeads(
  family: Family,
  prefix: string,
  tensors: ReadonlyMap<string, Stored>,
  shape: readonly number[] | undefined,
) {
  const { names } = sourceOf(family, prefix, 'head.weight');
  return names.filter((name, i) => {
    const stored = tensors.get(name);
    return stored !== undefined && (i === 0 || (shape !== undefined && sameShape(stored.shape, shape)));
  });
}

/** true if a head in the files differs from the embedding */
export async function hasOwnHead(
  family: Family,
  prefix: string,
  tensors: ReadonlyMap<string, Stored>,
  folder: Folder,
  signal?: AbortSignal,
): Promise<boolean> {
  const name = sourceOf(family, prefix, 'embedding.table').names.find((name) => tensors.has(name));
  const table = name === undefined ? undefined : tensors.get(name);
  const [head] = tiedHeads(family, prefix, tensors, table?.shape).map((name) => tensors.get(name));
  return table !== undefined && head !== undefined && !(await isSame(folder, table, head, signal));
}

/** Returns the embedding that is read, and one of another stack that has other values, if the files contain one. */
export async function findOtherEmbedding(
  family: Family,
  prefix: string,
  tensors: ReadonlyMap<string, Stored>,
  folder: Folder,
  signal?: AbortSignal,
): Promise<[read: string, other: string] | undefined> {
  const names = sourceOf(family, prefix, 'embedding.table').names.filter((name) => tensors.has(name));
  const [first, ...others] = names.map((name) => tensors.get(name) as Stored);
  for (const [i, other] of others.entries())
    if (!(await isSame(folder, first, other, signal))) return [names[0], names[i + 1]];
  return undefined;
}

async function isSame(folder: Folder, a: Stored, b: Stored, signal?: AbortSignal) {
  if (a.dtype !== b.dtype || a.form !== b.form || !sameShape(a.shape, b.shape)) return false;
  if (a.file === b.file && a.begin === b.begin) return true;
  const size = a.end - a.begin;
  const count = Math.min(RANGES, Math.ceil(size / RANGE));
  const step = count > 1 ? (size - RANGE) / (count - 1) : 0;
  for (let i = 0; i < count; i++) {
    signal?.throwIfAborted();
    const from = Math.floor(i * step);
    const to = Math.min(from + RANGE, size);
    const [bytesA, bytesB] = await Promise.all(
      [a, b].map(({ file, begin }) => folder.read(file, begin + from, begin + to)),
    );
    if (bytesA.length !== bytesB.length || bytesA.some((byte, at) => byte !== bytesB[at])) return false;
  }
  return true;
}
