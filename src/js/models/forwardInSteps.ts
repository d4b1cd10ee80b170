// Runs a model block by block, so that a program can do other work, show progress, or stop between blocks. Weights and
// scores can be read head by head, so that those of a layer never exist at the same time.

import { argumentError } from '../check/errors.ts';
import type { Memory } from '../memory/memory.ts';
import { partOf, type Tensor, tensorsIn, viewOf } from '../memory/tensor.ts';
import { block } from './block.ts';
import { type Edit, readValues, type Values } from './edits.ts';
import { embedInput } from './embedInput.ts';
import { type AttentionCall, Graph } from './gradients/graph.ts';
import { computeHead } from './head.ts';
import { type ModelInput, readInput } from './input.ts';
import { sliceRows } from './rowOperations.ts';
import { Run, type Shared } from './run.ts';
import type { Transformer } from './transformer.ts';

/** Reads the weights or scores (T,S) of one head. The view is valid during the call only. */
export type ReadHead = (kind: 'weights' | 'scores', layer: number, head: number, view: Float32Array) => void;
export type StepOptions = {
  capture?: readonly string[] | undefined;
  edit?: readonly Edit[] | undefined;
  /** gets each captured value, which is freed after the call */
  onValue: (name: string, value: Tensor) => void;
  /** gets the captured weights and scores head by head instead of onValue; for one sequence */
  onHead?: ReadHead | undefined;
  /** the only token whose logits are computed; default: all */
  row?: number | undefined;
  /** only some blocks, without the head: the input of block `from`, and the first block that is not computed */
  blocks?: { from: number; to: number; data?: Float32Array; shape?: readonly number[] } | undefined;
  /** is awaited after each block; it ends the run if it throws */
  pause: (done: number, total: number) => unknown;
};
/** tensors that the caller must free */
export type StepResult = { hidden: Tensor; logits?: Tensor; pooled?: Tensor };

const CALLER = 'forward';

export async function forwardInSteps(
  model: Transformer,
  sharedOf: (caller: string, graph: Graph, values: Values) => Shared,
  memory: Memory,
  given: ModelInput,
  how: StepOptions,
): Promise<StepResult> {
  const { options } = model;
  const { edit = [], onHead, blocks } = how;
  const edited = onHead && edit.find(({ at }) => at.endsWith('weights'));
  if (edited) throw argumentError(CALLER, 'edit', edited.at, 'no edit of weights that are read head by head');
  const values = readValues(CALLER, options, how.capture, edit, memory.buffer);
  const graph = onHead ? new GraphOfHeads(memory, onHead) : new Graph(memory, CALLER);
  const shared = sharedOf(CALLER, graph, values);
  const input = readInput(CALLER, options, given, (text) => model.encode(text));
  const first = input.encoder && options.encoder ? options.encoder.layers : 0;
  const total = first + options.layers;
  const steps = new Steps(memory, values, { ...how, pause: (done: number) => how.pause(done, total) });
  if (!input.encoder || !options.encoder) return steps.compute(new Run(shared, options, '', input), 0, blocks);
  const encoder = new Run(shared, options.encoder, 'encoder.', input.encoder);
  const { hidden } = await steps.compute(encoder, 0);
  try {
    const encoded = { tensor: hidden, padding: encoder.padding };
    return await steps.compute(new Run(shared, options, '', input, { encoded }), first, blocks);
  } finally {
    hidden.dispose();
  }
}

/** Computes stacks of blocks, each block in a scope of its own. */
class Steps {
  #memory: Memory;
  #values: Values;
  #how: Omit<StepOptions, 'pause'> & { pause: (done: number) => unknown };

  constructor(memory: Memory, values: Values, how: Omit<StepOptions, 'pause'> & { pause: (done: number) => unknown }) {
    this.#memory = memory;
    this.#values = values;
    this.#how = how;
  }

