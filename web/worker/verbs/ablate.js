// Ablation: switches off each head in turn, from the last layer to the first, and measures the probability of the
// chosen token, or of the chosen sentence for a picture. For a model that predicts nothing, it measures the angle by
// which the hidden states turn. If a model has several attentions, the heads of the shown attention come first.

import { hiddenAngle } from '../../../src/js/analysis/hiddenAngle.js';
import { layerPlace, shownPart, withPlace } from '../../features/whatif/modelEdits.js';
import { runOf } from '../../store/runInput.js';
import { readRun } from '../run/modelInput.js';
import { labelNames, likeliest, probabilities, rowOf } from '../run/predictions.js';
import { forward, stacksOf } from '../run/runModel.js';
import { chosenHead } from '../run/showTransformer.js';
import { transformerOf } from '../sources/sources.js';

/** @import { Ablation, Run, State } from '../../store/protocol.js' */
/** @import { Hl, TransformerSource } from '../sources/types.js' */
/** @import { Handler, WorkerContext } from '../types.js' */
/** @typedef {Pick<Ablation, 'measure' | 'text' | 'before'> & { of: (run: Run) => number }} Measured of: of a run */

/** @type {Handler<'ablate'>} */
export const ablate = {
  async answer({ state }, reply, worker) {
    const source = transformerOf(await worker.sourceOf(state, reply));
    const hl = await worker.core();
    const { towers } = source;
    if (readRun(source, state).ids.length === 0 || (towers && state.text.trim() === '')) return;
    const shown = shownPart(source.about, state);
    const { of, ...measured } = towers
      ? (await import('../run/textImage.js')).sentenceMeasured(
          { hl, runs: worker.runs, towers, pinned: state.pinned },
          state,
        )
      : measureOf(hl, source, state, worker);
    const stacks = (towers ? [towers.text, towers.vision] : [source])
      .flatMap((one) => stacksOf(one, 0, 0))
      .sort((a, b) => Number(b.part === shown) - Number(a.part === shown));
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
        switchedOff.push({ ...off, value: of(run) });
        reply.send('ablation', { ...about, switchedOff });
      }
  },
};

/**
 * Returns the value with all heads, and a function that measures a run with a head switched off.
 * @param {Hl} hl
 * @param {TransformerSource} source
 * @param {State} state
 * @param {Pick<WorkerContext, 'runs'>} worker
 * @returns {Measured}
 */
function measureOf(hl, source, state, { runs }) {
  const { ids, input, place } = readRun(source, state);
  const { part, layer } = chosenHead(source, state);
  const { pinned } = state;
  const values = runs.values(hl, source, runOf(state), { layer, pinned, part });
  const without = (/** @type {Run} */ run) =>
    forward(hl, source, input, runs.edits(hl, source, run, { layer, pinned, T: ids.length }), []);
  if (place === null || !values.logits) {
    const angle = hiddenAngle(values.hidden);
    return { measure: 'angle', text: '', before: 0, of: (run) => angle(without(run)) };
  }
  const before = probabilities(rowOf(values, place));
  const token = state.token ?? likeliest(before, 1)[0];
  return {
    measure: 'probability',
    text: labelNames(source)(token),
    before: before[token],
    of: (run) => probabilities(rowOf(without(run), place))[token],
  };
}
