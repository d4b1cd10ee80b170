// Encodes protocol buffers. A message is a list of numbered fields. Bytes are copied only by join().

/** bytes in several parts */
export type Piece = { size: number; parts: Uint8Array[] };

const utf8 = new TextEncoder();
const [VARINT, BLOCK, FOUR_BYTES] = [0, 2, 5];

const piece = (bytes: Uint8Array): Piece => ({ size: bytes.length, parts: [bytes] });

export const message = (...pieces: Piece[]): Piece => ({
  size: pieces.reduce((sum, { size }) => sum + size, 0),
  parts: pieces.flatMap(({ parts }) => parts),
});

/** Encodes an integer with seven bits per byte, the lowest bits first. The eighth bit is set if more bytes follow. */
function varint(value: number) {
  const bytes = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Uint8Array.from([...bytes, Number(rest)]);
}

const tag = (field: number, kind: number) => piece(varint(field * 8 + kind));

/** @param value an integer */
export const integer = (field: number, value: number) => message(tag(field, VARINT), piece(varint(value)));

export const float = (field: number, value: number) =>
  message(tag(field, FOUR_BYTES), piece(new Uint8Array(Float32Array.of(value).buffer)));

/** Encodes a length-delimited field, which is a nested message or bytes. */
export function block(field: number, ...pieces: Piece[]) {
  const inside = message(...pieces);
  return message(tag(field, BLOCK), piece(varint(inside.size)), inside);
}

export const bytes = (field: number, value: Uint8Array) => block(field, piece(value));

export const string = (field: number, value: string) => bytes(field, utf8.encode(value));

/** Copies all parts to one array. */
export function join({ size, parts }: Piece) {
  const joined = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
