// Reads npz files, which are zip archives of npy files.

import { checkOptions, readNumber } from '../check/arguments.ts';
import { quote } from '../check/quote.ts';
import { formatError, readBytes } from './bytes.ts';
import type { StoredTensor } from './dtypes.ts';
import { identify } from './identify.ts';
import { readNpyEntry } from './npy.ts';
import { readZip, unpack } from './zip.ts';

const EXTENSION = '.npy';
/**
 * Maximum unpacked bytes without maxSize: SMALL, or MAX_FACTOR times the file up to LARGE. Zeros shrink by a factor of
 * a thousand, weights by less than ten.
 */
const [SMALL, MAX_FACTOR, LARGE] = [2 ** 28, 32, 2 ** 31];

/**
 * Reads tensors by their names in np.savez, without .npy.
 * @param options maxSize: maximum total bytes of the decompressed arrays; default: 256 MiB, or 32 times the file up to
 * 2 GiB
 */
export async function readNpz(
  source: ArrayBuffer | ArrayBufferView,
  options: { maxSize?: number } = {},
): Promise<{ tensors: Record<string, StoredTensor> }> {
  const caller = 'readNpz';
  checkOptions(caller, options, ['maxSize']);
  const bytes = readBytes(caller, source);
  const usual = Math.min(Math.max(SMALL, MAX_FACTOR * bytes.length), LARGE);
  const maxSize = readNumber(caller, 'maxSize', options.maxSize ?? usual, { integer: true, least: 0 });
  const kind = identify(bytes);
  if (bytes[0] !== 0x50 || bytes[1] !== 0x4b)
    throw formatError(caller, `${kind ? `this is ${kind}` : 'the file is not a zip archive'}, expected an npz file`, {
      parameter: 'bytes',
      expected: 'an npz file',
      got: kind,
    });
  const files = readZip(caller, bytes).filter(({ name }) => !name.endsWith('/'));
  const other = files.find(({ name }) => !name.endsWith(EXTENSION));
  if (other)
    throw formatError(
      caller,
      `${quote(other.name)} in the archive is not an npy file${kind ? `: this is ${kind}` : ''}, expected an npz file`,
      { parameter: other.name, got: kind },
    );
  const total = files.reduce((sum, { size }) => sum + size, 0);
  if (total > maxSize)
    throw formatError(caller, `the arrays take ${total} bytes, expected at most maxSize = ${maxSize}`, {
      parameter: 'maxSize',
      expected: maxSize,
      got: total,
    });
  const tensors: Record<string, StoredTensor> = Object.create(null);
  for (const file of files) {
    const name = file.name.slice(0, -EXTENSION.length);
    if (name in tensors) throw formatError(caller, `there are two arrays ${quote(name)}`, { parameter: name });
    tensors[name] = readNpyEntry(`${caller}: ${quote(name)}`, await unpack(caller, file));
  }
  return { tensors };
}
