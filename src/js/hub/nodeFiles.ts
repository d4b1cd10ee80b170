// Files of the cache in Node, replaced atomically, so that other processes see either the old or the new content.

import { randomBytes } from 'node:crypto';
import { copyFile, link, lstat, mkdir, open, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

import type { SegmentFiles } from './segments.ts';

export async function writeWhole(path: string, data: Uint8Array[] | string) {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(temporary, typeof data === 'string' ? data : Buffer.concat(data));
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

/** Returns the size of a regular file or of the target of a link, or null if there is none. */
export async function sizeOf(path: string) {
  const about = await stat(path).catch(() => null);
  return about?.isFile() ? about.size : null;
}

/** Makes a file of a snapshot as a symbolic link, or as a hard link or a copy if the system does not allow that. */
export async function linkSnapshot(blob: string, path: string) {
  await mkdir(dirname(path), { recursive: true });
  if (await lstat(path).catch(() => null)) await rm(path, { force: true });
  try {
    await symlink(relative(dirname(path), blob), path);
  } catch (error: any) {
    // Another process has made the link.
    if (error.code === 'EEXIST') return;
    await link(blob, path).catch(() => copyFile(blob, path));
  }
}

export const segmentFiles = (folder: string): SegmentFiles => ({
  list: () => readdir(folder),
  size: async (name) => (await stat(join(folder, name))).size,
  async read(name, at, target) {
    const handle = await open(join(folder, name));
    try {
      const { bytesRead } = await handle.read(target, 0, target.length, at);
      if (bytesRead < target.length) throw new Error('it is truncated');
    } finally {
      await handle.close();
    }
  },
  write: (name, parts) => writeWhole(join(folder, name), parts),
  clear: () => rm(folder, { recursive: true, force: true }),
});
