// SentencePiece's `precompiled_charsmap`: a double-array trie over UTF-8 bytes, and the replacements.

import { HeadlightError } from '../check/errors.ts';
import type { Edit } from './aligned.ts';
import { decodeUtf8, toUtf8 } from './bytelevel.ts';
import type { Fields } from './fields.ts';

/** Maximum bytes of a grapheme that is looked up as a whole, not by its characters. */
const MAX_BYTES = 5;
/** Maximum bytes of a replacement. */
const MAX_TEXT = 1024;
/** UTF-16 units of a text that are segmented at once. */
const PIECE = 256;
/** Bit of a unit of the array that is set if the node has a value. */
const LEAF = 1 << 8;
/** Bits of a unit of the array for the byte of the node. The highest bit is set only in units that are values. */
const LABEL = 0x800000ff;

/** Returns the length of the longest of the zero-terminated texts. */
function longestOf(texts: Uint8Array) {
  let [longest, begin] = [0, 0];
  for (let at = 0; at <= texts.length; at++) {
    if (at < texts.length && texts[at] !== 0) continue;
    longest = Math.max(longest, at - begin);
    begin = at + 1;
  }
  return longest;
}

const NAME = 'precompiled_charsmap';

function readBase64(fields: Fields) {
  try {
    return Uint8Array.from(atob(fields.string(NAME)), (char) => char.charCodeAt(0));
  } catch (error) {
    throw error instanceof HeadlightError ? error : fields.error(NAME, 'base64');
  }
}

function readMap(bytes: Uint8Array<ArrayBuffer>, fields: Fields) {
  const view = new DataView(bytes.buffer);
  const size = bytes.length < 4 ? -1 : view.getUint32(0, true);
  if (size < 4 || size % 4 !== 0 || size + 4 > bytes.length) throw fields.error(NAME, 'an array and texts');
  const units = Uint32Array.from({ length: size / 4 }, (_, i) => view.getUint32(4 + 4 * i, true));
  const texts = bytes.subarray(4 + size);
  if (longestOf(texts) > MAX_TEXT) throw fields.error(NAME, `texts of at most ${MAX_TEXT} bytes`);
  return { units, texts };
}

/** Returns the replacement of the shortest prefix of the text that is in the trie, as Hugging Face's tokenizers do. */
function lookUp({ units, texts }: ReturnType<typeof readMap>, bytes: Uint8Array) {
  const offset = (unit: number) => (unit >>> 10) << ((unit & 0x200) >>> 6);
  let node = offset(units[0]);
  for (const byte of bytes) {
    if (byte === 0) return null;
    node ^= byte;
    const unit = units[node];
    if (unit === undefined || (unit & LABEL) >>> 0 !== byte) return null;
    node ^= offset(unit);
    if (!(unit & LEAF)) continue;
    const from = units[node] & 0x7fffffff;
    const end = texts.indexOf(0, from);
    return decodeUtf8([texts.subarray(from, end < 0 ? texts.length : end)]);
  }
  return null;
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/**
 * Intl.Segmenter takes quadratic time, so it gets pieces. The last grapheme of a piece may continue in the next, which
 * begins with it.
 */
export function* graphemesOf(text: string): Generator<{ segment: string; index: number }> {
  let size = PIECE;
  for (let from = 0; from < text.length; ) {
    // A piece must not end inside a surrogate pair.
    const end = from + size + Number((text.codePointAt(from + size - 1) ?? 0) > 0xffff);
    let last = null;
    let next = from;
    for (const { segment, index } of graphemes.segment(text.slice(from, end))) {
      if (last) yield last;
      last = { segment, index: from + index };
      next = last.index;
    }
    if (end >= text.length) {
      if (last) yield last;
      return;
    }
    // A grapheme that fills a whole piece is read again in a larger piece.
    size = next === from ? 2 * size : PIECE;
    from = next;
  }
}

/** bytes: contents of the map; default: the field, in base64 */
export function precompiled(
  fields: Fields,
  bytes: Uint8Array<ArrayBuffer> = readBase64(fields),
): (text: string) => Edit[] {
  const map = readMap(bytes, fields);
  const cache: Map<string, string | null> = new Map();
  const find = (part: string) => {
    let found = cache.get(part);
    if (found === undefined) cache.set(part, (found = lookUp(map, toUtf8(part))));
    return found;
  };
  return (text) => {
    const edits: Edit[] = [];
    for (const { segment, index } of graphemesOf(text)) {
      const whole = toUtf8(segment).length <= MAX_BYTES ? find(segment) : null;
      if (whole !== null) edits.push([index, index + segment.length, whole]);
      else
        for (let at = 0; at < segment.length; ) {
          const char = String.fromCodePoint(Number(segment.codePointAt(at)));
          const replaced = find(char);
          if (replaced !== null) edits.push([index + at, index + at + char.length, replaced]);
          at += char.length;
        }
    }
    return edits.filter(([begin, end, replaced]) => text.slice(begin, end) !== replaced);
  };
}
