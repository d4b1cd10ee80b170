// Measures how much further training has changed a model: the loss before and now, the probability of each token of the
// sentence that is shown, and the divergence of each head's attention weights on that sentence.

import type { HeadChanges } from '../../model/protocol/protocol.ts';
import { weightsOf } from '../run/headScores.ts';
import { readRun } from '../run/modelInput.ts';
import { probabilities } from '../run/predictions.ts';
import { forward } from '../run/runModel.ts';
import type { Hl, Numbers } from '../sources/types.ts';
import { probeRun, trainedSource } from './trainedRun.ts';
import type { Model, Trainer } from './trainer.ts';
export type Measured = { loss: number; likely: number[]; weights: Float32Array };

/** Returns the Jensen–Shannon divergence of two distributions in bits: 0 for equal, 1 for disjoint distributions. */
export function divergence(p: ArrayLike<number>, q: ArrayLike<number>) {
  const term = (x: number, mean: number) => (x > 0 ? x * Math.log2(x / mean) : 0);
  let sum = 0;
  for (let i = 0; i < p.length; i++) {
    const mean = (p[i] + q[i]) / 2;
    sum += (term(p[i], mean) + term(q[i], mean)) / 2;
  }
  return Math.max(sum, 0);
}

/** Returns the mean divergence of heads' rows as [layer][head], without row 0 with its one key. `before`: (L,H,T,T). */
export function headDivergences(
  before: Float32Array,
  now: Float32Array,
  { layers, heads, T }: { layers: number; heads: number; T: number },
) {
  const ofHead = (place: number) => {
    let sum = 0;
    for (let t = 1; t < T; t++) {
      const from = (place * T + t) * T;
      sum += divergence(before.subarray(from, from + T), now.subarray(from, from + T));
    }
    return T > 1 ? sum / (T - 1) : 0;
  };
  return Array.from({ length: layers }, (_, l) => Array.from({ length: heads }, (_, h) => ofHead(l * heads + h)));
}

/** Returns the predicted probability of each token, except token 0. `logits`: (1,T,V). */
function likelihoods({ data, shape }: Numbers, labels: readonly number[]) {
  const V = shape[2];
  return labels.slice(1).map((label, t) => probabilities(data.subarray(t * V, (t + 1) * V))[label]);
}

function probed(hl: Hl, trainer: Trainer, model: Model): Omit<Measured, 'loss'> {
  const source = { ...trainedSource(trainer, 0), model };
  const { input } = readRun(source, probeRun(trainer));
  const { logits, captured } = forward(hl, source, input, [], ['blocks.*.weights']);
  const layers = Array.from({ length: source.about.layers }, (_, l) => captured[`blocks.${l}.weights`]);
  return { weights: weightsOf(layers), likely: likelihoods(logits as Numbers, trainer.probe.labels) };
}

/** Makes a function that compares a trainer's model with the one it began with; null for a new model. */
export function comparisonWithBase(hl: Hl, trainer: Trainer): (() => Omit<HeadChanges, 'step'>) | null {
  const { base } = trainer.task;
  if (!base) return null;
  const first = base.create(hl);
  const losses = { heldOut: trainer.lossOf(first, 'heldOut'), learned: trainer.lossOf(first, 'learned') };
  const before = probed(hl, trainer, first);
  first.dispose();
  const { layers, numHeads: heads } = trainer.model.options;
  return () => {
    const now = probed(hl, trainer, trainer.model);
    const sizes = { layers, heads, T: trainer.probe.labels.length };
    return {
      loss: base.holdsOut ? [losses.heldOut, trainer.judged.loss] : null,
      learned: [losses.learned, trainer.judged.learned],
      likely: before.likely.map((p, t) => [p, now.likely[t]]),
      heads: headDivergences(before.weights, now.weights, sizes),
      before: before.weights.slice(),
    };
  };
}
