// A folder on disk, read in ranges.

import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unreadable } from '../check/errors.js';
import { hubHint } from '../models/checkpoint/hubNames.js';

/** @import { FileHandle } from 'node:fs/promises' */
/** @import { Folder } from '../models/checkpoint/files.js' */

/** To open a pipe must not wait for somebody who writes into it. Windows has no such flag. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * @param {string} caller
 * @param {string} place a path, or a URL with file:
 * @param {AbortSignal} [signal]
 * @returns {Promise<Folder>}
 */
export async function openPath(caller, place, signal) {
  const { path, names } = await list(caller, place);
  /** @type {Map<string, Promise<FileHandle>>} */
  const handles = new Map();
  const handleOf = (/** @type {string} */ name) => {
    const handle = handles.get(name) ?? openFile(join(path, name));
    handles.set(name, handle);
    return handle;
  };
  /** @template T @param {string} name @param {(handle: FileHandle) => Promise<T>} use @returns {Promise<T>} */
  const using = async (name, use) => {
    signal?.throwIfAborted();
    try {
      return await use(await handleOf(name));
    } catch (cause) {
      throw unreadable(caller, join(path, name), cause);
    }
  };
  return {
    names,
    size: async (name) => (names.includes(name) ? using(name, async (handle) => (await handle.stat()).size) : null),
    read: (name, begin, end, room) =>
      using(name, (handle) => fill(handle, room ?? new Uint8Array(end - begin), begin, signal)),
    close: async () => {
      const opened = await Promise.allSettled(handles.values());
      await Promise.allSettled(opened.map((one) => one.status === 'fulfilled' && one.value.close()));
    },
  };
}

/** @param {string} caller @param {string} place */
async function list(caller, place) {
  try {
    const path = /^file:/i.test(place) ? fileURLToPath(place) : place;
    return { path, names: await readdir(path) };
  } catch (/** @type {any} */ cause) {
    const hint = cause?.code === 'ENOENT' ? hubHint(place) : '';
    throw unreadable(caller, `the folder ${place}`, `${cause?.message ?? cause}${hint}`);
  }
}

/** @param {string} path */
async function openFile(path) {
  const handle = await open(path, READ);
  const about = await handle.stat();
  if (about.isFile()) return handle;
  await handle.close();
  throw new Error(`it is ${about.isDirectory() ? 'a folder' : 'no regular file'}`);
}

/**
 * @param {FileHandle} handle
 * @param {Uint8Array} room
 * @param {number} begin
 * @param {AbortSignal} [signal]
 */
async function fill(handle, room, begin, signal) {
  let at = 0;
  // The system may give less than what is asked for, and gives nothing at the end of the file.
  while (at < room.length) {
    signal?.throwIfAborted();
    const { bytesRead } = await handle.read(room, at, room.length - at, begin + at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return room.subarray(0, at);
}
