// Finds attention weights in files. Attention weights are recognised by their shape and by rows that sum to 1.

import type { About, AttentionPart } from '../../model/protocol/protocol.ts';
import type { Stored } from './fileContents.ts';
import { Problem } from './problem.ts';
/** The weights of some layers, all of the same shape. */
export type Attentions = {
  name: string;
  /** of an encoder–decoder, or empty if the name contains none */
  part: string;
  layers: number;
  /** the number of texts in the batch */
  batch: number;
  heads: number;
  T: number;
  S: number;
  /** T and S before tokens were cut off */
  wholeT: number;
  wholeS: number;
  causal: boolean;
  /** the number of NaN among the weights that were checked */
  nan: number;
  /** (T,S) */
  read: (layer: number, head: number, entry?: number) => Promise<Float32Array>;
};

/** A tensor that may be attention weights. rows: the number of checked rows that sum to 1. */
export type Candidate = Axes & { tensor: Stored; nan: number; causal: boolean; rows: number };
export type Axes = { layers: number; batch: number; heads: number; T: number; S: number };

/** Maximum difference between 1 and the sum of a row, which is not exactly 1 in half precision. */
const ROUNDING = 0.02;
/** Maximum number of tokens that the page draws. */
export const MAX_TOKENS = 4096;
/** The number of rows that are checked at both ends of a head, and about how many heads are checked. */
const [ROWS, HEADS] = [64, 16];

/** Returns the sizes that a shape means, without axes of size 1 before the heads; null if it cannot be weights. */
export function axesOf(shape: readonly number[]): Axes | null {
  if (shape.length < 2 || shape.includes(0)) return null;
  const [T, S] = shape.slice(-2);
  const lead = shape.slice(0, -2);
  const heads = lead.at(-1) ?? 1;
  const many = lead.slice(0, -1).filter((n) => n > 1);
  if (many.length > 2) return null;
  // Stacked weights of a model are (L,B,H,T,S). The first of four axes is the layer. No library writes (L,H,1,T,S).
  const [layers = 1, batch = 1] = many;
  return { layers, batch, heads, T, S };
}

/** Checks some rows of some heads. Returns null if a row has a negative number or does not sum to 1. */
async function checkRows({ read }: Stored, { layers, batch, heads, T, S }: Axes) {
  const count = layers * batch * heads;
  const step = Math.max(Math.floor(count / HEADS), 1);
  const found = { nan: 0, rows: 0, causal: T === S && T > 1 };
  for (let head = 0; head < count; head += step) {
    // The first rows show best whether queries attend to later keys. The last rows are checked too.
    for (const first of T > ROWS ? [0, T - ROWS] : [0]) {
      const rows = Math.min(ROWS, T);
      const data = await read((head * T + first) * S, rows * S);
      for (let t = 0; t < rows; t++) if (!checkRow(data.subarray(t * S, (t + 1) * S), first + t, found)) return null;
    }
  }
  const { nan, rows, causal } = found;
  return rows > 0 || nan > 0 ? { nan, causal: causal && rows > 0, rows } : null;
}

/** Returns false if the numbers are no row of attention weights. `found`: updated with the row. */
function checkRow(row: Float32Array, t: number, found: { nan: number; rows: number; causal: boolean }): boolean {
  let sum = 0;
  for (let s = 0; s < row.length; s++) {
    const weight = row[s];
    if (weight < 0) return false;
    if (s > t && weight !== 0) found.causal = false;
    sum += weight;
  }
  if (Number.isNaN(sum)) for (const weight of row) found.nan += Number(Number.isNaN(weight));
  else if (sum !== 0 && Math.abs(sum - 1) > ROUNDING) return false;
  else if (sum !== 0) found.rows++;
  return true;
}

/** Treats the first axis as the batch, not the layers, if file names differ only in a number: (B,H,T,S) by layer. */
function byLayer(group: Candidate[]) {
  const names = new Set(group.map(({ tensor: { name } }) => name.replace(/\d+/, '')));
  const [{ layers }] = group;
  const batches =
    group.length > 1 && names.size === 1 && group.every((one) => one.layers === layers && one.batch === 1);
  return batches ? group.map((one) => ({ ...one, layers: 1, batch: layers })) : group;
}

const natural = new Intl.Collator('en', { numeric: true });

const partOf = (name: string) => /cross|encoder|decoder/i.exec(name)?.[0].toLowerCase() ?? '';

