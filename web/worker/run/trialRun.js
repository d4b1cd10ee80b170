// Runs a model with changes inside a head, which the visitor tries in the story: a component of a query is replaced, or
// the edge from one head to the keys of another head is cut. See features/story/trial.js.

import { edgeGraph, runEdges } from '../../../src/js/analysis/runEdges.js';
import { readTrial } from '../../features/story/trial.js';
import { readRun } from './modelInput.js';
import { capturesFor, copied } from './runModel.js';

/** @import { Edit } from '../../../src/js/models/edits.js' */
/** @import { ValueName } from '../../../src/js/models/valueName.js' */
/** @import { State } from '../../store/protocol.js' */
/** @import { Hl, Transformer, TransformerSource } from '../sources/types.js' */
/** @import { Line } from '../../features/story/trial.js' */
/** @import { Values } from './runModel.js' */

/**
 * @param {Hl} hl
 * @param {TransformerSource} source
 * @param {State} state
 * @param {object} how
 * @param {number} how.layer the layer whose heads are read
 * @param {Edit[]} how.edits the other changes of the state
 * @param {(layer: number) => Values} how.before returns the values without the trial, including the heads of a layer
 * @returns {Values}
 */
export function trialRun(hl, source, state, { layer, edits, before }) {
  const { numbers, lines } = readTrial(state.trial);
  const { input } = readRun(source, state);
  const changed = numbers.map(({ layer: at, head, token, index, value }) => {
    const name = /** @type {const} */ (`blocks.${at}.query`);
    const { data, shape } = before(at).captured[name];
    const [, , T, width] = shape;
    const row = data.slice((head * T + token) * width, (head * T + token + 1) * width);
    row[index] = value;
    return { at: name, head, token, set: { data: row, shape: [width] } };
  });
  const all = [...edits, ...changed];
  const capture = /** @type {ValueName[]} */ (capturesFor(source, 'decoder', layer));
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

/** Returns all edges of the model except those that are cut. @param {Transformer} model @param {Line[]} lines */
function edgesWithout(model, lines) {
  const { sources, targets, edges } = edgeGraph(model);
  for (const { from, to } of lines) {
    const u = sources.findIndex((one) => one.kind === 'head' && one.layer === from.layer && one.head === from.head);
    const v = targets.findIndex((one) => one.kind === 'key' && one.layer === to.layer && one.head === to.head);
    edges.data[u * targets.length + v] = 0;
  }
  return edges;
}

/** Returns a model that makes edits in each of its runs. @param {Transformer} model @param {Edit[]} edits */
const withEdits = (model, edits) => ({
  options: model.options,
  parameters: model.parameters,
  stateDict: () => model.stateDict(),
  valuesOf: (/** @type {string} */ name, /** @type {string} */ caller) => model.valuesOf(name, caller),
  forward: (/** @type {any} */ input, /** @type {any} */ options) =>
    model.forward(input, { ...options, edit: [...edits, ...(options?.edit ?? [])] }),
});
