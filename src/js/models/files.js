// The files of a model, wherever they are: a folder on disk, a URL, or what a visitor has chosen or dropped. They are
// read in ranges.

import { argumentError, HeadlightError } from '../check/errors.js';

/**
 * @typedef {string | URL | Readonly<Record<string, Blob | ArrayBuffer | ArrayBufferView>> | FileList | readonly File[]
 *   | FileSystemDirectoryHandle} ModelFiles a folder: a path in Node, or a URL; or files by name
 */
/**
 * size is null where there is no such file. room, as long as what is read, may be where it is put.
 * @typedef {object} Folder
 * @property {readonly string[] | null} names null where they cannot be listed
 * @property {(name: string) => Promise<number | null>} size
 * @property {(name: string, begin: number, end: number, room?: Uint8Array) => Promise<Uint8Array>} read
 * @property {() => Promise<void>} close
 */
/** @typedef {(caller: string, path: string) => Promise<Folder>} OpenPath */

const nothing = async () => {};

/**
 * @param {string} caller
 * @param {ModelFiles} files
 * @param {OpenPath} [openPath] where there are paths
 * @param {AbortSignal} [signal]
 * @returns {Promise<Folder>}
 */
export async function openFolder(caller, files, openPath, signal) {
  if (typeof files === 'string' || files instanceof URL) {
    const text = String(files);
    if (/^(https?|blob|data):/.test(text)) return remoteFolder(caller, text, signal);
    if (openPath) return openPath(caller, text);
    if (!globalThis.location)
      throw argumentError(
        caller,
        'files',
        text,
        "a URL, or files by name: a path can be opened by 'headlight-attention' in Node",
      );
    return remoteFolder(caller, new URL(text, globalThis.location.href).href, signal);
  }
  if (files === null || typeof files !== 'object')
    throw argumentError(caller, 'files', files, 'a folder: a path, a URL, files by name, or a directory handle');
  if ('getFileHandle' in files) return handleFolder(caller, /** @type {FileSystemDirectoryHandle} */ (files));
  const list = typeof FileList !== 'undefined' && files instanceof FileList ? [...files] : files;
  const named = Array.isArray(list) ? Object.fromEntries(list.map((file) => [file.name, file])) : list;
  return memoryFolder(caller, /** @type {Record<string, Blob>} */ (named));
}

/** @param {string} caller @param {string} name @param {unknown} cause */
export const unreadable = (caller, name, cause) =>
  new HeadlightError('LOAD', `${caller}: ${name} cannot be read: ${cause instanceof Error ? cause.message : cause}`, {
    parameter: 'files',
    cause,
  });

/** @param {string} caller @param {string} base @param {AbortSignal} [signal] @returns {Folder} */
function remoteFolder(caller, base, signal) {
  const root = base.endsWith('/') ? base : `${base}/`;
  /** What a server that knows no ranges has sent whole. @type {Map<string, Blob>} */
  const whole = new Map();
  /** @param {string} name @param {RequestInit} [init] */
  const ask = async (name, init) => {
    try {
      return await fetch(new URL(name, root), { signal, ...init });
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      throw unreadable(caller, `${root}${name}`, cause);
    }
  };
  return {
    names: null,
    size: async (name) => {
      const response = await ask(name, { method: 'HEAD' });
      if (response.status === 404) return null;
      if (!response.ok) throw unreadable(caller, `${root}${name}`, `the server answers ${response.status}`);
      const length = response.headers.get('content-length');
      // Compressed on the way, the length is not that of the file.
      if (length && !response.headers.get('content-encoding')) return Number(length);
      const blob = await (await ask(name)).blob();
      whole.set(name, blob);
      return blob.size;
    },
    read: async (name, begin, end) => {
      const known = whole.get(name);
      if (known) return new Uint8Array(await known.slice(begin, end).arrayBuffer());
      const response = await ask(name, { headers: { Range: `bytes=${begin}-${end - 1}` } });
      if (!response.ok) throw unreadable(caller, `${root}${name}`, `the server answers ${response.status}`);
      if (response.status === 206) return new Uint8Array(await response.arrayBuffer());
      const blob = await response.blob();
      whole.set(name, blob);
      return new Uint8Array(await blob.slice(begin, end).arrayBuffer());
    },
    close: nothing,
  };
}

/** @param {string} caller @param {FileSystemDirectoryHandle} folder @returns {Promise<Folder>} */
async function handleFolder(caller, folder) {
  /** @type {Record<string, Blob>} */
  const files = {};
  try {
    for await (const entry of /** @type {any} */ (folder).values())
      if (entry.kind === 'file') files[entry.name] = await entry.getFile();
  } catch (cause) {
    throw unreadable(caller, `the folder ${folder.name}`, cause);
  }
  return memoryFolder(caller, files);
}

/** @param {string} caller @param {Record<string, unknown>} files @returns {Folder} */
function memoryFolder(caller, files) {
  /** @type {Map<string, Blob | Uint8Array>} */
  const known = new Map();
  for (const [path, file] of Object.entries(files)) {
    const name = path.split('/').pop() ?? path;
    if (file instanceof Blob) known.set(name, file);
    else if (file instanceof ArrayBuffer) known.set(name, new Uint8Array(file));
    else if (ArrayBuffer.isView(file)) known.set(name, new Uint8Array(file.buffer, file.byteOffset, file.byteLength));
    else throw argumentError(caller, `files[${JSON.stringify(name)}]`, file, 'a File, a Blob or bytes');
  }
  return {
    names: [...known.keys()],
    size: async (name) => {
      const file = known.get(name);
      return file === undefined ? null : file instanceof Blob ? file.size : file.length;
    },
    read: async (name, begin, end) => {
      const file = /** @type {Blob | Uint8Array} */ (known.get(name));
      if (!(file instanceof Blob)) return file.subarray(begin, end);
      try {
        return new Uint8Array(await file.slice(begin, end).arrayBuffer());
      } catch (cause) {
        throw unreadable(caller, name, cause);
      }
    },
    close: nothing,
  };
}
