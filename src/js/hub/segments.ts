// Stores received bytes in files named BEGIN-END, which show what is present: an interrupted download is handled like a
// file of which only some ranges were read.

import { memoryStore } from './memoryStore.ts';

import type { Store } from './types.ts';

export type SegmentFiles = {
  list: () => Promise<string[]>;
  size: (name: string) => Promise<number>;
  read: (name: string, at: number, target: Uint8Array) => Promise<void>;
  /** writes a whole file or none */
  write: (name: string, parts: Uint8Array[]) => Promise<void>;
  clear: () => Promise<void>;
};
/** Bytes of the file from begin to end. isChecked: the size of the segment's file is verified. */
export type Segment = { begin: number; end: number; name: string; isChecked: boolean };

/** Bytes of a segment. An interruption loses about this number of bytes at most. */
const SEGMENT = 2 ** 23;
/** Marks a file that is complete and was compared with its hash. */
const COMPLETE = 'complete';

export class SegmentStore {
  #files: SegmentFiles;
  #size: number;
  #onFailure: (cause: unknown) => void;
  #segments: Segment[] = [];
  #unsaved: { begin: number; end: number; parts: Uint8Array[] } = { begin: 0, end: 0, parts: [] };
  /** Store that replaces the segments after a failure to write. */
  #memory: Store | undefined;
  #keepsAll: () => boolean;
  #whyNoRoom: ((bytes: number) => Promise<string | undefined>) | undefined;
  isFinished = false;

  constructor(
    files: SegmentFiles,
    size: number,
    {
      onFailure,
      keepsAll,
      whyNoRoom,
    }: {
      onFailure: (cause: unknown) => void;
      keepsAll: () => boolean;
      whyNoRoom?: (bytes: number) => Promise<string | undefined>;
    },
  ) {
    this.#files = files;
    this.#size = size;
    this.#onFailure = onFailure;
    this.#keepsAll = keepsAll;
    this.#whyNoRoom = whyNoRoom;
  }

