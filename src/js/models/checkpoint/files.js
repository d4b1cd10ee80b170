// Opens the files of a model: a folder on disk, at a URL or on the Hugging Face Hub, or files that a user has chosen or
// dropped. All files are read by ranges of bytes.

import { argumentError, unreadable } from '../../check/errors.js';
import { quote } from '../../check/quote.js';
import { readBytes } from '../../io/bytes.js';
import { chooseFile, fileOf } from './chosenFile.js';
import { hubHint, isHubAddress } from './hubNames.js';
import { remoteFile, remoteFolder } from './remote.js';

/** @import { HubOptions } from '../../hub/options.js' */
/** @import { HubPlatform } from '../../hub/types.js' */

/**
 * @typedef {string | URL | Readonly<Record<string, Blob | ArrayBuffer | ArrayBufferView>> | FileList | readonly File[]
 *   | File | FileSystemDirectoryHandle} ModelFiles a folder, a GGUF file or a PyTorch file (a path in Node, or a URL),
 *   hf://owner/name, or files by name
 */
/**
 * size: null if there is no such file, Infinity if the size is not known before the file is read. If `required`, an
 * ambiguous response of a server is an error, not null. read: returns fewer bytes if the file ends before `end`. It may
 * write the result to `buffer`, which has end − begin bytes.
 * @typedef {object} Folder
 * @property {readonly string[] | null} names names of the files; null if they cannot be listed
 * @property {string} [hint] text that is added to the error about a missing file
 * @property {HubOrigin} [origin] of a model on the Hub
 * @property {(name: string, required?: boolean) => Promise<number | null>} size
 * @property {(name: string, begin: number, end: number, buffer?: Uint8Array) => Promise<Uint8Array>} read
 * @property {(path: string, most: number) => Promise<Uint8Array | null>} [readInner] returns a file, which may be in a
 *   subfolder, or its first `most` bytes if it is larger; null if there is none
 * @property {(ranges: { file: string, begin: number, end: number }[]) => Promise<void>} [plan] announces all reads of
 *   weights in their order, so that few requests are sent
 * @property {() => Promise<void>} [complete] called after all reads have succeeded: checks the files and completes them
 *   in the cache
 * @property {(name: string, begin: number, end: number) => Stream} [stream] opens the bytes begin..end−1 for
 *   reading in sequence; set if this is faster than `read`
 * @property {() => Promise<void>} close
 */
/**
 * The model's id and commit on the Hub. renamedFrom: the requested id, if the model has another name now. cached: true
 * if its files are in the cache; cacheNote: the reason if they are not.
 * @typedef {{ id: string, revision: string, renamedFrom?: string, cached: boolean, cacheNote?: string }} HubOrigin
 */
/**
 * The options for the Hub, and the code for the Hub on this platform; default: the code for a web page.
 * @typedef {{ options?: HubOptions, platform?: () => Promise<HubPlatform> }} Hub
 */
/**
 * Bytes that are read in sequence; the first request is sent at once. read: fills the target, or returns fewer bytes at
 * the end.
 * @typedef {{ read: (target: Uint8Array) => Promise<Uint8Array>, close: () => void }} Stream
 */
/** @typedef {(caller: string, path: string, signal?: AbortSignal) => Promise<Folder>} OpenPath */

const nothing = async () => {};

/**
 * @param {string} caller
 * @param {ModelFiles} files
 * @param {OpenPath} [openPath] opens a folder on disk; only in Node
 * @param {AbortSignal} [signal]
 * @param {Hub} [hub]
 * @returns {Promise<Folder>}
 */
export async function openFolder(caller, files, openPath, signal, hub) {
  if (typeof files === 'string' || files instanceof URL)
    return openAddress(caller, String(files), openPath, signal, hub);
  if (files === null || typeof files !== 'object')
    throw argumentError(caller, 'files', files, 'a folder: a path, a URL, files by name, or a directory handle');
  if (files instanceof Blob) return memoryFolder(caller, namedFiles(caller, [/** @type {File} */ (files)]));
  if ('getFileHandle' in files) return handleFolder(caller, /** @type {FileSystemDirectoryHandle} */ (files));
  const isList = Array.isArray(files) || (typeof FileList !== 'undefined' && files instanceof FileList);
  return memoryFolder(caller, isList ? namedFiles(caller, /** @type {File[]} */ ([...files])) : Object.entries(files));
}

/**
 * @param {string} caller
 * @param {string} address
 * @param {OpenPath} [openPath]
 * @param {AbortSignal} [signal]
 * @param {Hub} [hub]
 * @returns {Promise<Folder>}
 */
async function openAddress(caller, address, openPath, signal, hub) {
  if (isHubAddress(address, hub?.options?.endpoint)) return openOnHub(caller, address, hub, signal);
  const base = globalThis.location?.href;
  const file = fileOf(address);
  if (file) {
    const folder = await openFolder(caller, file.folder, openPath, signal);
    if (folder.names?.includes(file.name) === false) throw unreadable(caller, address, 'there is no such file');
    return chooseFile(folder, file.name);
  }
  // A single letter before a colon is a drive on Windows.
  if (/^[a-z][a-z\d+.-]+:/i.test(address) && !/^file:/i.test(address))
    return remoteFolder(caller, readAddress(caller, address), { signal });
  if (openPath) return openPath(caller, address, signal);
  const expected = "a URL, or files by name, because only 'headlight-attention' in Node can open a path";
  if (!base || /^file:/i.test(address)) throw argumentError(caller, 'files', address, expected);
  return remoteFolder(caller, readAddress(caller, address, base), { signal, hint: hubHint(address) });
}

