// Keeps received bytes in memory for a file that is not cached. Bytes before the current read are dropped.

import type { Store } from './types.ts';

/** Minimum bytes that are joined into a Blob, which a browser may store on disk. */
const BLOCK = 2 ** 22;
/** Maximum bytes that stay in memory if the next reads are not known. */
const MAX_BYTES = 2 ** 26;

/** stamp: grows with each write */
export type Part = { at: number; end: number; data: Uint8Array | Blob; stamp: number };

/** keepsAll: returns true if no bytes may be dropped, because the server cannot send them again */
export function memoryStore(keepsAll: () => boolean): Store {
  /** Parts in ascending order, without overlap. */
  let parts: Part[] = [];
  let [bytesKept, stamp] = [0, 0];
  const keepOnly = (isKept: (part: Part) => boolean) => {
    parts = parts.filter(isKept);
    bytesKept = parts.reduce((sum, { at, end }) => sum + end - at, 0);
  };
  const partAt = (at: number) => parts.find((part) => part.at <= at && at < part.end);
  const presentFrom = (at: number) => {
    let end = at;
    for (const part of parts) if (part.at <= end && end < part.end) end = part.end;
    return end - at;
  };
  return {
    isFinished: false,
    presentFrom,
    nextPresent: (at) => (partAt(at) ? at : (parts.find((part) => part.at > at)?.at ?? Infinity)),
    async read(at, target) {
      for (let done = 0; done < target.length; ) {
        const part = partAt(at + done) as Part;
        const [from, to] = [at + done - part.at, Math.min(at + target.length, part.end) - part.at];
        target.set(await bytesOf(part.data, from, to), done);
        done += to - from;
      }
      return true;
    },
    async write(at, bytes) {
      const end = at + bytes.length;
      for (let begin = at + presentFrom(at); begin < end; begin += presentFrom(begin)) {
        const found = parts.findIndex((part) => part.at > begin);
        const next = found < 0 ? parts.length : found;
        const until = Math.min(end, parts[next]?.at ?? end);
        parts.splice(next, 0, { at: begin, end: until, data: bytes.slice(begin - at, until - at), stamp: stamp++ });
        bytesKept += until - begin;
      }
      if (keepsAll()) parts = joined(parts);
      else if (bytesKept > MAX_BYTES) {
        const middle = parts.map((other) => other.stamp).sort((a, b) => a - b)[parts.length >> 1];
        keepOnly((other) => other.stamp >= middle);
      }
    },
    expectWhole: async () => {},
    drop(before) {
      if (!keepsAll()) keepOnly(({ end }) => end > before);
    },
    finish: async () => {},
    discard: async () => {},
    close: async () => {
      parts = [];
    },
  };
}

const bytesOf = async (data: Uint8Array | Blob, from: number, to: number) =>
  data instanceof Blob ? new Uint8Array(await data.slice(from, to).arrayBuffer()) : data.subarray(from, to);

/** Joins the consecutive parts at the end of the list into a Blob if they have at least BLOCK bytes. */
function joined(parts: Part[]): Part[] {
  let first = parts.length - 1;
  const isSmall = ({ data }: Part) => !(data instanceof Blob);
  while (first > 0 && isSmall(parts[first - 1]) && parts[first - 1].end === parts[first].at) first--;
  const last = parts.slice(first);
  const bytes = last.reduce((sum, { at, end }) => sum + end - at, 0);
  if (bytes < BLOCK) return parts;
  const data = new Blob(last.map((part) => part.data as any));
  return [...parts.slice(0, first), { at: last[0].at, end: last[0].at + bytes, data, stamp: last[0].stamp }];
}
