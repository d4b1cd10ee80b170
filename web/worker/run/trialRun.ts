// Runs a model with changes inside a head, which the visitor tries in the story: a component of a query is replaced, or
// the edge from one head to the keys of another head is cut. See features/story/trial.ts.

import { edgeGraph, runEdges } from '../../../src/js/analysis/circuits/runEdges.ts';
import type { Edit } from '../../../src/js/models/edits.ts';
import type { ModelInput } from '../../../src/js/models/input.ts';
import type { ValueName } from '../../../src/js/models/valueName.ts';
import type { State } from '../../model/protocol/protocol.ts';
import { type Line, readTrial } from '../../model/trial.ts';
import type { Hl, Transformer, TransformerSource } from '../sources/types.ts';
import { readRun } from './modelInput.ts';
import { capturesFor, copied, type Values } from './runModel.ts';

export function trialRun(
  hl: Hl,
  source: TransformerSource,
  state: State,
  {
    layer,
    edits,
    before,
  }: {
    /** the layer whose heads are read */
    layer: number;
    /** the other changes of the state */
    edits: Edit[];
    /** returns the values without the trial, including the heads of a layer */
    before: (layer: number) => Values;
  },
): Values {
  const { numbers, lines } = readTrial(state.trial);
  const { input } = readRun(source, state);
  const changed = numbers.map(({ layer: at, head, token, index, value }) => {
    const name = `blocks.${at}.query` as const;
    const { data, shape } = before(at).captured[name];
    const [, , T, width] = shape;
    const row = data.slice((head * T + token) * width, (head * T + token + 1) * width);
    row[index] = value;
    return { at: name, head, token, set: { data: row, shape: [width] } };
  });
  const all = [...edits, ...changed];
  const capture = capturesFor(source, 'decoder', layer) as ValueName[];
  return hl.scope(() => {
    const { logits, hidden, captured } =
      lines.length > 0
        ? runEdges(withEdits(source.model, all), input, edgesWithout(source.model, lines), { capture })
        : source.model.forward(input, { edit: all, capture });
    return {
      logits: logits ? copied(logits) : null,
      hidden: copied(hidden),
      captured: Object.fromEntries(Object.entries(captured).map(([name, tensor]) => [name, copied(tensor)])),
    };
  });
}

/** Returns all edges of the model except those that are cut. */
function edgesWithout(model: Transformer, lines: Line[]) {
  const { sources, targets, edges } = edgeGraph(model);
  for (const { from, to } of lines) {
    const u = sources.findIndex((one) => one.kind === 'head' && one.layer === from.layer && one.head === from.head);
    const v = targets.findIndex((one) => one.kind === 'key' && one.layer === to.layer && one.head === to.head);
    edges.data[u * targets.length + v] = 0;
  }
  return edges;
}

const withEdits = (model: Transformer, edits: Edit[]) => ({
  options: model.options,
  parameters: model.parameters,
  stateDict: () => model.stateDict(),
  valuesOf: (name: string, caller: string) => model.valuesOf(name, caller),
  forward: (input: ModelInput, options?: { edit?: Edit[] }) =>
    model.forward(input, { ...options, edit: [...edits, ...(options?.edit ?? [])] }),
});
