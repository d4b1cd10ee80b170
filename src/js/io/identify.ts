// Identifies a file by its first bytes, for errors about unexpected files.

export type Signature = { kind: string; at?: number; start: string | number[] };

const HINT = 'save its tensors as safetensors';
const SIGNATURES: Signature[] = [
  { kind: 'a GGUF file of llama.cpp: use readGguf', start: 'GGUF' },
  { kind: `an HDF5 file, as Keras writes (.h5): ${HINT}`, start: '\x89HDF\r\n\x1a\n' },
  { kind: 'an npy array: use readNpy', start: '\x93NUMPY' },
  { kind: 'a PyTorch checkpoint in the old format: use readTorch', start: '\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20' },
  ...[2, 3, 4, 5].map((protocol) => ({ kind: 'a Python pickle', start: [0x80, protocol] })),
  { kind: 'a TensorFlow Lite file', at: 4, start: 'TFL3' },
  { kind: 'a MATLAB file', start: 'MATLAB 5.0' },
  { kind: 'a Parquet file', start: 'PAR1' },
  { kind: 'an Arrow file', start: 'ARROW1' },
  { kind: 'compressed with gzip: decompress it first', start: '\x1f\x8b' },
  { kind: 'compressed with zstd: decompress it first', start: '\x28\xb5\x2f\xfd' },
  { kind: 'compressed with xz: decompress it first', start: '\xfd7zXZ\0' },
  { kind: 'compressed with bzip2: decompress it first', start: 'BZh' },
  { kind: 'a 7z archive', start: '7z\xbc\xaf\x27\x1c' },
  { kind: 'a tar archive', at: 257, start: 'ustar' },
  { kind: 'a Git LFS pointer, not the file that it points to', start: 'version https://git-lfs' },
];
/** Kinds of zip archives by the name of the first file in the archive. */
const ARCHIVES: [RegExp, string][] = [
  [/(^|\/)(data\.pkl|constants\.pkl|byteorder|version|\.format_version)$/, 'a PyTorch checkpoint: use readTorch'],
  [/\.npy$/, 'an npz archive: use readNpz'],
  [/^(metadata|config)\.json$|\.weights\.h5$/, `a Keras file: ${HINT}`],
];
const TEXT = /^\s*(<!doctype html|<html)|^\s*<\?xml|^\s*[[{]\s*["[{\]}\d-]/i;

/** The kind of a file, for some kinds with advice, by its first bytes; undefined if it is not recognized. */
export function identify(bytes: Uint8Array): string | undefined {
  if (bytes.length === 0) return 'an empty file';
  const signature = SIGNATURES.find(({ at = 0, start }) => startsWith(bytes, start, at));
  if (signature) return signature.kind;
  const head = String.fromCharCode(...bytes.subarray(0, 512));
  if (/^PK(\x03\x04|\x05\x06)/.test(head)) return identifyArchive(bytes, head);
  // A model of ONNX is a protobuf message that begins with field 1 (the version), followed by a string or a message.
  if (/^\x08[\x01-\x1f][\x12\x1a\x22\x32\x3a]/.test(head)) return 'an ONNX model';
  if (bytes.length > 8 && isSafetensors(bytes)) return 'a safetensors file: use readSafetensors';
  const text = TEXT.exec(head);
  if (text)
    return text[1] ? 'a web page (HTML): was the file not found?' : text[0].endsWith('?xml') ? 'XML' : 'JSON text';
  return undefined;
}

function startsWith(bytes: Uint8Array, start: string | number[], at: number) {
  const codes = typeof start === 'string' ? Array.from(start, (char) => char.charCodeAt(0)) : start;
  return codes.every((code, i) => bytes[at + i] === code);
}

function identifyArchive(bytes: Uint8Array, head: string) {
  const length = bytes.length > 28 ? bytes[26] + 256 * bytes[27] : 0;
  const name = head.slice(30, 30 + length);
  return ARCHIVES.find(([pattern]) => pattern.test(name))?.[1] ?? 'a zip archive';
}

function isSafetensors(bytes: Uint8Array) {
  const length = new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true);
  return length < 100_000_000n && bytes[8] === 0x7b;
}