  /** before: number of blocks that were computed before */
  async compute(run: Run, before: number, part?: StepOptions['blocks']): Promise<StepResult> {
    const { from = 0, to = run.options.layers } = part ?? {};
    const { x: start, ...kept } = this.#step([], () => begin(run, part));
    let x = start;
    try {
      for (let i = from; i < to; i++) {
        if (run.graph instanceof GraphOfHeads) run.graph.layer = i;
        const next = this.#step([x], () => ({ x: block(run, i, x) })).x;
        if (next !== x) x.dispose();
        x = next;
        await this.#how.pause(before + i + 1 - from);
      }
      if (part) return { hidden: run.graph.memory.scope(() => run.graph.duplicate(x)) };
      return this.#step([x], () => finish(run, x, run.prefix === '' ? this.#how.row : undefined));
    } finally {
      for (const tensor of tensorsIn({ x, kept })) tensor.dispose();
    }
  }

  /** Frees what a function makes, except its result, after it has passed on the captured values. */
  #step<T>(inputs: Tensor[], fn: () => T) {
    const { captured } = this.#values;
    const { result } = this.#memory.scope(() => ({ result: fn(), captured }));
    const kept = tensorsIn({ result, inputs });
    for (const [name, tensor] of Object.entries(captured)) {
      this.#how.onValue(name, tensor);
      if (!kept.has(tensor)) tensor.dispose();
      delete captured[name];
    }
    return result;
  }
}

/** Computes the input of the first block, and what all blocks share. */
function begin(run: Run, part: StepOptions['blocks']) {
  const x = part?.data && part.shape ? run.graph.from(part.shape, part.data) : embedInput(run);
  run.prepare();
  return { x, bias: run.positionBias()?.tensor, relative: run.relative };
}

function finish(run: Run, x: Tensor, row: number | undefined): StepResult {
  const normed = run.passRows('final', run.norm('norm', x));
  // The caller frees the input.
  const hidden = normed === x ? run.graph.duplicate(x) : normed;
  if (run.prefix !== '') return { hidden };
  return { hidden, ...computeHead(run, hidden, row === undefined ? hidden : sliceRows(run.graph, hidden, row, 1)) };
}

/** Computes requested weights and scores head by head, and passes them on instead of returning them. */
class GraphOfHeads extends Graph {
  #onHead: ReadHead;
  /** The block that is computed. */
  layer = 0;

  constructor(memory: Memory, onHead: ReadHead) {
    super(memory, CALLER);
    this.#onHead = onHead;
  }

  attention(call: AttentionCall) {
    for (let head = 0; head < call.sizes.heads && (call.weights || call.scores); head++)
      this.memory.scope(() => {
        const { weights, scores } = this.attend(this.#callOf(call, head));
        if (call.weights && weights) this.#onHead('weights', this.layer, head, viewOf(weights));
        if (call.scores && scores) this.#onHead('scores', this.layer, head, viewOf(scores));
      });
    return super.attention({ ...call, weights: false, scores: false });
  }

  /** Returns the call for one head of one sequence. */
  #callOf(call: AttentionCall, head: number): AttentionCall {
    const { heads, kvHeads, queries, keys, width } = call.sizes;
    const query = this.make([1, queries, width]);
    const [to, from] = [viewOf(query), viewOf(call.query)];
    for (let t = 0; t < queries; t++) {
      const at = (t * heads + head) * width;
      to.set(from.subarray(at, at + width), t * width);
    }
    const group = Math.floor((head * kvHeads) / heads);
    /** A part of a tensor can replace a tensor in a call. */
    const part = (tensor: Tensor, start: number) => partOf(tensor, start) as unknown as Tensor;
    const { bias, sinks, givenScores } = call;
    return {
      ...call,
      query,
      key: part(call.key, group * call.keyStride[1]),
      value: part(call.value, group * call.keyStride[1]),
      sizes: { batch: 1, heads: 1, kvHeads: 1, queries, keys, width },
      ...(bias && { bias: { ...bias, tensor: part(bias.tensor, head * bias.stride[1]) } }),
      ...(sinks?.tensor && { sinks: { shape: [1], tensor: part(sinks.tensor, head) } }),
      ...(call.slopes && { slopes: call.slopes.subarray(head, head + 1) }),
      ...(givenScores && { givenScores: part(givenScores, head * queries * keys) }),
    };
  }
}
