// One file of the cache in Node. A file of which all bytes will be received is written in order to HASH.incomplete, and
// becomes a blob when it is complete; parts of others are segments.
//
// Two processes may receive the same file at once. Each writes the right bytes at their positions into the same file of
// its own name, HASH.headlight.incomplete, so that none damages what the other has written; other tools append to
// HASH.incomplete, which is therefore copied, not shared. When a download is interrupted, it gets their name.

import { constants } from 'node:fs';
import { copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { linkSnapshot, sizeOf } from './nodeFiles.js';
import { SegmentStore } from './segments.js';

/** @import { FileHandle } from 'node:fs/promises' */
/** @import { SegmentFiles } from './segments.js' */
/** @import { Store } from './types.js' */

/**
 * @typedef {object} Place
 * @property {number} size
 * @property {string} snapshot path of the file
 * @property {string} [blob] path; undefined if the hash is not known
 * @property {SegmentFiles} segments
 * @property {() => boolean} keepsAll
 * @property {() => Promise<void>} onStored
 * @property {(cause: unknown) => void} onFailure
 */

const PIECE = 2 ** 20;
/** Milliseconds after which another tool has stopped writing a file. */
const ABANDONED = 600_000;

export class NodeStore {
  #place;
  #segments;
  /** The complete file, or the one that is written in order. @type {FileHandle | undefined} */
  #handle;
  /** Bytes in it. */
  #length = 0;
  #isWhole = false;
  /** True after a failure to write. */
  #isBroken = false;
  isFinished = false;

  /** @param {Place} place */
  constructor(place) {
    this.#place = place;
    this.#segments = new SegmentStore(place.segments, place.size, place);
  }

  /** Finds the file, or parts of it. */
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

  /** Finds the beginning of the file that was received before. */
  async #readBegun() {
    const paths = [this.#temporary, this.#shared];
    const sizes = await Promise.all(paths.map(async (path) => (await sizeOf(path)) ?? 0));
    const longest = sizes[1] > sizes[0] ? 1 : 0;
    if (sizes[longest] === 0 || sizes[longest] > this.#place.size) return;
    this.#handle = await open(paths[longest]);
    this.#length = sizes[longest];
  }

  /** @param {string} path of the complete file */
  async #use(path) {
    this.#handle = await open(path);
    this.#length = this.#place.size;
    this.isFinished = true;
  }

  get #temporary() {
    return `${this.#place.blob ?? this.#place.snapshot}.headlight.incomplete`;
  }

  get #shared() {
    return `${this.#place.blob ?? this.#place.snapshot}.incomplete`;
  }

  /** @param {number} at */
  presentFrom(at) {
    if (at >= this.#length) return this.#segments.presentFrom(at);
    return this.#length - at + (this.isFinished ? 0 : this.#segments.presentFrom(this.#length));
  }

  /** @param {number} at */
  nextPresent(at) {
    return at < this.#length ? at : this.#segments.nextPresent(at);
  }

  /** @param {number} at @param {Uint8Array} target */
  async read(at, target) {
    const count = Math.max(0, Math.min(this.#length - at, target.length));
    for (let done = 0; done < count; ) {
      const handle = /** @type {FileHandle} */ (this.#handle);
      const { bytesRead } = await handle.read(target, done, count - done, at + done);
      if (bytesRead === 0) return this.#lose();
      done += bytesRead;
    }
    return count === target.length || this.#segments.read(at + count, target.subarray(count));
  }

  /** The file is shorter than it was: its bytes are received again. */
  async #lose() {
    await this.#handle?.close().catch(() => {});
    this.#handle = undefined;
    this.#length = 0;
    this.isFinished = false;
    return false;
  }

  /** @param {number} at @param {Uint8Array} bytes */
  async write(at, bytes) {
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

  /** Continues the download of another tool. */
  async #continueOther() {
    const about = await stat(this.#shared).catch(() => null);
    if (!about?.isFile() || about.size > this.#place.size) return;
    if (about.size <= ((await sizeOf(this.#temporary)) ?? 0)) return;
    // Another tool may be writing to it, so it is copied; a system that can do so shares the blocks.
    if (Date.now() - about.mtimeMs > ABANDONED) await rename(this.#shared, this.#temporary);
    else await copyFile(this.#shared, this.#temporary, constants.COPYFILE_FICLONE);
  }

  /** Appends segments that follow. */
  async #absorb() {
    for (;;) {
      const present = Math.min(this.#segments.presentFrom(this.#length), PIECE);
      if (present === 0) return;
      const bytes = new Uint8Array(present);
      if (!(await this.#segments.read(this.#length, bytes))) return;
      await writeAll(/** @type {FileHandle} */ (this.#handle), bytes, this.#length);
      this.#length += present;
    }
  }

  /** @param {number} before */
  drop(before) {
    this.#segments.drop(before);
  }

  async finish() {
    const { blob, snapshot, size, segments, onStored, onFailure } = this.#place;
    if (this.#isBroken || !this.#handle || this.#length < size) return;
    try {
      await this.#handle.truncate(size);
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
   * Gives the received file its final name. Another process may have done so, or may have given it the name for other
   * tools; and there may be a new file with the old name.
   * @param {FileHandle} handle
   * @param {string} target
   */
  async #rename(handle, target) {
    const { ino, dev } = await handle.stat();
    const isMine = async (/** @type {string} */ path) => {
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

  /** The bytes written so far can be read, and others stay in memory. @param {unknown} cause */
  async #fail(cause) {
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
    // Other tools can continue it.
    if ((await sizeOf(this.#shared)) === null) await rename(this.#temporary, this.#shared).catch(() => {});
  }
}

/** @param {FileHandle} handle @param {Uint8Array} bytes @param {number} at */
async function writeAll(handle, bytes, at) {
  for (let done = 0; done < bytes.length; )
    done += (await handle.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
}
