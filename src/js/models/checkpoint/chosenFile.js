// Opens one file of a folder by its own path or URL: a file with weights, or an archive.

import { isGguf, oneGguf } from './ggufParts.js';
import { isTorch, oneTorch } from './torchNames.js';

/** @import { Folder } from './files.js' */

/**
 * Returns folder and name of the file if the address is that of a file with weights, or of an archive.
 * @param {string} address a path or a URL
 */
export function fileOf(address) {
  const isUrl = /^[a-z][a-z\d+.-]+:/i.test(address);
  const [, path, rest] = /** @type {RegExpExecArray} */ ((isUrl ? /^([^?#]*)(.*)$/s : /^(.*)()$/s).exec(address));
  const at = Math.max(path.lastIndexOf('/'), isUrl ? -1 : path.lastIndexOf('\\'));
  const name = path.slice(at + 1);
  if (!isGguf(name) && !isTorch(name) && !isArchive(name) && !/\.safetensors$/i.test(name)) return undefined;
  return { folder: `${path.slice(0, at + 1) || '.'}${rest}`, name: isUrl ? decodeName(name) : name };
}

/** @param {string} name of a file in a URL */
function decodeName(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** @param {string} name */
export const isArchive = (name) => /\.zip$/i.test(name);

/**
 * Returns the folder with this file as its only file of weights. If the file is an archive, it is the only file.
 * @param {Folder} folder
 * @param {string} file
 */
export const chooseFile = (folder, file) => (isGguf(file) || isArchive(file) ? oneGguf : oneTorch)(folder, file);
