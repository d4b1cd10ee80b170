// Names of edges in the address and in messages. For example, 'h3.3-k4.2' is the edge from head 3.3 to the key input of
// head 4.2.

/** @import { Node } from '../../../src/js/analysis/edges.js' */

/** @type {Record<Node['kind'], string>} */
const LETTERS = { embed: 'e', head: 'h', mlp: 'm', query: 'q', key: 'k', value: 'v', logits: 'l' };
/** @param {Node} node */
const partName = ({ kind, layer, head }) => {
  if (kind === 'embed' || kind === 'logits') return LETTERS[kind];
  return `${LETTERS[kind]}${layer}${head === undefined ? '' : `.${head}`}`;
};

/** @param {Node} from @param {Node} to */
export const lineName = (from, to) => `${partName(from)}-${partName(to)}`;
