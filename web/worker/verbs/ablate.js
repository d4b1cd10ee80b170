// Ablation: the probability of the chosen token without each head in turn, from the last layer down.

import { withPlace } from '../../features/whatif/modelEdits.js';
import { runOf } from '../../store/runInput.js';
import { readRun } from '../run/modelInput.js';
import { labelNames, likeliest, probabilities, rowOf } from '../run/predictions.js';
import { forward } from '../run/runModel.js';
import { transformerOf } from '../sources/sources.js';

/** @import { Ablation } from '../../store/protocol.js' */
/** @import { Handler } from '../types.js' */

/** @type {Handler<'ablate'>} */
export const ablate = {
  async answer({ state }, reply, worker) {
    const source = transformerOf(await worker.sourceOf(state, reply));
    const hl = await worker.core();
    const { ids, input, place } = readRun(source, state);
    if (ids.length === 0 || place === null) return;
    const { layer: chosen, pinned } = state;
    const values = worker.runs.values(hl, source, runOf(state), { layer: chosen, pinned });
    const before = probabilities(rowOf(values, place));
    const token = state.token ?? likeliest(before, 1)[0];
    const { layers, heads } = source.about;
    const about = { token, text: labelNames(source)(token), before: before[token], total: layers * heads };
    reply.send('ablation', { ...about, switchedOff: [] });
    /** @type {Ablation['switchedOff']} */
    const switchedOff = [];
    for (let layer = layers - 1; layer >= 0; layer--)
      for (let head = 0; head < heads; head++) {
        if (await reply.checkCancelled()) return;
        const run = { ...runOf(state), scale: withPlace(state.scale, `${layer}.${head}`, 0, 1) };
        const edits = worker.runs.edits(hl, source, run, { layer: chosen, pinned, T: ids.length });
        const likely = probabilities(rowOf(forward(hl, source, input, edits, []), place));
        switchedOff.push({ layer, head, probability: likely[token] });
        reply.send('ablation', { ...about, switchedOff });
      }
  },
};
