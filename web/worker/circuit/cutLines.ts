// Runs the model with some edges cut. Measures the prediction, the costs of other edges, and the attention weights of
// the head where the last edge that was cut ends.

import type { Numbers } from '../../../src/js/analysis/arrays.ts';
import type { Node } from '../../../src/js/analysis/circuits/edges.ts';
import type { PatchedResult } from '../../../src/js/analysis/patching/pairs.ts';
import { indexOfLargest } from '../../../src/js/check/extremes.ts';
import type { CircuitCuts } from '../../model/protocol/circuitProtocol.ts';
import { probabilities } from '../run/predictions.ts';
import type { Reply } from '../types.ts';
import { CANCELLED, type Experiment, endsOf, runLines } from './experiment.ts';

/** `cut`: names of edges, unknown ones are ignored; `lines`: other edges that are measured with these cuts. */
export async function measureCuts(
  experiment: Experiment,
  cut: readonly string[],
  lines: readonly string[],
  reply: Reply,
) {
  const { graph } = experiment;
  const known = cut.filter((name) => graph.names.has(name));
  const last = known.at(-1);
  if (last === undefined) return;
  const active = new Uint8Array(graph.size).fill(1);
  for (const name of known) active[Number(graph.names.get(name))] = 0;
  const { from, to } = endsOf(graph, Number(graph.names.get(last)));
  const head =
    to.kind === 'query' || to.kind === 'key' || to.kind === 'value' ? headOf(experiment, to as HeadInput) : null;
  const at = head ? `blocks.${head.layer}.weights` : null;
  const look = ({ captured }: PatchedResult) => (head && at ? rowAt(captured[at] as Numbers, head.head) : null);

  let row: Float32Array | null = null;
  let guess = { text: '', probability: 0 };
  const now = runLines(experiment, active, at ? [at] : [], (result) => {
    row = look(result);
    guess = likeliestOf(experiment, result as unknown as { logits: Numbers });
  });
  let before: Float32Array | null = null;
  if (at) {
    const all = new Uint8Array(graph.size).fill(1);
    runLines(experiment, all, [at], (result) => {
      before = look(result);
    });
  }
  const answer: CircuitCuts = {
    cut: known,
    now,
    guess,
    lines: {},
    looks: looksOf(head, experiment.place, before, row),
    sourceOff: null,
  };
  reply.send('circuit', { cuts: answer });

  const without = active.slice();
  for (const line of graph.names.values()) if (endsOf(graph, line).from === from) without[line] = 0;
  await next(reply);
  const sourceOff = runLines(experiment, without);
  reply.send('circuit', { cuts: { ...answer, sourceOff } });
  for (const name of lines) {
    const line = graph.names.get(name);
    if (line === undefined || known.includes(name)) continue;
    await next(reply);
    const fewer = active.slice();
    fewer[line] = 0;
    answer.lines[name] = runLines(experiment, fewer);
  }
  reply.send('circuit', { cuts: { ...answer, sourceOff } });
}

async function next(reply: Reply) {
  if (await reply.checkCancelled()) throw CANCELLED;
}

type HeadInput = Node & { layer: number; head: number };

/** Returns a target's head; the first, if several share it. */
function headOf({ model }: Experiment, { kind, layer, head }: HeadInput) {
  const { numHeads, kvHeads = numHeads } = model.options;
  return { layer, head: kind === 'query' ? head : (head * numHeads) / kvHeads };
}

/** Returns the last row of a head's attention weights (1,H,T,T). */
function rowAt({ data, shape }: Numbers, head: number) {
  const T = shape[3];
  return data.slice((head * T + T - 1) * T, (head + 1) * T * T);
}

/** Returns the key that had the largest weight before the cuts, and the weight of this key before and now. */
function looksOf(
  head: { layer: number; head: number } | null,
  token: number,
  before: Float32Array | null,
  now: Float32Array | null,
): CircuitCuts['looks'] {
  if (!head || !before || !now) return null;
  const key = indexOfLargest(before);
  return { head, token, key, before: before[key], now: now[key] };
}

function likeliestOf({ name }: Experiment, { logits }: { logits: Numbers }) {
  const row = logits.data.slice(-(logits.shape.at(-1) as number));
  const all = probabilities(row);
  const best = indexOfLargest(all);
  return { text: name(best).trim(), probability: all[best] };
}
