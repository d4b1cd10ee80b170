// Names of edges in the address and in messages. For example, 'h3.3-k4.2' is the edge from head 3.3 to the key input of
// head 4.2.

import type { Node } from '../../../src/js/analysis/circuits/edges.ts';

const LETTERS: Record<Node['kind'], string> = {
  embed: 'e',
  head: 'h',
  mlp: 'm',
  query: 'q',
  key: 'k',
  value: 'v',
  logits: 'l',
};
const partName = ({ kind, layer, head }: Node) => {
  if (kind === 'embed' || kind === 'logits') return LETTERS[kind];
  return `${LETTERS[kind]}${layer}${head === undefined ? '' : `.${head}`}`;
};

export const lineName = (from: Node, to: Node) => `${partName(from)}-${partName(to)}`;
