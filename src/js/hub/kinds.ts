// Determines the kinds of files in a repository by their names, and chooses between several models.

import type { Entry } from './types.ts';

export type Kind = 'safetensors' | 'gguf' | 'torch' | 'onnx' | 'tensorflow' | 'flax' | 'config' | 'tokenizer' | 'other';
/** opens: openModel can open a model from this file, if the option `file` selects it. why: the reason why it cannot. */
export type HubFileInfo = { name: string; size: number; kind: Kind; opens: boolean; why?: string };

const KINDS: [RegExp, Kind][] = [
  [/\.safetensors(\.index\.json)?$/i, 'safetensors'],
  [/\.gguf$/i, 'gguf'],
  [/\.(pth?|bin|ckpt)(\.index\.json)?$/i, 'torch'],
  [/\.onnx(_data)?$/i, 'onnx'],
  [/\.(h5|pb|tflite)$|(^|\/)tf_model\./i, 'tensorflow'],
  [/\.msgpack$/i, 'flax'],
  [
    /(^|\/)(tokenizer(_config)?|vocab|added_tokens|special_tokens_map)\.json$|\.model$|(^|\/)(vocab|merges)\.txt$/i,
    'tokenizer',
  ],
  [/config\.json$/i, 'config'],
];
/** Files with an extension of PyTorch weights that are no weights. */
const NO_WEIGHTS = /(^|\/)(training_args|optimizer|scheduler|rng_state)[\w-]*\.(bin|pth?)$/i;
/** Matches a part of a split file: start of the name, number of the part, number of parts, extension. */
const PART = /^(.*)-(\d{5})-of-(\d{5})(\.[a-z]+)$/i;
/** Matches the name of a GGUF file whose type has a codebook. Such types cannot be read. */
const CODEBOOKS = /(^|[-._])(IQ[1-3]_\w+|IQ[1-3]|TQ\d_\d)([-._]|$)/i;
/** Matches GGUF files without a language model: image encoders and importance matrices. */
const NO_MODEL = /(^|\/|[-._])(mmproj|imatrix)/i;
/** Preferred quantizations: first the one with good quality at a quarter of the size, then the nearly exact one. */
const PREFERRED = [/Q4_K_M/i, /Q8_0/i];

export function kindOf(path: string): Kind {
  if (NO_WEIGHTS.test(path)) return 'other';
  return KINDS.find(([pattern]) => pattern.test(path))?.[1] ?? 'other';
}

export const folderOf = (path: string) => path.slice(0, path.lastIndexOf('/') + 1);

function partOf(path: string) {
  const [, start, number, count, end] = PART.exec(path) ?? [];
  return start === undefined ? undefined : { first: `${start}-00001-of-${count}${end}`, number: Number(number) };
}

function whyNot(path: string, kind: Kind) {
  if (kind === 'onnx') return 'graphs of ONNX are not read: use the safetensors files';
  if (kind === 'tensorflow' || kind === 'flax') return `weights of ${kind} are not read: use the safetensors files`;
  if (kind === 'gguf' && NO_MODEL.test(path)) return 'it is not a language model';
  const codebook = kind === 'gguf' ? CODEBOOKS.exec(path)?.[2] : undefined;
  if (codebook) return `its weights have the type ${codebook}, which is not read`;
  const part = partOf(path);
  if (part && part.number > 1) return `it is part ${part.number} of a split file: choose ${part.first}`;
  return undefined;
}

export function describe({ path, size = 0 }: Entry): HubFileInfo {
  const kind = kindOf(path);
  const why = whyNot(path, kind);
  const opens = why === undefined && ['safetensors', 'gguf', 'torch'].includes(kind);
  return { name: path, size, kind, opens, ...(why && { why }) };
}

const isWeights = (path: string) => ['safetensors', 'gguf', 'torch'].includes(kindOf(path));

/**
 * Returns the files of one model: all of a folder except weights of other models. `file` is a file or a folder, default
 * the root. Returns undefined if it does not exist.
 */
export function choose(entries: readonly Entry[], file?: string): { folder: string; entries: Entry[] } | undefined {
  if (file !== undefined && entries.some(({ path }) => path === file)) {
    const folder = folderOf(file);
    const others = entries.filter(({ path }) => path.startsWith(folder));
    if (!isWeights(file)) return { folder, entries: withoutOtherGguf(others, folder) };
    return { folder, entries: others.filter(({ path }) => !isWeights(path) || belongs(path, file)) };
  }
  const folder = file === undefined ? '' : `${file}/`;
  const inside = entries.filter(({ path }) => path.startsWith(folder));
  if (file !== undefined && inside.length === 0) return undefined;
  return { folder, entries: withoutOtherGguf(inside, folder) };
}

/** True for another part of the same split file, or a part that the chosen index lists. */
function belongs(path: string, file: string) {
  if (path === file) return true;
  const [mine, chosen] = [partOf(path), partOf(file)];
  if (mine && chosen) return mine.first === chosen.first;
  const isIndex = /\.index\.json$/.test(file);
  const start = file.replace(/\.[^./]*(\.index\.json)?$/, '');
  return (isIndex && mine?.first.startsWith(`${start}-`)) === true;
}

/** Keeps one file if the readable weights of a folder are all GGUF: Q4_K_M, else Q8_0, else the smallest. */
function withoutOtherGguf(entries: Entry[], folder: string) {
  const weights = entries.filter(({ path }) => isWeights(path) && folderOf(path) === folder);
  const readable = weights.filter((entry) => describe(entry).opens);
  if (readable.length === 0 || readable.some(({ path }) => kindOf(path) !== 'gguf')) return entries;
  const sizeOf = ({ path, size = Infinity }: Entry) =>
    weights.reduce(
      (sum, other) => sum + (other.path !== path && belongs(other.path, path) ? (other.size ?? 0) : 0),
      size,
    );
  const smallest = (list: Entry[]) =>
    list.reduce((best, other) => (best && sizeOf(best) <= sizeOf(other) ? best : other), undefined as any);
  const preferred = PREFERRED.map((type) => smallest(readable.filter(({ path }) => type.test(path)))).find(Boolean);
  const chosen = preferred ?? smallest(readable);
  return entries.filter(({ path }) => !isWeights(path) || folderOf(path) !== folder || belongs(path, chosen.path));
}
