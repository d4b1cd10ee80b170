// Counts the edges of a model's graph that keep most of the next token's probability. All other edges carry their mean
// over passages, as in the circuit view of the page.

import { meanContributions } from 'headlight-attention/analysis';
import { neededLines } from '../../../web/model/circuit/neededLines.ts';
import { MAX_LINES } from '../../../web/model/circuit/settings.ts';
import { cutScores } from '../../js/analysis/circuits/cutScores.ts';
import { sharesOf } from '../../js/analysis/circuits/edgeScores.ts';
import { edgesOf } from '../../js/analysis/circuits/edges.ts';
import { offOf, runActive } from '../../js/analysis/circuits/runEdges.ts';
import { logitDifference, probability } from '../../js/analysis/metrics.ts';
import { capturedBy, measured } from '../../js/analysis/patching/pairs.ts';

const CALLER = 'circuitLines';
/** Number of gradients of the estimate, and number of edges that are measured one by one. */
const [GRADIENTS, MEASURED] = [5, MAX_LINES];

/**
 * Returns the number of edges that together keep nine tenths of the probability of a token. 0 if the measured edges
 * keep less.
 * @param ids of the text
 * @param guess id of the token that follows
 * @param passages ids of the texts over which the means are computed
 */
export async function countNeededLines(
  model: any,
  ids: number[],
  guess: number,
  passages: readonly number[][],
): Promise<number> {
  const edges = edgesOf(CALLER, model);
  const { sources, targets, before } = edges;
  const input = { ids };
  const values = capturedBy(CALLER, model, input, edges.capture);
  const off = offOf(CALLER, model, edges, { mean: await meanContributions(model, passages) }, values.embed);
  const read = probability(guess);
  const keep = (active: Uint8Array) => measured(runActive(CALLER, model, edges, input, active, off), read);
  const all = targets.flatMap((_, v) => sources.flatMap((_, u) => (u < before(v) ? [u * targets.length + v] : [])));
  const experiment = { input, metric: logitDifference(guess), values, off, shares: sharesOf(GRADIENTS, 'right') };
  const { scores } = await cutScores(CALLER, model, edges, experiment, async (run) => run());
  const size = sources.length * targets.length;
  const costs = all
    .sort((a, b) => Math.abs(scores[b]) - Math.abs(scores[a]) || a - b)
    .slice(0, MEASURED)
    .map((line) => {
      const active = new Uint8Array(size).fill(1);
      active[line] = 0;
      return { line, left: keep(active) };
    })
    .sort((a, b) => a.left - b.left);
  const [none, whole] = [keep(new Uint8Array(size)), measured(model.forward(input, {}), read)];
  const needed = await neededLines(costs, async (lines) => {
    const active = new Uint8Array(size);
    for (const { line } of lines) active[line] = 1;
    return (keep(active) - none) / (whole - none);
  });
  return needed.length;
}
