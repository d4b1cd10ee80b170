// Finds the edges of a circuit that can change its result, which are those on a path from the embedding to the logits.

import type { Edges, Node } from './edges.ts';

/**
 * Removes active edges (U,V) with no path of active edges to the logits and, if cut edges carry the values of another
 * run (`fromEmbedding`), those with no path from the embedding, whose source has the values of that run anyway.
 */
export function connectedEdges(
  { sources, targets, before, groupOf }: Edges,
  active: Uint8Array,
  fromEmbedding: boolean,
): Uint8Array {
  const kept = active.slice();
  const V = targets.length;
  const key = ({ kind, layer, head }: Node) => `${kind} ${layer} ${head}`;
  const targetAt = new Map(targets.map((target, v) => [key(target), v]));
  const readsOf = ({ kind, layer, head = 0 }: Node) => {
    if (kind === 'embed') return [];
    const parts = (
      kind === 'mlp'
        ? [{ kind, layer }]
        : [
            { kind: 'query', layer, head },
            { kind: 'key', layer, head: groupOf(head) },
            { kind: 'value', layer, head: groupOf(head) },
          ]
    ) as Node[];
    return parts.map((part) => Number(targetAt.get(key(part))));
  };
  const hasEdge = (v: number) => sources.some((_, u) => u < before(v) && kept[u * V + v] !== 0);
  if (fromEmbedding)
    sources.forEach((source, u) => {
      const isAlive = source.kind === 'embed' || readsOf(source).some(hasEdge);
      if (!isAlive) kept.fill(0, u * V, (u + 1) * V);
    });
  const useful = new Set([V - 1]);
  for (let u = sources.length - 1; u >= 0; u--) {
    const row = kept.subarray(u * V, (u + 1) * V);
    row.forEach((_, v) => {
      if (!useful.has(v)) row[v] = 0;
    });
    if (row.some(Boolean)) for (const v of readsOf(sources[u])) useful.add(v);
  }
  return kept;
}
