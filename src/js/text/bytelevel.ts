// The byte-level alphabet of GPT-2 maps each byte to a printable character, so that a vocabulary is plain text.

let alphabet: { chars: string[]; bytes: Int16Array } | undefined;

/** Returns the alphabet, which is made at the first use. */
function getAlphabet() {
  if (alphabet) return alphabet;
  /** A printable character of Latin-1 is the byte with its code. Other bytes are U+0100 and following characters. */
  const isPrintable = (byte: number) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
  let next = 256;
  const chars = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isPrintable(byte) ? byte : next++));
  const bytes = new Int16Array(next).fill(-1);
  for (const [byte, char] of chars.entries()) bytes[char.charCodeAt(0)] = byte;
  alphabet = { chars, bytes };
  return alphabet;
}

/** Returns the 256 characters in the order of the bytes. */
export const byteChars = () => getAlphabet().chars;

export const toUtf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** char: one character; returns a character for each of its UTF-8 bytes */
export function toByteChars(char: string): string {
  const { chars } = getAlphabet();
  const code = Number(char.codePointAt(0));
  if (code < 0x80) return chars[code];
  const low = (shift: number) => chars[0x80 | ((code >> shift) & 0x3f)];
  if (code < 0x800) return chars[0xc0 | (code >> 6)] + low(0);
  if (code < 0x10000) return chars[0xe0 | (code >> 12)] + low(6) + low(0);
  return chars[0xf0 | (code >> 18)] + low(12) + low(6) + low(0);
}

/** Returns the bytes that a token represents, or the UTF-8 of the token if it has characters outside the alphabet. */
export function fromByteChars(token: string) {
  const { bytes } = getAlphabet();
  const read = new Uint8Array(token.length);
  for (let i = 0; i < token.length; i++) {
    const byte = bytes[token.charCodeAt(i)] ?? -1;
    if (byte < 0) return toUtf8(token);
    read[i] = byte;
  }
  return read;
}

/** Decodes UTF-8 that consists of several parts. Invalid bytes become U+FFFD. */
export function decodeUtf8(parts: readonly Uint8Array[]) {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