/** Finds attention weights in tensors: all layers in one array, or an array for each. attentions: one for each part. */
export async function findAttentions(
  tensors: readonly Stored[],
): Promise<{ attentions: Attentions[]; others: Stored[] }> {
  const groups: Map<string, Candidate[]> = new Map();
  const others = [];
  for (const tensor of tensors) {
    const axes = axesOf(tensor.shape);
    const named = /attn|attention|weights/i.test(tensor.name);
    // Tensors with one number in a row are excluded, and tensors with names of parameters, which may have any shape.
    const possible = axes && axes.S > 1 && !/(^|[._])(bias|weight|kernel)$/.test(tensor.name);
    const found = possible ? await checkRows(tensor, axes) : null;
    if (axes && found && (found.rows > 0 || named)) {
      const kind = `${partOf(tensor.name)} ${axes.heads} ${axes.T} ${axes.S} ${axes.batch}`;
      groups.set(kind, [...(groups.get(kind) ?? []), { tensor, ...axes, ...found }]);
    } else others.push(tensor);
  }
  return { attentions: [...groups.values()].map(byLayer).map(joinLayers), others };
}

function joinLayers(group: Candidate[]): Attentions {
  group.sort((a, b) => natural.compare(a.tensor.name, b.tensor.name));
  const [{ heads, batch, T: wholeT, S: wholeS, tensor }] = group;
  const [T, S] = [wholeT, wholeS].map((n) => Math.min(n, MAX_TOKENS));
  const starts = group.flatMap((one) =>
    Array.from({ length: one.layers }, (_, l) => ({ read: one.tensor.read, first: l * batch * heads })),
  );
  return {
    name: group.length === 1 ? tensor.name : partOf(tensor.name) || tensor.name.replace(/[\d.]+$/, ''),
    part: partOf(tensor.name),
    layers: starts.length,
    batch,
    heads,
    T,
    S,
    wholeT,
    wholeS,
    causal: group.every(({ causal }) => causal),
    nan: group.reduce((sum, { nan }) => sum + nan, 0),
    async read(layer, head, entry = 0) {
      const { read, first } = starts[layer];
      const at = (first + entry * heads + head) * wholeT * wholeS;
      if (T === wholeT && S === wholeS) return read(at, T * S);
      const rows = await read(at, T * wholeS);
      const cut = new Float32Array(T * S);
      for (let t = 0; t < T; t++) cut.set(rows.subarray(t * wholeS, t * wholeS + S), t * S);
      return cut;
    },
  };
}

/** Chooses texts of queries and keys from lists by names and numbers, or null. `part`: of an encoder–decoder. */
export function tokensFor(lists: Record<string, string[]>, T: number, S: number, part = '') {
  const { source, target } = lists;
  const [queryTexts, keyTexts] = [part === 'encoder' ? source : target, part === 'decoder' ? target : source];
  if (part && (queryTexts?.length === T || keyTexts?.length === S))
    return { queries: queryTexts?.length === T ? queryTexts : null, keys: keyTexts?.length === S ? keyTexts : null };
  const all = Object.entries(lists);
  const find = (name: RegExp, count: number) =>
    all.find(([key, list]) => name.test(key) && list.length >= count)?.[1] ??
    all.find(([, list]) => list.length === count)?.[1];
  const queries = find(/quer|target|decoder/i, T);
  const keys = T === S ? find(/key/i, S) : find(/key|source|encoder/i, S);
  return { queries: queries ?? null, keys: keys ?? (T === S ? (queries ?? null) : null) };
}

export function checkSize({ name, T, S, layers, heads }: Attentions) {
  if (layers * heads > 4096) throw new Problem('manyHeads', name, layers, heads);
  if (T < 1 || S < 1) throw new Problem('nothing', name);
}

export function aboutWeights(
  name: string,
  title: string,
  shown: Attentions,
  parts: AttentionPart[],
  all: Attentions[],
): About {
  return {
    name,
    title,
    kind: 'weights',
    layers: shown.layers,
    heads: shown.heads,
    batch: shown.batch,
    width: 0,
    context: MAX_TOKENS,
    causal: shown.causal,
    predicts: false,
    guess: null,
    reads: 'nothing',
    writes: false,
    edits: false,
    sums: false,
    mask: null,
    parts,
    bytes: all.reduce(
      (sum, { layers, batch, heads, wholeT, wholeS }) => sum + 4 * layers * batch * heads * wholeT * wholeS,
      0,
    ),
  };
}
