// One file of a folder that is chosen by its own path or URL.

import { isGguf, partNames } from './ggufParts.js';

/** @import { Folder } from './files.js' */

/**
 * The folder and the name of a GGUF file, if the address is of one.
 * @param {string} address a path or a URL
 */
export function fileOf(address) {
  const isUrl = /^[a-z][a-z\d+.-]+:/i.test(address);
  const [, path, rest] = /** @type {RegExpExecArray} */ ((isUrl ? /^([^?#]*)(.*)$/s : /^(.*)()$/s).exec(address));
  const at = Math.max(path.lastIndexOf('/'), isUrl ? -1 : path.lastIndexOf('\\'));
  const name = path.slice(at + 1);
  if (!isGguf(name)) return undefined;
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
 * A folder with only this file, or with the parts of it.
 * @param {Folder} folder
 * @param {string} file
 * @returns {Folder}
 */
export function oneFile(folder, file) {
  const names = partNames(file);
  return {
    ...folder,
    names,
    size: async (name, required) => (names.includes(name) ? folder.size(name, required) : null),
  };
}
