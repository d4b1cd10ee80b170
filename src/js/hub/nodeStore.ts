// One file of the cache in Node. If all bytes of a file will be received, they are written in order to HASH.incomplete,
// which becomes a blob when it is complete. Parts of other files are kept as segments. Two processes may receive the
// same file at once. Both write the same bytes at the same positions of one file with a name that only Headlight uses,
// HASH.headlight.incomplete, so that neither damages what the other has written. Other tools append to HASH.incomplete,
// so that file is copied, not shared. An interrupted download is renamed to HASH.incomplete.

import { constants } from 'node:fs';
import { copyFile, type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { linkSnapshot, sizeOf } from './nodeFiles.ts';
import { type SegmentFiles, SegmentStore } from './segments.ts';

export type Place = {
  size: number;
  snapshot: string;
  blob?: string | undefined;
  /** path of the file while it is received, without the extension */
  incomplete: string;
  segments: SegmentFiles;
  keepsAll: () => boolean;
  onStored: () => Promise<void>;
  onFailure: (cause: unknown) => void;
};

const PIECE = 2 ** 20;
/** Milliseconds without a change after which another tool is assumed to have stopped writing a file. */
const ABANDONED = 600_000;

export class NodeStore {
  #place: Place;
  #segments: SegmentStore;
  /** The complete file, or the incomplete file that is written in order. */
  #handle: FileHandle | undefined;
  #length = 0;
  #isWhole = false;
  #isBroken = false;
  isFinished = false;

  constructor(place: Place) {
    this.#place = place;
    this.#segments = new SegmentStore(place.segments, place.size, place);
  }

  /** Opens the complete file if there is one, else finds its parts. */
  async load() {
    const { snapshot, blob, size, onStored } = this.#place;
    if ((await sizeOf(snapshot)) === size) return this.#use(snapshot);
    if (blob && (await sizeOf(blob)) === size) {
      await linkSnapshot(blob, snapshot).then(onStored, this.#place.onFailure);
      return this.#use(blob);
    }
    await this.#segments.load();
    return this.#readBegun();
  }

  /** Opens the beginning of the file if an earlier download was interrupted. */
  async #readBegun() {
    const paths = [this.#temporary, this.#shared];
    const sizes = await Promise.all(paths.map(async (path) => (await sizeOf(path)) ?? 0));
    const longest = sizes[1] > sizes[0] ? 1 : 0;
    if (sizes[longest] === 0 || sizes[longest] > this.#place.size) return;
    this.#handle = await open(paths[longest]);
    this.#length = sizes[longest];
  }

  async #use(path: string) {
    this.#handle = await open(path);
    this.#length = this.#place.size;
    this.isFinished = true;
  }

  get #temporary() {
    return `${this.#place.incomplete}.headlight.incomplete`;
  }

  get #shared() {
    return `${this.#place.incomplete}.incomplete`;
  }

  presentFrom(at: number) {
    if (at >= this.#length) return this.#segments.presentFrom(at);
    return this.#length - at + (this.isFinished ? 0 : this.#segments.presentFrom(this.#length));
  }

  nextPresent(at: number) {
    return at < this.#length ? at : this.#segments.nextPresent(at);
  }

  async read(at: number, target: Uint8Array) {
    const count = Math.max(0, Math.min(this.#length - at, target.length));
    for (let done = 0; done < count; ) {
      const handle = this.#handle as FileHandle;
      const { bytesRead } = await handle.read(target, done, count - done, at + done);
      if (bytesRead === 0) return this.#lose();
      done += bytesRead;
    }
    return count === target.length || this.#segments.read(at + count, target.subarray(count));
  }

  /** Handles a file that has become shorter. The bytes are received again. */
  async #lose() {
    await this.#handle?.close().catch(() => {});
    this.#handle = undefined;
    this.#length = 0;
    this.isFinished = false;
    return false;
  }

  async write(at: number, bytes: Uint8Array) {
    if (!this.#handle || !this.#isWhole || this.#isBroken) return this.#segments.write(at, bytes);
    const begin = Math.max(at, this.#length);
    if (begin > this.#length || begin >= at + bytes.length) return undefined;
    try {
      await writeAll(this.#handle, bytes.subarray(begin - at), begin);
      this.#length = at + bytes.length;
      await this.#absorb();
    } catch (cause) {
      await this.#fail(cause);
      await this.#segments.write(begin, bytes.subarray(begin - at));
    }
    return undefined;
  }

  async expectWhole() {
    if (this.#isWhole || this.isFinished) return;
    this.#isWhole = true;
    try {
      await mkdir(dirname(this.#temporary), { recursive: true });
      await this.#continueOther();
      await this.#handle?.close();
      this.#handle = await open(this.#temporary, constants.O_RDWR | constants.O_CREAT, 0o644);
      this.#length = Math.min((await this.#handle.stat()).size, this.#place.size);
      await this.#absorb();
    } catch (cause) {
      await this.#fail(cause);
    }
  }

  async #continueOther() {
    const about = await stat(this.#shared).catch(() => null);
    if (!about?.isFile() || about.size > this.#place.size) return;
    if (about.size <= ((await sizeOf(this.#temporary)) ?? 0)) return;
    // Another tool may still be writing this file, so it is copied, without copying blocks if the file system can share
    // them.
    if (Date.now() - about.mtimeMs > ABANDONED) await rename(this.#shared, this.#temporary);
    else await copyFile(this.#shared, this.#temporary, constants.COPYFILE_FICLONE);
  }

  /** Appends the segments that directly follow the bytes written so far. */
  async #absorb() {
    for (;;) {
      const present = Math.min(this.#segments.presentFrom(this.#length), PIECE);
      if (present === 0) return;
      const bytes = new Uint8Array(present);
      if (!(await this.#segments.read(this.#length, bytes))) return;
      await writeAll(this.#handle as FileHandle, bytes, this.#length);
      this.#length += present;
    }
  }

  drop(before: number) {
    this.#segments.drop(before);
  }

  async finish() {
    const { blob, snapshot, size, segments, onStored, onFailure } = this.#place;
    if (this.#isBroken || !this.#handle || this.#length < size) return;
    try {
      await this.#handle.truncate(size);
      await mkdir(dirname(blob ?? snapshot), { recursive: true });
      await this.#rename(this.#handle, blob ?? snapshot);
      if (blob) await linkSnapshot(blob, snapshot);
      this.isFinished = true;
      await segments.clear().catch(() => {});
      await this.#removeShared();
      await onStored();
    } catch (cause) {
      onFailure(cause);
    }
  }

  /**
   * Renames the received file. Another process may have done so already, or renamed it to HASH.incomplete, and there
   * may be a new file with the old name.
   */
  async #rename(handle: FileHandle, target: string) {
    const { ino, dev } = await handle.stat();
    const isMine = async (path: string) => {
      const about = await stat(path).catch(() => null);
      return about?.ino === ino && about.dev === dev;
    };
    for (const path of [this.#temporary, this.#shared])
      if (await isMine(path)) await rename(path, target).catch(() => {});
    if (!(await isMine(target)) && (await sizeOf(target)) !== this.#place.size)
      throw new Error(`${target} was removed while it was written`);
  }

  async #removeShared() {
    const about = await stat(this.#shared).catch(() => null);
    if (about && Date.now() - about.mtimeMs > ABANDONED) await rm(this.#shared, { force: true }).catch(() => {});
  }

  async discard() {
    await this.#lose();
    await rm(this.#temporary, { force: true }).catch(() => {});
    await this.#segments.discard();
  }

  /** Handles a failure to write. The bytes written so far can still be read, and further bytes stay in memory. */
  async #fail(cause: unknown) {
    this.#isBroken = true;
    await this.#segments.fail(cause);
    await rm(this.#temporary, { force: true }).catch(() => {});
  }

  async close() {
    await this.#segments.close();
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close().catch(() => {});
    if (!handle || !this.#isWhole || this.isFinished || this.#isBroken) return;
    // The interrupted download is renamed, so that other tools can continue it.
    if ((await sizeOf(this.#shared)) === null) await rename(this.#temporary, this.#shared).catch(() => {});
  }
}

async function writeAll(handle: FileHandle, bytes: Uint8Array, at: number) {
  for (let done = 0; done < bytes.length; )
    done += (await handle.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
}
