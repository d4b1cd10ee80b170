// Reads a file from its store or else from the Hub. Consecutive reads share a response, so that few requests are
// needed; reads run one after the other.

import type { Checksum } from './checksum.ts';
import { changed } from './refusals.ts';
import type { RemoteFile } from './remoteFile.ts';
import type { Store } from './types.ts';

/** Maximum bytes of a file that is always received as a whole. */
const SMALL = 2 ** 20;
/** First request, in which most safetensors headers fit, and the largest. Requests grow while reads are consecutive. */
const [FIRST_REQUEST, MAX_REQUEST] = [2 ** 17, 2 ** 25];
/** Maximum bytes of a gap that is received too, because that takes less time than another request. */
const MAX_GAP = 2 ** 16;
/**
 * Share of a file that, once read, makes the rest be received too, so that it can be verified and stays in the cache.
 */
const MOST = 3 / 4;

export class HubFile {
  #remote: RemoteFile;
  #store: Store;
  #keeps: boolean;
  #checksum: Checksum | undefined;
  #stream: AsyncGenerator<{ at: number; bytes: Uint8Array }, void> | undefined;
  /** Positions of the next byte of the stream and of its end. */
  #at = 0;
  #until = 0;
  /** Ranges that will be read, in order, without overlap. */
  #planned: { begin: number; end: number }[] | undefined;
  #isWhole = false;
  /** The end of the previous read, and the number of bytes of consecutive reads up to it. */
  #lastEnd = 0;
  #consecutive = 0;
  #pending: Promise<unknown> = Promise.resolve();

  /** options: keeps: true if a file that was received as a whole stays in the store */
  constructor(remote: RemoteFile, store: Store, { keeps, checksum }: { keeps: boolean; checksum?: Checksum }) {
    this.#remote = remote;
    this.#store = store;
    this.#keeps = keeps;
    this.#checksum = checksum;
  }

  get size() {
    return this.#remote.size;
  }

  /** Announces reads, so that their bytes are requested together and no other bytes are requested. */
  async plan(ranges: { begin: number; end: number }[]) {
    this.#planned = merge(ranges, MAX_GAP);
    const bytes = this.#planned.reduce((sum, { begin, end }) => sum + end - begin, 0);
    if (this.#keeps && bytes >= MOST * this.size) await this.#expectWhole();
  }

  /** target: may be used for the result; returns the bytes, fewer if the file ends before `end` */
  read(begin: number, end: number, target?: Uint8Array): Promise<Uint8Array> {
    const until = Math.min(end, this.size);
    const bytes = target?.subarray(0, Math.max(until - begin, 0)) ?? new Uint8Array(Math.max(until - begin, 0));
    const read = this.#pending.then(() => this.#fill(begin, bytes));
    this.#pending = read.catch(() => {});
    return read;
  }

  /** Receives the rest of a file if most of it was read, and verifies it. */
  complete() {
    const completed = this.#pending.then(() => this.#complete());
    this.#pending = completed.catch(() => {});
    return completed;
  }

  async close() {
    await this.#stop().catch(() => {});
    await this.#store.close();
  }

  async #fill(begin: number, target: Uint8Array) {
    const end = begin + target.length;
    this.#consecutive = begin === this.#lastEnd ? this.#consecutive + target.length : 0;
    this.#lastEnd = end;
    if (this.size <= SMALL || (begin === 0 && end === this.size)) await this.#expectWhole();
    if (this.#planned) this.#store.drop(begin);
    for (let at = begin; at < end; ) {
      const present = Math.min(this.#store.presentFrom(at), end - at);
      if (present === 0) await this.#receive(at, end);
      else if (await this.#store.read(at, target.subarray(at - begin, at - begin + present))) at += present;
    }
    if (this.#isWhole && this.#store.presentFrom(0) === this.size) await this.#finish();
    return target;
  }

  async #expectWhole() {
    if (this.#isWhole || this.#store.isFinished) return;
    this.#isWhole = true;
    await this.#stop();
    await this.#store.expectWhole();
  }

  async #receive(at: number, end: number) {
    const isAhead = this.#stream && at >= this.#at && at < this.#until;
    const isNear = at - this.#at <= MAX_GAP || this.#isWhole || !this.#remote.hasRanges;
    if (!isAhead || !isNear) await this.#start(at, end);
    while (this.#stream && this.#store.presentFrom(at) === 0) {
      const { value, done } = await this.#stream.next();
      if (done || !value) this.#stream = undefined;
      else {
        this.#checksum?.update(value.at, value.bytes);
        await this.#store.write(value.at, value.bytes);
        this.#at = value.at + value.bytes.length;
        if (!this.#remote.hasRanges) this.#until = this.size;
      }
    }
  }

  async #start(at: number, end: number) {
    await this.#stop();
    this.#at = this.#isWhole && this.#keeps ? Math.min(at, this.#firstMissing()) : at;
    const planned = this.#planned?.find((range) => range.begin <= at && at < range.end);
    const ahead = Math.min(Math.max(FIRST_REQUEST, this.#consecutive), MAX_REQUEST);
    const wanted = this.#isWhole ? this.size : Math.max(end, planned ? planned.end : this.#planned ? 0 : at + ahead);
    this.#until = Math.min(wanted, this.size, Math.max(this.#store.nextPresent(this.#at), this.#at + 1));
    this.#stream = this.#remote.stream(this.#at, this.#until);
  }

  #present() {
    let bytes = 0;
    for (let at = this.#store.nextPresent(0); at < this.size; at = this.#store.nextPresent(at)) {
      const present = this.#store.presentFrom(at);
      bytes += present;
      at += present;
    }
    return bytes;
  }

  #firstMissing() {
    let at = 0;
    for (let present = this.#store.presentFrom(at); present > 0; present = this.#store.presentFrom(at)) at += present;
    return at;
  }

  async #stop() {
    await this.#stream?.return();
    this.#stream = undefined;
  }

  async #complete() {
    if (this.#checksum?.hasAll && !this.#keeps) return this.#finish();
    if (!this.#keeps || this.#store.isFinished) return;
    // Some formats do not announce their reads, so that #expectWhole was not called.
    if (!this.#isWhole && this.#present() >= MOST * this.size) await this.#expectWhole();
    if (!this.#isWhole) return;
    for (let at = this.#firstMissing(); at < this.size; at = this.#firstMissing()) await this.#receive(at, this.size);
    await this.#finish();
  }

  async #finish() {
    if (this.#store.isFinished) return;
    await this.#stop();
    if (this.#checksum && !(await this.#checksum.matches((at, target) => this.#store.read(at, target)))) {
      await this.#store.discard();
      throw changed(
        this.#remote.place,
        this.#remote.path,
        `its ${this.#checksum.name} is not the one that the Hub lists`,
      );
    }
    this.#checksum = undefined;
    await this.#store.finish();
  }
}

/** Sorts ranges, and merges ranges with at most `gap` bytes between them. */
export function merge(ranges: { begin: number; end: number }[], gap: number) {
  const merged: { begin: number; end: number }[] = [];
  for (const { begin, end } of [...ranges].sort((a, b) => a.begin - b.begin)) {
    const last = merged.at(-1);
    if (last && begin - last.end <= gap) last.end = Math.max(last.end, end);
    else if (end > begin) merged.push({ begin, end });
  }
  return merged;
}
