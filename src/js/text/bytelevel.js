// The byte-level alphabet of GPT-2: every byte as a character that can be seen, so that a vocabulary is plain text.

/** @type {{ signs: string[], bytes: Int16Array } | undefined} */
let alphabet;

/** Made once, when it is needed. */
function getAlphabet() {
  if (alphabet) return alphabet;
  /** Others follow from 256 on. @param {number} byte */
  const standsForItself = (byte) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
  let next = 256;
  const signs = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(standsForItself(byte) ? byte : next++));
  const bytes = new Int16Array(next).fill(-1);
  for (const [byte, sign] of signs.entries()) bytes[sign.charCodeAt(0)] = byte;
  alphabet = { signs, bytes };
  return alphabet;
}

/** The 256 characters, by their bytes. */
export const byteSigns = () => getAlphabet().signs;

/** @param {string} text @returns {Uint8Array} */
export const toUtf8 = (text) => new TextEncoder().encode(text);

/** @param {string} sign one character @returns {string} a character for each byte of its UTF-8 */
export function toByteSigns(sign) {
  const { signs } = getAlphabet();
  const code = Number(sign.codePointAt(0));
  if (code < 0x80) return signs[code];
  const low = (/** @type {number} */ shift) => signs[0x80 | ((code >> shift) & 0x3f)];
  if (code < 0x800) return signs[0xc0 | (code >> 6)] + low(0);
  if (code < 0x10000) return signs[0xe0 | (code >> 12)] + low(6) + low(0);
  return signs[0xf0 | (code >> 18)] + low(12) + low(6) + low(0);
}

/** The bytes of a token; of one with other characters, those of its text. @param {string} token */
export function fromByteSigns(token) {
  const { bytes } = getAlphabet();
  const read = new Uint8Array(token.length);
  for (let i = 0; i < token.length; i++) {
    const byte = bytes[token.charCodeAt(i)] ?? -1;
    if (byte < 0) return toUtf8(token);
    read[i] = byte;
  }
  return read;
}

/** What is not UTF-8 becomes U+FFFD. @param {readonly Uint8Array[]} parts */
export function decodeUtf8(parts) {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
