// A folder on disk, read in ranges.

import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unreadable } from '../models/files.js';

/** @import { FileHandle } from 'node:fs/promises' */
/** @import { Folder } from '../models/files.js' */

/**
 * @param {string} caller
 * @param {string} place a path, or a URL with file:
 * @returns {Promise<Folder>}
 */
export async function openPath(caller, place) {
  const path = place.startsWith('file:') ? fileURLToPath(place) : place;
  /** @type {string[]} */
  let names;
  try {
    names = await readdir(path);
  } catch (cause) {
    throw unreadable(caller, `the folder ${path}`, cause);
  }
  /** @type {Map<string, FileHandle>} */
  const handles = new Map();
  const handleOf = async (/** @type {string} */ name) => {
    const handle = handles.get(name) ?? (await open(join(path, name)));
    handles.set(name, handle);
    return handle;
  };
  return {
    names,
    size: async (name) => (names.includes(name) ? (await (await handleOf(name)).stat()).size : null),
    read: async (name, begin, end, room) => {
      const bytes = room ?? new Uint8Array(end - begin);
      const { bytesRead } = await (await handleOf(name)).read(bytes, 0, bytes.length, begin);
      return bytes.subarray(0, bytesRead);
    },
    close: async () => {
      for (const handle of handles.values()) await handle.close();
    },
  };
}
