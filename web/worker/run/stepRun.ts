// Runs a model block by block, for runs that take long: between two blocks the run can be stopped, and the page is told
// how far it is. If the weights of all heads do not fit into MAX_NUMBERS, only small pictures of them are kept, and the
// numbers inside the shown head are computed again from the input of its block.

import type { Tensor } from '../../../src/js/memory/tensor.ts';
import type { Edit } from '../../../src/js/models/edits.ts';
import type { ModelInput } from '../../../src/js/models/input.ts';
import { stackAt } from '../../model/forwardEdits.ts';
import type { PooledHead } from '../../model/protocol/protocol.ts';
import { POOLED, pooled } from '../sources/showWeights.ts';
import type { Numbers, TransformerSource } from '../sources/types.ts';
import { capturesFor, copied, type Values } from './runModel.ts';
import { optionsOf } from './scoreSteps.ts';
export type Shown = { part: string; layer: number; head: number; row: number | null; T: number; S: number };
/** awaited between two blocks; it throws to end the run */
export type Pause = (done: number, total: number) => unknown;

/** Maximum numbers in the attention weights of all heads that are kept: 256 MB. */
export const MAX_NUMBERS = 2 ** 26;
/** Maximum numbers in the outputs of blocks that are kept, so that the numbers inside a head can be computed again. */
const MAX_OUTPUTS = 2 ** 26;
/** Multiplications that take a tenth of a second or less. */
const SHORT = 1e9;

function multiplications({ model: { options } }: Pick<TransformerSource, 'model'>, T: number, S: number) {
  const of = (stack: { layers: number; dModel: number; mlp: number }, tokens: number) =>
    stack.layers * tokens * (4 * stack.dModel ** 2 + 3 * stack.dModel * stack.mlp + 2 * stack.dModel * Math.max(T, S));
  return of(options, T) + (options.encoder ? of(options.encoder, S) : 0);
}

/** Returns true if a run ends so soon that it need not be divided. */
export const isShort = (source: TransformerSource, { T, S }: Shown) => multiplications(source, T, S) < SHORT;

const headsOf = ({ model }: TransformerSource, { part }: Pick<Shown, 'part' | 'T' | 'S'>) => {
  const { layers, numHeads } = optionsOf(model, part);
  return layers * numHeads;
};

/** Returns true if the weights of all heads are too many to be kept. Models with an encoder read shorter texts. */
export const isLong = (source: TransformerSource, shown: Pick<Shown, 'part' | 'T' | 'S'>) =>
  !source.model.options.encoder && headsOf(source, shown) * shown.T * shown.S > MAX_NUMBERS;

/** Returns the number of tokens of the longest text whose weights are kept. */
export const longest = (source: TransformerSource, part = 'decoder') =>
  Math.floor(Math.sqrt(MAX_NUMBERS / headsOf(source, { part, T: 0, S: 0 })));

/** Runs a model and keeps all values that the page needs. */
export async function runInSteps(
  { model }: TransformerSource,
  input: ModelInput,
  edit: Edit[],
  { capture, pause }: { capture: string[]; pause: Pause },
): Promise<Values> {
  const captured: Values['captured'] = {};
  const onValue = (name: string, value: Tensor) => void (captured[name] = copied(value));
  return { ...taken(await model.forwardInSteps(input, { capture, edit, onValue, pause })), captured };
}

/** Copies and frees the results of a run. */
function taken({ hidden, logits, pooled: vector }: { hidden: Tensor; logits?: Tensor; pooled?: Tensor }) {
  const copies = {
    logits: logits ? copied(logits) : null,
    hidden: copied(hidden),
    ...(vector && { pooled: copied(vector) }),
  };
  for (const tensor of [hidden, logits, vector]) tensor?.dispose();
  return copies;
}

