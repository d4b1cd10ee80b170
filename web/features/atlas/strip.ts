// A passage as a strip: the words around the key and around the query of a weight, and the earlier place at which the
// query's word occurs. The words between them are folded.

import type { AtlasSample } from '../../model/protocol/atlasProtocol.ts';
/** A token of a strip, or the number of tokens that are folded at this position. */
export type StripPart =
  | { at: number; space: boolean; text: string; folded?: undefined }
  | { at: number; folded: number };
export type Arc = { t: number; s: number; weight: number };
/** same: the positions of the query's word, if it occurs earlier and the head looks for it; otherwise empty. */
export type Strip = { arc: Arc; parts: StripPart[]; next: string | null; same: number[] };

/** Fewer tokens than this between key and query are not folded. */
const MIN_FOLDED = 3;

/**
 * Returns the largest weight of a passage. Many heads attend to the query's own token or to the first token if they
 * find no match. So weights on these two tokens count only for a head whose usual role is to attend to them.
 */
export function strongestOf(
  { tokens, indices, values }: Pick<AtlasSample, 'tokens' | 'indices' | 'values'>,
  role: string | null,
): Arc {
  const length = tokens.length;
  const find = (counts: (t: number, s: number) => boolean) => {
    let best = -1;
    for (let i = 0; i < indices.length; i++) {
      const [t, s] = [Math.floor(indices[i] / length), indices[i] % length];
      if (counts(t, s) && (best < 0 || values[i] > values[best])) best = i;
    }
    return best;
  };
  const isOther = (t: number, s: number) => t > 0 && (role === 'itself' || s !== t) && (role === 'first' || s > 0);
  const own = find(isOther);
  const at = own < 0 ? find((t) => t > 0) : own;
  if (at < 0) return { t: 0, s: 0, weight: 0 };
  return { t: Math.floor(indices[at] / length), s: indices[at] % length, weight: values[at] };
}

/** Returns the weights of one query of a passage, by key. A weight that the scan did not keep is 0. */
export function rowOf({ tokens, indices, values }: Pick<AtlasSample, 'tokens' | 'indices' | 'values'>, t: number) {
  const row = new Float32Array(tokens.length);
  for (let i = 0; i < indices.length; i++)
    if (Math.floor(indices[i] / tokens.length) === t) row[indices[i] % tokens.length] = values[i];
  return row;
}

/** Roles whose heads look for an earlier occurrence of the query's word. */
const MATCHING = new Set(['induction', 'duplicate']);

/** Returns the earlier position of the query's word: just before the key, or else nearest to the key; −1 for none. */
function earlierOf(tokens: readonly string[], { t, s }: Arc) {
  let best = -1;
  for (let at = 0; at < t; at++)
    if (tokens[at] === tokens[t] && (best < 0 || Math.abs(s - 1 - at) <= Math.abs(s - 1 - best))) best = at;
  return best;
}

/** `near`: tokens that are shown on each side of key and query. */
export function stripOf({ tokens }: AtlasSample, arc: Arc, role: string | null, near: number): Strip {
  const earlier = role !== null && MATCHING.has(role) ? earlierOf(tokens, arc) : -1;
  const [first, last] = [Math.min(arc.t, arc.s), Math.max(arc.t, arc.s)];
  // If the query comes after the key, the strip ends with the query, because the next word is shown separately.
  const end = arc.t === last ? arc.t + 1 : Math.min(last + near, tokens.length);
  const ranges = [
    ...(earlier >= 0 ? [[earlier, earlier + 1]] : []),
    [wordFrom(tokens, Math.max(first - near, 0), first), Math.min(first + near + 1, end)],
    [wordFrom(tokens, Math.max(last - near, 0), last), end],
  ];
  const shown = joined(ranges);
  const parts = shown.flatMap(([from, to], i) => [
    ...(i > 0 ? [{ at: shown[i - 1][1], folded: from - shown[i - 1][1] }] : []),
    ...tokens.slice(from, to).map((token, n) => partOf(token, from + n, n === 0)),
  ]);
  const same = earlier >= 0 ? [earlier, arc.t] : [];
  return { arc, parts, next: arc.t === last ? (tokens[arc.t + 1] ?? null) : null, same };
}

/** Sorts ranges, and joins those with only a few tokens between them. */
function joined(ranges: number[][]) {
  const all: number[][] = [];
  for (const [from, to] of ranges.sort((a, b) => a[0] - b[0])) {
    const before = all.at(-1);
    if (before && from - before[1] < MIN_FOLDED) before[1] = Math.max(before[1], to);
    else all.push([from, to]);
  }
  return all;
}

/** Returns the first token of from…to−1 that begins a word; `from` if none of them does. */
function wordFrom(tokens: string[], from: number, to: number) {
  for (let at = from; at < to; at++) if (at === 0 || /^\s/.test(tokens[at])) return at;
  return from;
}

/** Maximum number of tokens shown on each side of key and query. */
const MOST = 4;

/** Returns the strip with as many words as fit into `letters`. `arc`: by default the passage's largest weight. */
export function fittingStrip(
  sample: AtlasSample,
  role: string | null,
  letters: number,
  arc: Arc = strongestOf(sample, role),
) {
  for (let near = MOST; near > 0; near--) {
    const strip = stripOf(sample, arc, role, near);
    if (lettersOf(strip) <= letters) return strip;
  }
  return stripOf(sample, arc, role, 0);
}

/** Returns the approximate number of letters: words, the number of folded tokens, and the next word. */
const lettersOf = ({ parts, next }: Strip) =>
  parts.reduce((sum, part) => sum + (part.folded === undefined ? part.text.length + Number(part.space) : 11), 0) +
  (next?.length ?? 0);

function partOf(token: string, at: number, first: boolean): StripPart {
  const text = token.trim();
  return {
    at,
    space: !first && (token !== token.trimStart() || text === ''),
    text: text || (/\n/.test(token) ? '↵' : '␣'),
  };
}
