// One run of a model, copied out of the core's memory: which values are captured, and which edits a run makes.

import { tokenPlaces } from '../../features/trace/places.js';
import { editsOf, patchedHeads } from '../../features/whatif/forwardEdits.js';

/** @import { Edit } from '../../../src/js/models/edits.js' */
/** @import { ModelInput } from '../../../src/js/models/input.js' */
/** @import { About, Run } from '../../store/protocol.js' */
/** @import { Hl, Numbers, Source, TransformerSource } from '../sources/types.js' */
/** @typedef {{ captured: Record<string, Numbers>, logits: Numbers | null, hidden?: Numbers | null }} Values */

/** @param {{ copy(): Float32Array, shape: readonly number[] }} tensor @returns {Numbers} */
export const copied = (tensor) => ({ data: tensor.copy(), shape: [...tensor.shape] });

/**
 * @param {Hl} hl
 * @param {Pick<TransformerSource, 'model'> & { about?: Pick<About, 'compares'> }} source
 * @param {ModelInput} input
 * @param {Edit[]} edit
 * @param {string[]} capture
 * @returns {Values}
 */
export function forward(hl, { model, about }, input, edit, capture) {
  return hl.scope(() => {
    const { logits, captured, hidden } = model.forward(input, { edit, capture });
    return {
      logits: logits ? copied(logits) : null,
      hidden: about?.compares && hidden ? copied(hidden) : null,
      captured: Object.fromEntries(Object.entries(captured).map(([name, tensor]) => [name, copied(tensor)])),
    };
  });
}

/**
 * All edits of a run, with the heads and places that are patched from the pinned run: at every token that has a partner
 * in the pinned text.
 * @param {Pick<Source, 'about'>} source
 * @param {Run} run
 * @param {number} T
 * @param {() => Values} pinned the values of the pinned run
 * @param {() => number[]} partners for each token its partner in the pinned text, −1 for none
 * @returns {Edit[]}
 */
export function allEdits({ about }, run, T, pinned, partners) {
  const edits = /** @type {Edit[]} */ (editsOf(run, { ...about, tokens: T }));
  patchedHeads(run, about).forEach((heads, layer) => {
    if (heads.length === 0) return;
    const at = `blocks.${layer}.heads`;
    const { data, shape } = pinned().captured[at];
    const [, , tokens, width] = shape;
    // A pinned run without a text has no values.
    if (tokens === 0) return;
    for (const head of heads) {
      const from = data.subarray(head * tokens * width, (head + 1) * tokens * width);
      if (tokens === T) edits.unshift({ at, head, set: { data: from, shape: [tokens, width] } });
      else
        partners().forEach((s, token) => {
          const set = { data: from.subarray(s * width, (s + 1) * width), shape: [width] };
          if (s >= 0) edits.unshift({ at, head, token, set });
        });
    }
  });
  for (const { part, layer, place } of tokenPlaces(run.patch)) {
    const from = place < T ? partners()[place] : -1;
    if (layer < about.layers && from >= 0) edits.unshift(placeEdit(pinned().captured, part, layer, place, from));
  }
  return edits;
}

/**
 * Takes the value of one part at a token from another run.
 * @param {Values['captured']} captured
 * @param {string} part @param {number} layer @param {number} token @param {number} from the token there
 * @returns {Edit}
 */
function placeEdit(captured, part, layer, token, from) {
  // The input of a layer is the output of the one below.
  const below = layer === 0 ? 'embed' : `blocks.${layer - 1}.out`;
  const { data, shape } = captured[part === 'stream' ? below : `blocks.${layer}.${part}`];
  const [rows, width] = shape.slice(-2);
  const groups = part === 'heads' ? shape[1] : 1;
  const set = new Float32Array(groups * width);
  for (let g = 0; g < groups; g++)
    set.set(data.subarray((g * rows + from) * width, (g * rows + from + 1) * width), g * width);
  const at = `blocks.${layer}.${part === 'stream' ? 'in' : part}`;
  return { at, token, set: { data: set, shape: groups > 1 ? [groups, 1, width] : [width] } };
}

/** Names of a layer's values: an encoder–decoder has three stacks of heads. @type {Record<string, string>} */
const STACKS = { encoder: 'encoder.blocks.L.', decoder: 'blocks.L.', cross: 'blocks.L.cross.' };
/** @param {string} part @param {number | string} layer */
export const stackAt = (part, layer) => STACKS[part].replace('L', String(layer));

/**
 * The values that the page needs of a run, with the arithmetic of the heads of one layer.
 * @param {Pick<Source, 'about'>} source @param {string} part @param {number} layer
 */
export const capturesFor = ({ about }, part, layer) => [
  ...(about.parts.length > 0 ? [] : ['embed', 'blocks.*.heads', 'blocks.*.mlp', 'blocks.*.out']),
  `${stackAt(part, '*')}weights`,
  ...['query', 'key', 'value', 'scores', 'heads'].map((name) => `${stackAt(part, layer)}${name}`),
];