  async load() {
    const names = await this.#files.list().catch(() => [] as string[]);
    for (const name of names) {
      const [, begin, end] = (/^(\d+)-(\d+)$/.exec(name) ?? []).map(Number);
      if (begin < end && end <= this.#size) this.#segments.push({ begin, end, name, isChecked: false });
    }
    this.#segments.sort((a, b) => a.begin - b.begin);
    this.isFinished = names.includes(COMPLETE) && this.presentFrom(0) === this.#size;
    return this;
  }

  /** Number of bytes in segments. */
  get bytes() {
    let [bytes, at] = [0, 0];
    for (const { begin, end } of this.#segments) {
      bytes += Math.max(end - Math.max(begin, at), 0);
      at = Math.max(at, end);
    }
    return bytes;
  }

  presentFrom(at: number) {
    let end = at;
    for (let before = -1; before < end; ) {
      before = end;
      for (const segment of this.#segments) {
        if (segment.begin > end) break;
        end = Math.max(end, segment.end);
      }
      if (this.#unsaved.begin <= end) end = Math.max(end, this.#unsaved.end);
      end += this.#memory?.presentFrom(end) ?? 0;
    }
    return end - at;
  }

  nextPresent(at: number) {
    if (this.presentFrom(at) > 0) return at;
    const { begin, end } = this.#unsaved;
    const first = this.#segments.find((segment) => segment.begin > at)?.begin ?? Infinity;
    const unsaved = end > begin && begin > at ? begin : Infinity;
    return Math.min(this.#memory?.nextPresent(at) ?? Infinity, first, unsaved);
  }

  async read(at: number, target: Uint8Array) {
    for (let done = 0; done < target.length; ) {
      const position = at + done;
      const rest = target.subarray(done);
      const segment = this.#segments.find(({ begin, end }) => begin <= position && position < end);
      const count = segment ? await this.#readSegment(segment, position, rest) : await this.#readRecent(position, rest);
      if (count === 0) return false;
      done += count;
    }
    return true;
  }

  /** returns the bytes read; 0 if the segment does not exist any more */
  async #readSegment(segment: Segment, at: number, target: Uint8Array): Promise<number> {
    const { begin, end, name } = segment;
    const count = Math.min(target.length, end - at);
    try {
      segment.isChecked ||= (await this.#files.size(name)) === end - begin;
      if (segment.isChecked) {
        await this.#files.read(name, at - begin, target.subarray(0, count));
        return count;
      }
    } catch {
      // Another page or process has removed the segment.
    }
    this.#segments = this.#segments.filter((other) => other !== segment);
    this.isFinished = false;
    return 0;
  }

  async #readRecent(at: number, target: Uint8Array) {
    const { begin, end, parts } = this.#unsaved;
    if (at < begin || at >= end) {
      const count = Math.min(this.#memory?.presentFrom(at) ?? 0, target.length);
      return count > 0 && (await this.#memory?.read(at, target.subarray(0, count))) ? count : 0;
    }
    let [from, count] = [begin, 0];
    for (const part of parts) {
      const first = at + count - from;
      if (first < part.length && count < target.length) {
        const bytes = part.subarray(first, first + target.length - count);
        target.set(bytes, count);
        count += bytes.length;
      }
      from += part.length;
    }
    return count;
  }

  async write(at: number, bytes: Uint8Array) {
    if (this.#memory) return this.#memory.write(at, bytes);
    const end = at + bytes.length;
    for (let begin = at + this.presentFrom(at); begin < end; begin += this.presentFrom(begin)) {
      const until = Math.min(end, this.nextPresent(begin));
      if (begin !== this.#unsaved.end) await this.flush();
      if (this.#unsaved.parts.length === 0) this.#unsaved = { begin, end: begin, parts: [] };
      this.#unsaved.parts.push(bytes.slice(begin - at, until - at));
      this.#unsaved.end = until;
    }
    if (this.#unsaved.end - this.#unsaved.begin >= SEGMENT) await this.flush();
  }

  async flush() {
    const { begin, end, parts } = this.#unsaved;
    if (parts.length === 0 || this.#memory) return;
    const name = `${begin}-${end}`;
    try {
      await this.#files.write(name, parts);
      this.#segments.push({ begin, end, name, isChecked: true });
      this.#segments.sort((a, b) => a.begin - b.begin);
      this.#unsaved = { begin: 0, end: 0, parts: [] };
    } catch (cause) {
      await this.fail(cause);
      // Removed, because a part of a file that does not fit only uses storage that other files need.
      this.#segments = [];
      await this.#files.clear().catch(() => {});
    }
  }

  /** Continues in memory, because bytes cannot be written. */
  async fail(cause: unknown) {
    if (this.#memory) return;
    this.#memory = memoryStore(this.#keepsAll);
    this.#onFailure(cause);
    const { begin, parts } = this.#unsaved;
    this.#unsaved = { begin: 0, end: 0, parts: [] };
    for (let at = begin, i = 0; i < parts.length; at += parts[i++].length) await this.#memory.write(at, parts[i]);
  }

  async expectWhole() {
    const reason = await this.#whyNoRoom?.(this.#size - this.bytes);
    if (reason !== undefined) await this.fail(new Error(reason));
  }

  drop(before: number) {
    this.#memory?.drop(before);
  }

  async finish() {
    await this.flush();
    if (this.#memory) return;
    try {
      await this.#files.write(COMPLETE, []);
      this.isFinished = true;
    } catch (cause) {
      await this.fail(cause);
    }
  }

  async discard() {
    this.#segments = [];
    this.#unsaved = { begin: 0, end: 0, parts: [] };
    await this.#files.clear().catch(() => {});
  }

  async close() {
    await this.flush();
    await this.#memory?.close();
  }
}