/** Runs a model on a long text. `captured` has one token only, for the contributions. withPictures: of all heads. */
export async function runLong(
  source: TransformerSource,
  input: ModelInput,
  edit: Edit[],
  shown: Shown,
  { withPictures, pause }: { withPictures: boolean; pause: Pause },
): Promise<Values> {
  const { model, about } = source;
  const { part, row, T, S } = shown;
  // A change of the mask may let tokens see later ones.
  const isCausal = about.causal && !edit.some(({ mask }) => mask);
  const { layers, dModel, head } = model.options;
  const names = ['embed', 'blocks.*.heads', 'blocks.*.mlp', 'blocks.*.out'];
  const every = Math.ceil((layers * T * dModel) / MAX_OUTPUTS);
  const pictures: PooledHead[] = [];
  const [captured, outputs]: Values['captured'][] = [{}, {}];
  const result = await model.forwardInSteps(input, {
    capture: [...names, ...(withPictures ? [`${stackAt(part, '*')}weights`] : [])],
    edit,
    row: row ?? T - 1,
    onValue(name, value) {
      captured[name] = rowOf(value, head === 'pooled' ? 0 : T - 1);
      const layer = outputLayer(name);
      if (layer !== null && (layer % every === every - 1 || layer === layers - 1)) outputs[name] = copied(value);
    },
    onHead: (_, layer, h, view) => pictures.push({ layer, head: h, ...pooled(view, T, S, POOLED, isCausal) }),
    pause,
  });
  const { logits, ...rest } = taken(result);
  // The logits are those of one token, without an axis of tokens.
  const ofRow = logits && { data: logits.data, shape: [1, Number(logits.shape.at(-1))] };
  return { ...rest, logits: ofRow, captured, ...(withPictures && { pictures }), outputs };
}

/** Returns the layer whose output a name means, or null. */
const outputLayer = (name: string) => (/^blocks\.\d+\.out$/.test(name) ? Number(name.split('.')[1]) : null);

/** Copies one token of (1,T,C) or (1,H,T,D). */
function rowOf(value: Tensor, row: number): Numbers {
  const { data, shape } = value;
  const [T, width] = shape.slice(-2);
  const groups = shape.length === 4 ? shape[1] : 1;
  const copy = new Float32Array(groups * width);
  for (let g = 0; g < groups; g++) copy.set(data.subarray((g * T + row) * width, (g * T + row + 1) * width), g * width);
  return { data: copy, shape: shape.length === 4 ? [1, groups, 1, width] : [1, 1, width] };
}

/**
 * Computes the numbers inside a head of a long run from the last kept output below its block. inside: queries, keys and
 * values of all heads, weights and scores of the shown one.
 */
export async function withHead(
  source: TransformerSource,
  input: ModelInput,
  edit: Edit[],
  values: Values,
  { part, layer, head, T, S }: Shown,
  pause: Pause,
): Promise<Values> {
  const at = stackAt(part, layer);
  const inside: Record<string, Numbers> = {};
  const { outputs = {} } = values;
  let from = layer;
  while (from > 0 && !outputs[`blocks.${from - 1}.out`]) from--;
  const below = from > 0 ? outputs[`blocks.${from - 1}.out`] : null;
  const all = capturesFor(source, part, layer).filter((name) => name.startsWith(at));
  const {
    hidden,
    logits,
    pooled: vector,
  } = await source.model.forwardInSteps(input, {
    capture: [...all, `${at}weights`],
    edit,
    blocks: { from, to: layer + 1, ...(below && { data: below.data, shape: below.shape }) },
    onValue: (name, value) => void (inside[name] = copied(value)),
    onHead(kind, l, h, view) {
      if (l === layer && h === head) inside[at + kind] = { data: view.slice(), shape: [1, 1, T, S] };
    },
    pause,
  });
  for (const tensor of [hidden, logits, vector]) tensor?.dispose();
  const last = `blocks.${source.model.options.layers - 1}.out`;
  return { ...values, inside: { ...inside, [last]: outputs[last] } };
}
