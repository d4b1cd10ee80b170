// Ablation: switches off each head in turn, from the last layer to the first, and measures the probability of the
// chosen token, or of the chosen sentence for a picture. For a model that predicts nothing, it measures the angle by
// which the hidden states turn. If a model has several attentions, the heads of the shown attention come first.

import { hiddenAngle } from '../../../src/js/analysis/hiddenAngle.ts';
import { layerPlace, shownPart, withPlace } from '../../model/modelEdits.ts';
import type { Ablation, Run, State } from '../../model/protocol/protocol.ts';
import { runOf } from '../../model/runInput.ts';
import { readRun } from '../run/modelInput.ts';
import { labelNames, likeliest, probabilities, rowOf } from '../run/predictions.ts';
import { forward, stacksOf } from '../run/runModel.ts';
import { chosenHead } from '../run/showTransformer.ts';
import { transformerOf } from '../sources/sources.ts';
import type { Hl, TransformerSource } from '../sources/types.ts';
import type { Handler, WorkerContext } from '../types.ts';
export type Measured = Pick<Ablation, 'measure' | 'text' | 'before'> & { of: (run: Run) => number };

export const ablate: Handler<'ablate'> = {
  async answer({ state }, reply, worker) {
    const source = transformerOf(await worker.sourceOf(state, reply));
    const hl = await worker.core();
    const { towers } = source;
    if (readRun(source, state).ids.length === 0 || (towers && state.text.trim() === '')) return;
    const shown = shownPart(source.about, state);
    const { of, ...measured } = towers
      ? (await import('../run/textImage.ts')).sentenceMeasured(
          { hl, runs: worker.runs, towers, pinned: state.pinned },
          state,
        )
      : measureOf(hl, source, state, worker);
    const stacks = (towers ? [towers.text, towers.vision] : [source])
      .flatMap((one) => stacksOf(one, 0, 0))
      .sort((a, b) => Number(b.part === shown) - Number(a.part === shown));
    const about = { ...measured, total: stacks.reduce((sum, { layers, heads }) => sum + layers * heads, 0) };
    reply.send('ablation', { ...about, switchedOff: [] });
    const switchedOff: Ablation['switchedOff'] = [];
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

/** Returns the value with all heads, and a function that measures a run with a head switched off. */
function measureOf(hl: Hl, source: TransformerSource, state: State, { runs }: Pick<WorkerContext, 'runs'>): Measured {
  const { ids, input, place } = readRun(source, state);
  const { part, layer } = chosenHead(source, state);
  const { pinned } = state;
  const values = runs.values(hl, source, runOf(state), { layer, pinned, part });
  const without = (run: Run) =>
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
