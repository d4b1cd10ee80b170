// Encodes protocol buffers. A message is a list of numbered fields. Bytes are copied only by join().

/** @typedef {{ size: number, parts: Uint8Array[] }} Piece bytes in several parts */

const utf8 = new TextEncoder();
const [VARINT, BLOCK, FOUR_BYTES] = [0, 2, 5];

/** @param {Uint8Array} bytes @returns {Piece} */
const piece = (bytes) => ({ size: bytes.length, parts: [bytes] });

/** @param {Piece[]} pieces @returns {Piece} */
export const message = (...pieces) => ({
  size: pieces.reduce((sum, { size }) => sum + size, 0),
  parts: pieces.flatMap(({ parts }) => parts),
});

/**
 * Encodes an integer with seven bits per byte, the lowest bits first. The eighth bit is set if more bytes follow.
 * @param {number} value
 */
function varint(value) {
  const bytes = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Uint8Array.from([...bytes, Number(rest)]);
}

/** @param {number} field @param {number} kind */
const tag = (field, kind) => piece(varint(field * 8 + kind));

/** @param {number} field @param {number} value an integer */
export const integer = (field, value) => message(tag(field, VARINT), piece(varint(value)));

/** @param {number} field @param {number} value */
export const float = (field, value) =>
  message(tag(field, FOUR_BYTES), piece(new Uint8Array(Float32Array.of(value).buffer)));

/**
 * Encodes a length-delimited field, which is a nested message or bytes.
 * @param {number} field
 * @param {Piece[]} pieces
 */
export function block(field, ...pieces) {
  const inside = message(...pieces);
  return message(tag(field, BLOCK), piece(varint(inside.size)), inside);
}

/** @param {number} field @param {Uint8Array} value */
export const bytes = (field, value) => block(field, piece(value));

/** @param {number} field @param {string} value */
export const string = (field, value) => bytes(field, utf8.encode(value));

/** Copies all parts to one array. @param {Piece} whole */
export function join({ size, parts }) {
  const joined = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
