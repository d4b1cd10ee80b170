// Computes the composition of the chosen head with the heads of all other layers. See composition() in src/js/analysis.

import { composition as compositionOf } from '../../../src/js/analysis/analysis.js';

import { shownPart } from '../../features/whatif/modelEdits.js';

/** @import { HeadComposition, HeadPlace } from '../../store/protocol.js' */
/** @import { Transformer, TransformerSource } from '../sources/types.js' */
/** @import { Handler } from '../types.js' */
/** @typedef {Pick<Transformer, 'options' | 'parameters' | 'stateDict'>} Parameters */

/** @type {Handler<'composition'>} */
export const composition = {
  async answer({ state }, reply, worker) {
    const source = await worker.sourceOf(state, reply);
    if (!('model' in source) || !source.exact || shownPart(source.about, state) !== 'decoder') return;
    const { layers, heads } = source.about;
    const [layer, head] = [Math.min(state.layer, layers - 1), Math.min(state.head, heads - 1)];
    for (const compositions of compositionsOf(source, { layer, head })) {
      if (await reply.checkCancelled()) return;
      reply.send('composition', { layer, head, compositions });
    }
  },
};

/**
 * Models with their int8 matrices converted to floats. Otherwise, each pair of heads would need this conversion.
 * @type {WeakMap<Transformer, Parameters>}
 */
const floats = new WeakMap();
/** @param {Transformer} model @returns {Parameters} */
function withFloats(model) {
  const known = floats.get(model);
  if (known) return known;
  /** @type {ReturnType<Transformer['stateDict']> | undefined} */
  let state;
  const stateDict = () => (state ??= model.stateDict());
  const made = { options: model.options, parameters: model.parameters, stateDict };
  floats.set(model, made);
  return made;
}

/**
 * Yields, after each layer, all compositions that have been computed so far. The nearest layers come first.
 * @param {TransformerSource} source
 * @param {HeadPlace} chosen
 */
function* compositionsOf({ model, about: { layers, heads } }, chosen) {
  const parts = withFloats(model);
  /** @type {HeadComposition[]} */
  const all = [];
  const others = Array.from({ length: layers }, (_, layer) => layer)
    .filter((layer) => layer !== chosen.layer)
    .sort((a, b) => Math.abs(a - chosen.layer) - Math.abs(b - chosen.layer));
  for (const layer of others) {
    for (let head = 0; head < heads; head++) {
      const other = { layer, head };
      const [from, to] = layer < chosen.layer ? [other, chosen] : [chosen, other];
      const values = compositionOf(parts, from, to);
      for (const kind of /** @type {const} */ (['q', 'k', 'v'])) all.push({ from, to, kind, value: values[kind] });
    }
    yield [...all];
  }
}
