// Opens the files of a model: a folder on disk, at a URL or on the Hub, or files that a user has chosen or dropped. All
// are read by ranges of bytes.

import { argumentError, unreadable } from '../../check/errors.ts';
import { quote } from '../../check/quote.ts';
import type { HubOptions } from '../../hub/options.ts';
import type { HubPlatform } from '../../hub/types.ts';
import { readBytes } from '../../io/bytes.ts';
import { chooseFile, fileOf } from './chosenFile.ts';
import { hubHint, isHubAddress } from './hubNames.ts';
import { remoteFile, remoteFolder } from './remote.ts';

/** a folder, a GGUF file or a PyTorch file (a path in Node, or a URL), hf://owner/name, or files by name */
export type ModelFiles =
  | string
  | URL
  | Readonly<Record<string, Blob | ArrayBuffer | ArrayBufferView>>
  | FileList
  | readonly File[]
  | File
  | FileSystemDirectoryHandle;
/**
 * size: null without such a file (if `required`, an ambiguous response is an error), Infinity if unknown before
 * reading. read: returns fewer bytes at the end, and may write to `buffer`, of end − begin bytes.
 */
export type Folder = {
  /** names of the files; null if they cannot be listed */
  names: readonly string[] | null;
  /** text that is added to the error about a missing file */
  hint?: string | undefined;
  origin?: HubOrigin | undefined;
  size: (name: string, required?: boolean) => Promise<number | null>;
  read: (name: string, begin: number, end: number, buffer?: Uint8Array) => Promise<Uint8Array>;
  /** a file, also in a subfolder, or its first `most` bytes if it is larger; null if there is none */
  readInner?: ((path: string, most: number) => Promise<Uint8Array | null>) | undefined;
  /** announces all reads of weights in their order, so that few requests are sent */
  plan?: ((ranges: { file: string; begin: number; end: number }[]) => Promise<void>) | undefined;
  /** called after all reads have succeeded: checks the files and completes them in the cache */
  complete?: (() => Promise<void>) | undefined;
  /** opens the bytes begin..end−1 for reading in sequence; set if this is faster than `read` */
  stream?: ((name: string, begin: number, end: number) => Stream) | undefined;
  close: () => Promise<void>;
};
/**
 * The model's id and commit on the Hub. renamedFrom: the requested id, if it differs. cached: its files are in the
 * cache; cacheNote: why they are not.
 */
export type HubOrigin = { id: string; revision: string; renamedFrom?: string; cached: boolean; cacheNote?: string };
/** The options for the Hub, and the code for the Hub on this platform; default: the code for a web page. */
export type Hub = { options?: HubOptions; platform?: () => Promise<HubPlatform> };
/** Read in sequence; the first request is sent at once. read: fills the target, or returns fewer bytes at the end. */
export type Stream = { read: (target: Uint8Array) => Promise<Uint8Array>; close: () => void };
export type OpenPath = (caller: string, path: string, signal?: AbortSignal) => Promise<Folder>;

const nothing = async () => {};

export async function openFolder(
  caller: string,
  files: ModelFiles,
  openPath?: OpenPath,
  signal?: AbortSignal,
  hub?: Hub,
): Promise<Folder> {
  if (typeof files === 'string' || files instanceof URL)
    return openAddress(caller, String(files), openPath, signal, hub);
  if (files === null || typeof files !== 'object')
    throw argumentError(caller, 'files', files, 'a folder: a path, a URL, files by name, or a directory handle');
  if (files instanceof Blob) return memoryFolder(caller, namedFiles(caller, [files as File]));
  if ('getFileHandle' in files) return handleFolder(caller, files as FileSystemDirectoryHandle);
  const isList = Array.isArray(files) || (typeof FileList !== 'undefined' && files instanceof FileList);
  return memoryFolder(caller, isList ? namedFiles(caller, [...files] as File[]) : Object.entries(files));
}

