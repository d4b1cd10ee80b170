// Writes and reads a file with the answer to `show` for the initial state. The page shows this answer before the worker
// has read the model. The worker's own answer replaces it.

/** @typedef {{ part: string } & Record<string, unknown>} Part of an answer */

/** @param {Float32Array} numbers */
const letters = ({ buffer, byteOffset, byteLength }) =>
  btoa(Array.from(new Uint8Array(buffer, byteOffset, byteLength), (byte) => String.fromCharCode(byte)).join(''));

/** @param {string} text */
const numbers = (text) => new Float32Array(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);

/** @param {Part[]} parts */
export const foldAnswer = (parts) =>
  JSON.stringify(parts, (_, value) => (value instanceof Float32Array ? { float32: letters(value) } : value));

/** @param {string} text @returns {Part[]} empty if the file is invalid, because the worker answers anyway */
export function unfoldAnswer(text) {
  try {
    return JSON.parse(text, (_, value) => (typeof value?.float32 === 'string' ? numbers(value.float32) : value));
  } catch {
    return [];
  }
}
