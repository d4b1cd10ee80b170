// Writes and reads a file with the answer to `show` for the initial state. The page shows this answer before the worker
// has read the model. The worker's own answer replaces it.

/** of an answer */
export type Part = { part: string } & Record<string, unknown>;

const letters = ({ buffer, byteOffset, byteLength }: Float32Array) =>
  btoa(Array.from(new Uint8Array(buffer, byteOffset, byteLength), (byte) => String.fromCharCode(byte)).join(''));

const numbers = (text: string) =>
  new Float32Array(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);

export const foldAnswer = (parts: Part[]) =>
  JSON.stringify(parts, (_, value) => (value instanceof Float32Array ? { float32: letters(value) } : value));

/** Returns no parts if the file is invalid, because the worker answers anyway. */
export function unfoldAnswer(text: string): Part[] {
  try {
    return JSON.parse(text, (_, value) => (typeof value?.float32 === 'string' ? numbers(value.float32) : value));
  } catch {
    return [];
  }
}
