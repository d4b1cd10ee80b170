// Opens one file of a folder by its own path or URL.

import { isGguf, oneGguf } from './ggufParts.js';
import { isTorch, oneTorch } from './torchNames.js';

/** @import { Folder } from './files.js' */

/**
 * Returns folder and name of the file if the address is that of a GGUF file or of a file that torch.save wrote.
 * @param {string} address a path or a URL
 */
export function fileOf(address) {
  const isUrl = /^[a-z][a-z\d+.-]+:/i.test(address);
  const [, path, rest] = /** @type {RegExpExecArray} */ ((isUrl ? /^([^?#]*)(.*)$/s : /^(.*)()$/s).exec(address));
  const at = Math.max(path.lastIndexOf('/'), isUrl ? -1 : path.lastIndexOf('\\'));
  const name = path.slice(at + 1);
  if (!isGguf(name) && !isTorch(name)) return undefined;
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

/**
 * Returns the folder with this file as its only file of weights.
 * @param {Folder} folder
 * @param {string} file
 */
export const chooseFile = (folder, file) => (isGguf(file) ? oneGguf : oneTorch)(folder, file);
