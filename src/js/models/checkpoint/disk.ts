// Reads ranges of the files in a folder on disk.

import { constants } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unreadable } from '../../check/errors.ts';
import type { Folder } from './files.ts';
import { hubHint } from './hubNames.ts';

/** O_NONBLOCK, so that opening a pipe does not wait for a writer. Windows has no such flag. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

export async function openPath(caller: string, place: string, signal?: AbortSignal): Promise<Folder> {
  const { path, names } = await list(caller, place);
  const handles: Map<string, Promise<FileHandle>> = new Map();
  const handleOf = (name: string) => {
    const handle = handles.get(name) ?? openFile(join(path, name));
    handles.set(name, handle);
    return handle;
  };
  const using = async <T>(name: string, use: (handle: FileHandle) => Promise<T>): Promise<T> => {
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
    read: (name, begin, end, target) =>
      using(name, (handle) => fill(handle, target ?? new Uint8Array(end - begin), begin, signal)),
    readInner: async (inner, most) => {
      const [first] = inner.split('/');
      if (!names.includes(first) || !/^[\w.-]+(\/[\w.-]+)?$/.test(inner) || inner.includes('..')) return null;
      return using(inner, async (handle) => {
        const { size } = await handle.stat();
        return fill(handle, new Uint8Array(Math.min(size, most)), 0, signal);
      });
    },
    close: async () => {
      const opened = await Promise.allSettled(handles.values());
      await Promise.allSettled(opened.map((result) => result.status === 'fulfilled' && result.value.close()));
    },
  };
}

async function list(caller: string, place: string) {
  try {
    const path = /^file:/i.test(place) ? fileURLToPath(place) : place;
    return { path, names: await readdir(path) };
  } catch (cause: any) {
    const hint = cause?.code === 'ENOENT' ? hubHint(place) : '';
    throw unreadable(caller, `the folder ${place}`, `${cause?.message ?? cause}${hint}`);
  }
}

async function openFile(path: string) {
  const handle = await open(path, READ);
  const about = await handle.stat();
  if (about.isFile()) return handle;
  await handle.close();
  throw new Error(`it is ${about.isDirectory() ? 'a folder' : 'not a regular file'}`);
}

/** returns shorter than the target if the file ends */
async function fill(handle: FileHandle, target: Uint8Array, begin: number, signal?: AbortSignal): Promise<Uint8Array> {
  let at = 0;
  // A read may return fewer bytes than requested, and 0 at the end of the file.
  while (at < target.length) {
    signal?.throwIfAborted();
    const { bytesRead } = await handle.read(target, at, target.length - at, begin + at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return target.subarray(0, at);
}
