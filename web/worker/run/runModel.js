// Runs a model, and copies the captured values out of the core's memory. Makes the edits of a run.

import { tokenPlaces } from '../../features/trace/places.js';
import { editsOf, patchedHeads, stackAt } from '../../features/whatif/forwardEdits.js';

/** @import { Edit } from '../../../src/js/models/edits.js' */
/** @import { ModelInput } from '../../../src/js/models/input.js' */
/** @import { ValueName } from '../../../src/js/models/valueName.js' */
/** @import { Stack } from '../../features/whatif/forwardEdits.js' */
/** @import { AttentionPart, PooledHead, Run } from '../../store/protocol.js' */
/** @import { Hl, Numbers, Source, TransformerSource } from '../sources/types.js' */
/**
 * hidden: the hidden states after the last norm, (1,T,C). pooled: the vector of the whole input. pictures: small
 * pictures of all heads, if only the weights of one layer are kept. outputs and inside: of a run on a long text, see
 * stepRun.js.
 * @typedef {{ captured: Record<string, Numbers>, logits: Numbers | null, hidden: Numbers, pooled?: Numbers,
 *   pictures?: PooledHead[], outputs?: Record<string, Numbers>, inside?: Record<string, Numbers> }} Values
 */

/** @param {{ copy(): Float32Array, shape: readonly number[] }} tensor @returns {Numbers} */
export const copied = (tensor) => ({ data: tensor.copy(), shape: [...tensor.shape] });

/**
 * @param {Hl} hl
 * @param {Pick<TransformerSource, 'model'>} source
 * @param {ModelInput} input
 * @param {Edit[]} edit
 * @param {string[]} capture
 * @returns {Values}
 */
export function forward(hl, { model }, input, edit, capture) {
  return hl.scope(() => {
    const { logits, hidden, pooled, captured } = model.forward(input, {
      edit,
      capture: /** @type {ValueName[]} */ (capture),
    });
    return {
      logits: logits ? copied(logits) : null,
      hidden: copied(hidden),
      ...(pooled && { pooled: copied(pooled) }),
      captured: Object.fromEntries(Object.entries(captured).map(([name, tensor]) => [name, copied(tensor)])),
    };
  });
}

/**
 * Returns the attentions of a model, such as that of the decoder, with the number of tokens that each reads.
 * @param {Pick<TransformerSource, 'about' | 'model' | 'part'>} source
 * @param {number} T
 * @param {number} S tokens of the encoder
 * @returns {(Stack & { part: AttentionPart, tokens: number })[]}
 */
export function stacksOf({ about, model: { options }, part = 'decoder' }, T, S) {
  const own = { part, ...sizeOf(options), causal: about.causal, tokens: T };
  if (!options.encoder) return [own];
  return [
    { part: 'encoder', ...sizeOf(options.encoder), causal: false, tokens: S },
    own,
    { ...own, part: 'cross', causal: false, keys: S },
  ];
}

/** @param {{ layers: number, numHeads: number }} options */
const sizeOf = ({ layers, numHeads: heads }) => ({ layers, heads });

/**
 * Returns all edits of a run. Heads and places are patched with values of the pinned run, at each token that has a
 * partner in the pinned text.
 * @param {ReturnType<typeof stacksOf>} stacks
 * @param {Run} run
 * @param {() => Values} pinned the values of the pinned run
 * @param {(part: AttentionPart) => number[]} partners for each token its partner in the pinned text, −1 for none
 * @returns {Edit[]}
 */
export function allEdits(stacks, run, pinned, partners) {
  const edits = stacks.flatMap((stack) => {
    const own = /** @type {Edit[]} */ (editsOf(run, stack));
    patchHeads(own, stack, run, pinned, partners);
    return own;
  });
  const written = /** @type {typeof stacks[number]} */ (stacks.find(({ part }) => part === 'decoder') ?? stacks[0]);
  const { layers, tokens } = written;
  for (const { part, layer, place } of tokenPlaces(run.patch)) {
    const from = place < tokens ? partners(written.part)[place] : -1;
    if (layer < layers && from >= 0) edits.unshift(placeEdit(pinned().captured, part, layer, place, from));
  }
  return edits;
}

/**
 * Adds the edits of heads that are patched in one attention.
 * @param {Edit[]} edits
 * @param {ReturnType<typeof stacksOf>[number]} stack
 * @param {Run} run
 * @param {() => Values} pinned
 * @param {(part: AttentionPart) => number[]} partners
 */
function patchHeads(edits, { part, tokens: T, ...size }, run, pinned, partners) {
  patchedHeads(run, { part, ...size }).forEach((heads, layer) => {
    if (heads.length === 0) return;
    const at = /** @type {ValueName} */ (`${stackAt(part, layer)}heads`);
    const { data, shape } = pinned().captured[at];
    const [, , tokens, width] = shape;
    // A pinned run without a text has no values.
    if (tokens === 0) return;
    for (const head of heads) {
      const from = data.subarray(head * tokens * width, (head + 1) * tokens * width);
      if (tokens === T) edits.unshift({ at, head, set: { data: from, shape: [tokens, width] } });
      else
        partners(part).forEach((s, token) => {
          const set = { data: from.subarray(s * width, (s + 1) * width), shape: [width] };
          if (s >= 0) edits.unshift({ at, head, token, set });
        });
    }
  });
}

/**
 * Makes the edit that replaces the value of the residual stream, heads or MLP of a layer at one token by the value in
 * another run.
 * @param {Values['captured']} captured
 * @param {string} part @param {number} layer @param {number} token @param {number} from the token in the other run
 * @returns {Edit}
 */
function placeEdit(captured, part, layer, token, from) {
  // The input of a layer is the output of the layer below.
  const below = layer === 0 ? 'embed' : `blocks.${layer - 1}.out`;
  const { data, shape } = captured[part === 'stream' ? below : `blocks.${layer}.${part}`];
  const [rows, width] = shape.slice(-2);
  const groups = part === 'heads' ? shape[1] : 1;
  const set = new Float32Array(groups * width);
  for (let g = 0; g < groups; g++)
    set.set(data.subarray((g * rows + from) * width, (g * rows + from + 1) * width), g * width);
  const at = /** @type {ValueName} */ (`blocks.${layer}.${part === 'stream' ? 'in' : part}`);
  return { at, token, set: { data: set, shape: groups > 1 ? [groups, 1, width] : [width] } };
}

/**
 * Returns the names of the values of a run that the page needs, including those inside the heads of one layer.
 * @param {Pick<Source, 'about'>} source @param {string} part @param {number} layer
 */
export const capturesFor = ({ about }, part, layer) => [
  ...['embed', 'blocks.*.heads', 'blocks.*.mlp', 'blocks.*.out'],
  ...(about.parts.includes('cross') ? ['blocks.*.cross.heads', 'encoder.blocks.*.heads'] : []),
  `${stackAt(part, '*')}weights`,
  ...['query', 'key', 'value', 'scores', 'heads'].map((name) => `${stackAt(part, layer)}${name}`),
];
