// The replacements of SentencePiece, as its normalizers are stored: a double array over the bytes of what is replaced,
// and the texts that replace it.

import { decodeUtf8, toUtf8 } from './bytelevel.js';

/** @import { Edit } from './aligned.js' */
/** @import { Fields } from './fields.js' */

/** More bytes than this are not looked up together. */
const MOST_BYTES = 5;
/** The longest text that replaces another, in UTF-8 bytes. */
const MOST_TEXT = 1024;
/** Units of a text that are segmented at a time. */
const PIECE = 256;
const LEAF = 1 << 8;
/** The bits of a unit of the array that must be the byte, the highest of them zero. */
const LABEL = 0x800000ff;

/** Bytes of the longest text, each of which ends with a zero. @param {Uint8Array} texts */
function longestOf(texts) {
  let [longest, begin] = [0, 0];
  for (let at = 0; at <= texts.length; at++) {
    if (at < texts.length && texts[at] !== 0) continue;
    longest = Math.max(longest, at - begin);
    begin = at + 1;
  }
  return longest;
}

/** @param {Fields} fields */
function readMap(fields) {
  const name = 'precompiled_charsmap';
  const text = fields.string(name);
  let bytes;
  try {
    bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  } catch {
    throw fields.error(name, 'base64');
  }
  const view = new DataView(bytes.buffer);
  const size = bytes.length < 4 ? -1 : view.getUint32(0, true);
  if (size < 4 || size % 4 !== 0 || size + 4 > bytes.length) throw fields.error(name, 'an array and texts');
  const units = Uint32Array.from({ length: size / 4 }, (_, i) => view.getUint32(4 + 4 * i, true));
  const texts = bytes.subarray(4 + size);
  if (longestOf(texts) > MOST_TEXT) throw fields.error(name, `texts of at most ${MOST_TEXT} bytes`);
  return { units, texts };
}

/**
 * As the reference does: a text is replaced by what belongs to the shortest beginning of it that is known.
 * @param {ReturnType<typeof readMap>} map
 * @param {Uint8Array} bytes
 */
function lookUp({ units, texts }, bytes) {
  const offset = (/** @type {number} */ unit) => (unit >>> 10) << ((unit & 0x200) >>> 6);
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
 * The graphemes of a text. The platform's segmenter needs time by the square of a text's length: it is given pieces of
 * it. The last grapheme of a piece may go on in the next one, which begins with it.
 * @param {string} text
 * @returns {Generator<{ segment: string, index: number }>}
 */
export function* graphemesOf(text) {
  let size = PIECE;
  for (let from = 0; from < text.length; ) {
    // No piece ends between the halves of a character.
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
    // One that fills its piece is read again in a larger one.
    size = next === from ? 2 * size : PIECE;
    from = next;
  }
}

/** @param {Fields} fields @returns {(text: string) => Edit[]} */
export function precompiled(fields) {
  const map = readMap(fields);
  /** @type {Map<string, string | null>} */
  const known = new Map();
  const find = (/** @type {string} */ part) => {
    let found = known.get(part);
    if (found === undefined) known.set(part, (found = lookUp(map, toUtf8(part))));
    return found;
  };
  return (text) => {
    /** @type {Edit[]} */
    const edits = [];
    for (const { segment, index } of graphemesOf(text)) {
      const whole = toUtf8(segment).length <= MOST_BYTES ? find(segment) : null;
      if (whole !== null) edits.push([index, index + segment.length, whole]);
      else
        for (let at = 0; at < segment.length; ) {
          const sign = String.fromCodePoint(Number(segment.codePointAt(at)));
          const replaced = find(sign);
          if (replaced !== null) edits.push([index + at, index + at + sign.length, replaced]);
          at += sign.length;
        }
    }
    return edits.filter(([begin, end, replaced]) => text.slice(begin, end) !== replaced);
  };
}
