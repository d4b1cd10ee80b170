// The heads and MLPs of a circuit that are drawn. Each is above the token at which its attribution is largest.

import type { Node } from '../../../src/js/analysis/circuits/edges.ts';
import type { ShownLine } from '../../model/circuit/shownLines.ts';
/**
 * A head or MLP that is drawn. token: token of its column, at which its attribution is largest. second: another token
 * with a large attribution, or null.
 */
export type Part = {
  key: string;
  kind: 'head' | 'mlp';
  layer: number;
  head: number;
  token: number;
  second: number | null;
};

/** The inputs of a head in the drawing, from left to right. */
export const PORTS = ['query', 'key', 'value'] as const;
/** The label shows a second token if its attribution is at least this share of the attribution of the first token. */
const SECOND_SHARE = 0.5;

/** Returns the first head that reads an input. Several heads may share their keys and values. */
const headOf = (head: number, kind: string, perGroup: number) => (kind === 'query' ? head : head * perGroup);

/** Returns the identifier of a node's head or MLP, such as 'h2.5' or 'm2'; null for the embedding and the logits. */
export function partKey({ kind, layer, head = 0 }: Node, perGroup = 1) {
  if (kind === 'embed' || kind === 'logits') return null;
  return kind === 'mlp' ? `m${layer}` : `h${layer}.${kind === 'head' ? head : headOf(head, kind, perGroup)}`;
}

/** Returns the index of the largest value, and of the second largest if it is large enough. */
function largest(values: readonly number[]) {
  const order = values.map((_, i) => i).sort((a, b) => values[b] - values[a]);
  const [first = 0, second] = order;
  return { first, second: second !== undefined && values[second] >= SECOND_SHARE * values[first] ? second : null };
}

/** Returns the token at which an edge from the embeddings begins, one that the node at its end can read. */
export const footOf = ({ terms }: ShownLine, seen: number = terms.length - 1) =>
  largest(terms.slice(0, seen + 1).map(Math.abs)).first;

/** `lines`: edges that are drawn. */
export function partsOf(
  lines: readonly ShownLine[],
  all: readonly ShownLine[],
  { tokens, perGroup }: { tokens: number; perGroup: number },
): Part[] {
  const found: Map<string, { node: Node; writes: number[] | null; reads: number[] | null }> = new Map();
  const add = (sums: number[] | null, terms: number[]) => terms.map((term, t) => Math.abs(term) + (sums?.[t] ?? 0));
  const drawn = new Set(lines.flatMap(({ from, to }) => [from, to].map((node) => partKey(node, perGroup))));
  for (const { from, to, terms } of all)
    for (const [node, side] of [
      [from, 'writes'],
      [to, 'reads'],
    ] as const) {
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
