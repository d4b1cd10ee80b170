// The heads and MLPs of a circuit that are drawn. Each is above the token at which its attribution is largest.

/** @import { Node } from '../../../src/js/analysis/edges.js' */
/** @import { ShownLine } from './shownLines.js' */
/**
 * A head or MLP that is drawn. token: token of its column, at which its attribution is largest. second: another token
 * with a large attribution, or null.
 * @typedef {{ key: string, kind: 'head' | 'mlp', layer: number, head: number, token: number, second: number | null }}
 *   Part
 */

/** The inputs of a head in the drawing, from left to right. */
export const PORTS = /** @type {const} */ (['query', 'key', 'value']);
/** The label shows a second token if its attribution is at least this share of the attribution of the first token. */
const SECOND_SHARE = 0.5;

/** Returns the first head that reads an input. Several heads may share their keys and values. */
const headOf = (/** @type {number} */ head, /** @type {string} */ kind, /** @type {number} */ perGroup) =>
  kind === 'query' ? head : head * perGroup;

/**
 * Returns the identifier of the head or MLP that a node of an edge belongs to, such as 'h2.5' or 'm2'; null for the
 * embedding and the logits.
 */
export function partKey(/** @type {Node} */ { kind, layer, head = 0 }, perGroup = 1) {
  if (kind === 'embed' || kind === 'logits') return null;
  return kind === 'mlp' ? `m${layer}` : `h${layer}.${kind === 'head' ? head : headOf(head, kind, perGroup)}`;
}

/**
 * Returns the index of the largest value, and of the second largest if it is large enough.
 * @param {readonly number[]} values
 */
function largest(values) {
  const order = values.map((_, i) => i).sort((a, b) => values[b] - values[a]);
  const [first = 0, second] = order;
  return { first, second: second !== undefined && values[second] >= SECOND_SHARE * values[first] ? second : null };
}

/**
 * Returns the token at which an edge from the embeddings begins. It is a token that the node at the end of the edge can
 * read.
 * @param {ShownLine} line
 */
export const footOf = ({ terms }, /** @type {number} */ seen = terms.length - 1) =>
  largest(terms.slice(0, seen + 1).map(Math.abs)).first;

/**
 * @param {readonly ShownLine[]} lines edges that are drawn
 * @param {readonly ShownLine[]} all
 * @param {{ tokens: number, perGroup: number }} model
 * @returns {Part[]}
 */
export function partsOf(lines, all, { tokens, perGroup }) {
  /** @type {Map<string, { node: Node, writes: number[] | null, reads: number[] | null }>} */
  const found = new Map();
  const add = (/** @type {number[] | null} */ sums, /** @type {number[]} */ terms) =>
    terms.map((term, t) => Math.abs(term) + (sums?.[t] ?? 0));
  const drawn = new Set(lines.flatMap(({ from, to }) => [from, to].map((node) => partKey(node, perGroup))));
  for (const { from, to, terms } of all)
    for (const [node, side] of /** @type {const} */ ([
      [from, 'writes'],
      [to, 'reads'],
    ])) {
      const key = partKey(node, perGroup);
      if (key === null || !drawn.has(key)) continue;
      const part = found.get(key) ?? { node, writes: null, reads: null };
      // A head reads keys and values from other tokens than the one above which it is drawn, so only edges to its query
      // and edges from its output count.
      const counts = side === 'writes' || node.kind === 'query' || node.kind === 'mlp';
      found.set(key, { ...part, ...(counts && { [side]: add(part[side], terms) }) });
    }
  return [...found].map(([key, { node, writes, reads }]) => {
    const { first, second } = writes || reads ? largest(writes ?? reads ?? []) : { first: tokens - 1, second: null };
    const [layer, head = '-1'] = key.slice(1).split('.');
    const kind = node.kind === 'mlp' ? 'mlp' : 'head';
    return { key, kind, layer: Number(layer), head: Number(head), token: first, second };
  });
}