/** @param {string} caller @param {string} address @param {Hub} [hub] @param {AbortSignal} [signal] */
async function openOnHub(caller, address, hub, signal) {
  const [{ openHubFolder }, platform] = await Promise.all([
    import('../../hub/hubFolder.js'),
    hub?.platform?.() ?? import('../../hub/page.js').then(({ page }) => page),
  ]);
  return openHubFolder(caller, address, hub?.options, platform, signal);
}

/**
 * Opens a single file, as the file of a folder.
 * @param {string} caller
 * @param {string | URL | Blob} file
 * @param {OpenPath} [openPath]
 * @param {Hub} [hub]
 * @returns {Promise<{ folder: Folder, name: string }>}
 */
export async function openFile(caller, file, openPath, hub) {
  if (file instanceof Blob) return { folder: memoryFolder(caller, [['file', file]]), name: 'file' };
  const text = String(file);
  if (isHubAddress(text)) {
    const name = /\/([^/?#]+\.json)(?:[?#].*)?$/.exec(text)?.[1] ?? 'tokenizer.json';
    return { folder: await openOnHub(caller, text, hub), name: decodeURIComponent(name) };
  }
  const path = openPath && !/^(https?|blob|data):/i.test(text);
  if (!path)
    return { folder: remoteFile(caller, readUrl(caller, 'file', text, globalThis.location?.href)), name: text };
  const at = Math.max(text.lastIndexOf('/'), text.lastIndexOf('\\'));
  return { folder: await openPath(caller, at < 0 ? '.' : text.slice(0, at + 1)), name: text.slice(at + 1) };
}

/** Checks the address of a folder. @param {string} caller @param {string} text @param {string} [base] */
function readAddress(caller, text, base) {
  const url = readUrl(caller, 'files', text, base);
  if (!/^https?:$/.test(url.protocol)) throw argumentError(caller, 'files', text, 'a URL of a folder, with https:');
  if (url.username || url.password)
    throw argumentError(caller, 'files', `${url.protocol}//…@${url.host}`, 'a URL without a user name and a password');
  return url.href;
}

/** @param {string} caller @param {string} parameter @param {string} text @param {string} [base] */
function readUrl(caller, parameter, text, base) {
  try {
    return new URL(text, base);
  } catch {
    throw argumentError(caller, parameter, text, 'a path or a URL');
  }
}

/** @param {string} caller @param {readonly File[]} list @returns {[string, File][]} */
const namedFiles = (caller, list) =>
  list.map((file, i) => {
    if (!(file instanceof Blob && typeof file.name === 'string'))
      throw argumentError(caller, `files[${i}]`, file, 'a File; or files by name: { name: bytes }');
    return [file.webkitRelativePath || file.name, file];
  });

/** @param {string} caller @param {FileSystemDirectoryHandle} folder @returns {Promise<Folder>} */
async function handleFolder(caller, folder) {
  /** @type {[string, Blob][]} */
  const files = [];
  try {
    for await (const entry of /** @type {any} */ (folder).values())
      if (entry.kind === 'file') files.push([entry.name, await entry.getFile()]);
  } catch (cause) {
    throw unreadable(caller, `the folder ${folder.name}`, cause);
  }
  return memoryFolder(caller, files);
}

/**
 * Returns a folder of files in memory, by their base names. If two files have the same name, the one nearer to the root
 * is used.
 * @param {string} caller
 * @param {[string, unknown][]} files by path
 * @returns {Folder}
 */
function memoryFolder(caller, files) {
  const split = files
    .map(([path, file]) => ({ path, parts: path.split('/'), file }))
    .sort((a, b) => b.parts.length - a.parts.length);
  /** @type {Map<string, Blob | Uint8Array>} */
  const known = new Map();
  /** The folder of config.json. Paths with subfolders are relative to it. */
  const root =
    split
      .filter(({ parts }) => parts.at(-1) === 'config.json')
      .at(-1)
      ?.parts.slice(0, -1) ?? [];
  for (const { path, parts, file } of split)
    known.set(/** @type {string} */ (parts.at(-1)), readFile(caller, path, file));
  /** @param {Blob | Uint8Array} file @param {string} name @param {number} begin @param {number} end */
  const read = async (file, name, begin, end) => {
    if (!(file instanceof Blob)) return file.subarray(begin, end);
    try {
      return new Uint8Array(await file.slice(begin, end).arrayBuffer());
    } catch (cause) {
      throw unreadable(caller, name, cause);
    }
  };
  return {
    names: [...known.keys()],
    size: async (name) => {
      const file = known.get(name);
      return file === undefined ? null : file instanceof Blob ? file.size : file.length;
    },
    read: (name, begin, end) => read(/** @type {Blob | Uint8Array} */ (known.get(name)), name, begin, end),
    readInner: async (path, most) => {
      const inner = split.find(({ parts }) => parts.join('/') === [...root, path].join('/'));
      return inner ? read(readFile(caller, path, inner.file), path, 0, most) : null;
    },
    close: nothing,
  };
}

/** @param {string} caller @param {string} path @param {unknown} file @returns {Blob | Uint8Array} */
function readFile(caller, path, file) {
  if (file instanceof Blob) return file;
  const isBytes = ArrayBuffer.isView(file) || /^\[object (Shared)?ArrayBuffer\]$/.test(tagOf(file));
  if (!isBytes) throw argumentError(caller, `files[${quote(path)}]`, file, 'a File, a Blob or bytes');
  return readBytes(`${caller}: ${quote(path)}`, file);
}

/**
 * Returns the tag of a value. instanceof fails for objects of another realm; the tag does not.
 * @param {unknown} value
 */
const tagOf = (value) => Object.prototype.toString.call(value);
