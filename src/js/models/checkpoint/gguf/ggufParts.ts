// The names of GGUF files, and of parts of a split file: x-00001-of-00003.gguf.

import { HeadlightError } from '../../../check/errors.ts';
import { quoteNames } from '../../../check/quote.ts';

import type { Folder } from '../files.ts';

const PART = /^(.*)-(\d{5})-of-(\d{5})(\.gguf)$/i;
/** Files with the part of a model that reads pictures. */
const PROJECTOR = /mmproj/i;

export const isGguf = (name: string) => /\.gguf$/i.test(name);

/** Returns the names of all parts. file: the whole file, or one of its parts. */
export function partNames(file: string): string[] {
  const [, stem, , count, end] = PART.exec(file) ?? [];
  if (count === undefined || Number(count) < 1) return [file];
  return Array.from({ length: Number(count) }, (_, i) => `${stem}-${String(i + 1).padStart(5, '0')}-of-${count}${end}`);
}

/** The GGUF file of a folder, or its first part; undefined if there is none. */
export function chooseGguf(names: readonly string[]) {
  const files = names.filter(isGguf);
  const models = files.filter((name) => !PROJECTOR.test(name));
  const first = [...new Set((models.length > 0 ? models : files).map((name) => partNames(name)[0]))];
  if (first.length < 2) return first[0];
  throw new HeadlightError(
    'FORMAT',
    `openModel: the folder has several GGUF files, ${quoteNames(first)}: open one of them by its own path`,
    { parameter: 'files', got: first },
  );
}

export function oneGguf(folder: Folder, file: string): Folder {
  const names = partNames(file);
  return {
    ...folder,
    names,
    size: async (name, required) => (names.includes(name) ? folder.size(name, required) : null),
  };
}
