// A passage as a strip: the words around the key and around the query of a weight, and the earlier place at which the
// query's word occurs. The words between them are folded.

/** @import { AtlasSample } from '../../store/atlasProtocol.js' */
/**
 * A token of a strip, or the number of tokens that are folded at this position.
 * @typedef {{ at: number, space: boolean, text: string, folded?: undefined } |
 *   { at: number, folded: number }} StripPart
 */
/** @typedef {{ t: number, s: number, weight: number }} Arc */
/**
 * same: the positions of the query's word, if it occurs earlier and the head looks for it; otherwise empty.
 * @typedef {{ arc: Arc, parts: StripPart[], next: string | null, same: number[] }} Strip
 */

/** Fewer tokens than this between key and query are not folded. */
const MIN_FOLDED = 3;

/**
 * Returns the largest weight of a passage. Many heads attend to the query's own token or to the first token if they
 * find no match. So weights on these two tokens count only for a head whose usual role is to attend to them.
 * @param {Pick<AtlasSample, 'tokens' | 'indices' | 'values'>} sample
 * @param {string | null} role
 * @returns {Arc}
 */
export function strongestOf({ tokens, indices, values }, role) {
  const length = tokens.length;
  const find = (/** @type {(t: number, s: number) => boolean} */ counts) => {
    let best = -1;
    for (let i = 0; i < indices.length; i++) {
      const [t, s] = [Math.floor(indices[i] / length), indices[i] % length];
      if (counts(t, s) && (best < 0 || values[i] > values[best])) best = i;
    }
    return best;
  };
  const isOther = (/** @type {number} */ t, /** @type {number} */ s) =>
    t > 0 && (role === 'itself' || s !== t) && (role === 'first' || s > 0);
  const own = find(isOther);
  const at = own < 0 ? find((t) => t > 0) : own;
  if (at < 0) return { t: 0, s: 0, weight: 0 };
  return { t: Math.floor(indices[at] / length), s: indices[at] % length, weight: values[at] };
}

/**
 * Returns the weights of one query of a passage, by key. A weight that the scan did not keep is 0.
 * @param {Pick<AtlasSample, 'tokens' | 'indices' | 'values'>} sample
 * @param {number} t
 */
export function rowOf({ tokens, indices, values }, t) {
  const row = new Float32Array(tokens.length);
  for (let i = 0; i < indices.length; i++)
    if (Math.floor(indices[i] / tokens.length) === t) row[indices[i] % tokens.length] = values[i];
  return row;
}

/** Roles whose heads look for an earlier occurrence of the query's word. */
const MATCHING = new Set(['induction', 'duplicate']);

/**
 * Returns the earlier position of the query's word: the one directly before the key, or else the nearest one to the
 * key; −1 if there is none.
 * @param {readonly string[]} tokens
 * @param {Arc} arc
 */
function earlierOf(tokens, { t, s }) {
  let best = -1;
  for (let at = 0; at < t; at++)
    if (tokens[at] === tokens[t] && (best < 0 || Math.abs(s - 1 - at) <= Math.abs(s - 1 - best))) best = at;
  return best;
}

/**
 * @param {AtlasSample} sample
 * @param {Arc} arc
 * @param {string | null} role
 * @param {number} near tokens that are shown on each side of key and query
 * @returns {Strip}
 */
export function stripOf({ tokens }, arc, role, near) {
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

/** Sorts ranges, and joins those with only a few tokens between them. @param {number[][]} ranges */
function joined(ranges) {
  /** @type {number[][]} */
  const all = [];
  for (const [from, to] of ranges.sort((a, b) => a[0] - b[0])) {
    const before = all.at(-1);
    if (before && from - before[1] < MIN_FOLDED) before[1] = Math.max(before[1], to);
    else all.push([from, to]);
  }
  return all;
}

/** Returns the first token of from…to−1 that begins a word; `from` if none of them does. */
function wordFrom(/** @type {string[]} */ tokens, /** @type {number} */ from, /** @type {number} */ to) {
  for (let at = from; at < to; at++) if (at === 0 || /^\s/.test(tokens[at])) return at;
  return from;
}

/** Maximum number of tokens shown on each side of key and query. */
const MOST = 4;

/**
 * Returns the strip with as many words around key and query as fit.
 * @param {AtlasSample} sample
 * @param {string | null} role
 * @param {number} letters that fit into the width of a strip
 * @param {Arc} [arc] default: the largest weight of the passage
 */
export function fittingStrip(sample, role, letters, arc = strongestOf(sample, role)) {
  for (let near = MOST; near > 0; near--) {
    const strip = stripOf(sample, arc, role, near);
    if (lettersOf(strip) <= letters) return strip;
  }
  return stripOf(sample, arc, role, 0);
}

/**
 * Returns the approximate number of letters of a strip: those of the words, of the number of folded tokens, and of the
 * next word.
 * @param {Strip} strip
 */
const lettersOf = ({ parts, next }) =>
  parts.reduce((sum, part) => sum + (part.folded === undefined ? part.text.length + Number(part.space) : 11), 0) +
  (next?.length ?? 0);

/** @param {string} token @param {number} at @param {boolean} first @returns {StripPart} */
function partOf(token, at, first) {
  const text = token.trim();
  return {
    at,
    space: !first && (token !== token.trimStart() || text === ''),
    text: text || (/\n/.test(token) ? '↵' : '␣'),
  };
}
