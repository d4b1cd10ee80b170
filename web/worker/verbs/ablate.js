// Ablation: the probability of the chosen token without each head in turn, from the last layer down; of a model without
// a prediction, the angle by which its hidden states turn. An encoder–decoder has three attentions: the one that is
// shown comes first.

import { hiddenAngle } from '../../../src/js/analysis/hiddenAngle.js';
import { layerPlace, withPlace } from '../../features/whatif/modelEdits.js';
import { runOf } from '../../store/runInput.js';
import { readRun } from '../run/modelInput.js';
import { labelNames, likeliest, probabilities, rowOf } from '../run/predictions.js';
import { forward, stacksOf } from '../run/runModel.js';
import { chosenHead } from '../run/showTransformer.js';
import { transformerOf } from '../sources/sources.js';

/** @import { Ablation, State } from '../../store/protocol.js' */
/** @import { Values } from '../run/runModel.js' */
/** @import { TransformerSource } from '../sources/types.js' */
/** @import { Handler } from '../types.js' */
/** @typedef {Pick<Ablation, 'measure' | 'text' | 'before'> & { read: (values: Values) => number }} Measured */

/** @type {Handler<'ablate'>} */
export const ablate = {
  async answer({ state }, reply, worker) {
    const source = transformerOf(await worker.sourceOf(state, reply));
    const hl = await worker.core();
    const { ids, input, place } = readRun(source, state);
    if (ids.length === 0) return;
    const { pinned } = state;
    const { part: shown, layer } = chosenHead(source, state);
    const { read, ...measured } = measureOf(
      source,
      state,
      worker.runs.values(hl, source, runOf(state), { layer, pinned, part: shown }),
      place,
    );
    const stacks = stacksOf(source, 0, 0).sort((a, b) => Number(b.part === shown) - Number(a.part === shown));
    const about = { ...measured, total: stacks.reduce((sum, { layers, heads }) => sum + layers * heads, 0) };
    reply.send('ablation', { ...about, switchedOff: [] });
    /** @type {Ablation['switchedOff']} */
    const switchedOff = [];
    for (const { part, layers, heads } of stacks)
      for (let i = layers * heads - 1; i >= 0; i--) {
        if (await reply.checkCancelled()) return;
        const off = { part, layer: Math.floor(i / heads), head: heads - 1 - (i % heads) };
        const at = `${layerPlace(part, off.layer)}.${off.head}`;
        const run = { ...runOf(state), scale: withPlace(state.scale, at, 0, 1) };
        const edits = worker.runs.edits(hl, source, run, { layer, pinned, T: ids.length });
        switchedOff.push({ ...off, value: read(forward(hl, source, input, edits, [])) });
        reply.send('ablation', { ...about, switchedOff });
      }
  },
};

/**
 * The number that is measured without each head.
 * @param {TransformerSource} source
 * @param {State} state
 * @param {Values} values with all heads
 * @param {number | null} place the token that predicts
 * @returns {Measured}
 */
function measureOf(source, state, values, place) {
  if (place === null || !values.logits)
    return { measure: 'angle', text: '', before: 0, read: hiddenAngle(values.hidden) };
  const before = probabilities(rowOf(values, place));
  const token = state.token ?? likeliest(before, 1)[0];
  return {
    measure: 'probability',
    text: labelNames(source)(token),
    before: before[token],
    read: (without) => probabilities(rowOf(without, place))[token],
  };
}
