// Opens one file of a folder by its path or URL: weights, or an archive.

import type { Folder } from './files.ts';
import { isGguf, oneGguf } from './gguf/ggufParts.ts';
import { isTorch, oneTorch } from './torch/torchNames.ts';

/** Folder and name, if the path or URL is that of a file with weights, or of an archive. */
export function fileOf(address: string) {
  const isUrl = /^[a-z][a-z\d+.-]+:/i.test(address);
  const [, path, rest] = (isUrl ? /^([^?#]*)(.*)$/s : /^(.*)()$/s).exec(address) as RegExpExecArray;
  const at = Math.max(path.lastIndexOf('/'), isUrl ? -1 : path.lastIndexOf('\\'));
  const name = path.slice(at + 1);
  if (!isGguf(name) && !isTorch(name) && !isArchive(name) && !/\.safetensors$/i.test(name)) return undefined;
  return { folder: `${path.slice(0, at + 1) || '.'}${rest}`, name: isUrl ? decodeName(name) : name };
}

function decodeName(name: string) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

export const isArchive = (name: string) => /\.zip$/i.test(name);

/** Returns the folder with this file as its only file of weights. If the file is an archive, it is the only file. */
export const chooseFile = (folder: Folder, file: string) =>
  (isGguf(file) || isArchive(file) ? oneGguf : oneTorch)(folder, file);