async function openAddress(
  caller: string,
  address: string,
  openPath?: OpenPath,
  signal?: AbortSignal,
  hub?: Hub,
): Promise<Folder> {
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

async function openOnHub(caller: string, address: string, hub?: Hub, signal?: AbortSignal) {
  const [{ openHubFolder }, platform] = await Promise.all([
    import('../../hub/hubFolder.ts'),
    hub?.platform?.() ?? import('../../hub/page.ts').then(({ page }) => page),
  ]);
  return openHubFolder(caller, address, hub?.options, platform, signal);
}

/** Opens a single file, as the file of a folder. */
export async function openFile(
  caller: string,
  file: string | URL | Blob,
  openPath?: OpenPath,
  hub?: Hub,
): Promise<{ folder: Folder; name: string }> {
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

function readAddress(caller: string, text: string, base?: string) {
  const url = readUrl(caller, 'files', text, base);
  if (!/^https?:$/.test(url.protocol)) throw argumentError(caller, 'files', text, 'a URL of a folder, with https:');
  if (url.username || url.password)
    throw argumentError(caller, 'files', `${url.protocol}//…@${url.host}`, 'a URL without a user name and a password');
  return url.href;
}

function readUrl(caller: string, parameter: string, text: string, base?: string) {
  try {
    return new URL(text, base);
  } catch {
    throw argumentError(caller, parameter, text, 'a path or a URL');
  }
}

const namedFiles = (caller: string, list: readonly File[]): [string, File][] =>
  list.map((file, i) => {
    if (!(file instanceof Blob && typeof file.name === 'string'))
      throw argumentError(caller, `files[${i}]`, file, 'a File; or files by name: { name: bytes }');
    return [file.webkitRelativePath || file.name, file];
  });

async function handleFolder(caller: string, folder: FileSystemDirectoryHandle): Promise<Folder> {
  const files: [string, Blob][] = [];
  try {
    for await (const entry of (folder as any).values())
      if (entry.kind === 'file') files.push([entry.name, await entry.getFile()]);
  } catch (cause) {
    throw unreadable(caller, `the folder ${folder.name}`, cause);
  }
  return memoryFolder(caller, files);
}

/** A folder in memory by base names; of equal names, the one nearer to the root. files: by path. */
function memoryFolder(caller: string, files: [string, unknown][]): Folder {
  const split = files
    .map(([path, file]) => ({ path, parts: path.split('/'), file }))
    .sort((a, b) => b.parts.length - a.parts.length);
  const known: Map<string, Blob | Uint8Array> = new Map();
  /** The folder of config.json. Paths with subfolders are relative to it. */
  const root =
    split
      .filter(({ parts }) => parts.at(-1) === 'config.json')
      .at(-1)
      ?.parts.slice(0, -1) ?? [];
  for (const { path, parts, file } of split) known.set(parts.at(-1) as string, readFile(caller, path, file));
  const read = async (file: Blob | Uint8Array, name: string, begin: number, end: number) => {
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
    read: (name, begin, end) => read(known.get(name) as Blob | Uint8Array, name, begin, end),
    readInner: async (path, most) => {
      const inner = split.find(({ parts }) => parts.join('/') === [...root, path].join('/'));
      return inner ? read(readFile(caller, path, inner.file), path, 0, most) : null;
    },
    close: nothing,
  };
}

function readFile(caller: string, path: string, file: unknown): Blob | Uint8Array {
  if (file instanceof Blob) return file;
  const isBytes = ArrayBuffer.isView(file) || /^\[object (Shared)?ArrayBuffer\]$/.test(tagOf(file));
  if (!isBytes) throw argumentError(caller, `files[${quote(path)}]`, file, 'a File, a Blob or bytes');
  return readBytes(`${caller}: ${quote(path)}`, file);
}

/** Returns the tag of a value. instanceof fails for objects of another realm; the tag does not. */
const tagOf = (value: unknown) => Object.prototype.toString.call(value);
