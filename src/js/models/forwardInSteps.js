// Runs a model block by block. Between two blocks, a program can do other work, show how far the run is, or stop it.
// Weights and scores can be read head by head, so that those of all heads of a layer never exist at the same time.

import { argumentError } from '../check/errors.js';
import { partOf, tensorsIn, viewOf } from '../memory/tensor.js';
import { block } from './block.js';
import { ROWS, readValues } from './edits.js';
import { embedInput } from './embedInput.js';
import { Graph } from './graph.js';
import { computeHead } from './head.js';
import { readInput } from './input.js';
import { rarePart } from './rareParts.js';
import { sliceRows } from './rowOperations.js';
import { Run } from './run.js';

/** @import { Memory } from '../memory/memory.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { Edit, Values } from './edits.js' */
/** @import { AttentionCall } from './graph.js' */
/** @import { ModelInput } from './input.js' */
/** @import { Shared } from './run.js' */
/** @import { Transformer } from './transformer.js' */

/**
 * Reads the weights or scores (T,S) of one head. The view is valid during the call only.
 * @typedef {(kind: 'weights' | 'scores', layer: number, head: number, view: Float32Array) => void} ReadHead
 */
/**
 * @typedef {object} StepOptions
 * @property {readonly string[]} [capture] as in forward
 * @property {readonly Edit[]} [edit] as in forward
 * @property {(name: string, value: Tensor) => void} onValue gets each captured value, which is freed after the call
 * @property {ReadHead} [onHead] gets the captured weights and scores head by head instead of onValue; for one sequence
 * @property {number} [row] the only token whose logits are computed; default: all
 * @property {{ from: number, to: number, data?: Float32Array, shape?: readonly number[] }} [blocks] computes only some
 *   blocks, without the head of the model: the input of block `from`, and the first block that is not computed
 * @property {(done: number, total: number) => unknown} pause is awaited after each block; it ends the run if it throws
 */
/** @typedef {{ hidden: Tensor, logits?: Tensor, pooled?: Tensor }} StepResult tensors that the caller must free */

const CALLER = 'forward';

/**
 * @param {Transformer} model
 * @param {(caller: string, graph: Graph, values: Values) => Shared} sharedOf
 * @param {Memory} memory
 * @param {ModelInput} given
 * @param {StepOptions} how
 * @returns {Promise<StepResult>}
 */
export async function forwardInSteps(model, sharedOf, memory, given, how) {
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
  const steps = new Steps(memory, values, { ...how, pause: (/** @type {number} */ done) => how.pause(done, total) });
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
  #memory;
  #values;
  #how;

  /**
   * @param {Memory} memory
   * @param {Values} values
   * @param {Omit<StepOptions, 'pause'> & { pause: (done: number) => unknown }} how
   */
  constructor(memory, values, how) {
    this.#memory = memory;
    this.#values = values;
    this.#how = how;
  }

  /**
   * @param {Run} run
   * @param {number} before number of blocks that were computed before
   * @param {StepOptions['blocks']} [part]
   * @returns {Promise<StepResult>}
   */
  async compute(run, before, part) {
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

  /**
   * Frees what a function makes, except its result, after it has passed on the captured values.
   * @template T
   * @param {Tensor[]} inputs
   * @param {() => T} fn
   */
  #step(inputs, fn) {
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

/**
 * Computes the input of the first block, and what all blocks share.
 * @param {Run} run
 * @param {StepOptions['blocks']} part
 */
function begin(run, part) {
  const { disentangled } = run.options;
  const x = part?.data && part.shape ? run.graph.from(part.shape, part.data) : embedInput(run);
  const bias = run.positionBias()?.tensor;
  if (disentangled) run.relative = rarePart('disentangled', run.caller).relativeRows(run, disentangled);
  return { x, bias, relative: run.relative };
}

/** @param {Run} run @param {Tensor} x @param {number | undefined} row @returns {StepResult} */
function finish(run, x, row) {
  const normed = run.pass('final', run.norm('norm', x), ROWS);
  // The caller frees the input.
  const hidden = normed === x ? run.graph.duplicate(x) : normed;
  if (run.prefix !== '') return { hidden };
  return { hidden, ...computeHead(run, hidden, row === undefined ? hidden : sliceRows(run.graph, hidden, row, 1)) };
}

/** Computes requested weights and scores head by head, and passes them on instead of returning them. */
class GraphOfHeads extends Graph {
  #onHead;
  /** The block that is computed. */
  layer = 0;

  /** @param {Memory} memory @param {ReadHead} onHead */
  constructor(memory, onHead) {
    super(memory, CALLER);
    this.#onHead = onHead;
  }

  /** @override @param {AttentionCall} call */
  attention(call) {
    for (let head = 0; head < call.sizes.heads && (call.weights || call.scores); head++)
      this.memory.scope(() => {
        const { weights, scores } = this.attend(this.#callOf(call, head));
        if (call.weights && weights) this.#onHead('weights', this.layer, head, viewOf(weights));
        if (call.scores && scores) this.#onHead('scores', this.layer, head, viewOf(scores));
      });
    return super.attention({ ...call, weights: false, scores: false });
  }

  /**
   * Returns the call for one head of one sequence.
   * @param {AttentionCall} call
   * @param {number} head
   * @returns {AttentionCall}
   */
  #callOf(call, head) {
    const { heads, kvHeads, queries, keys, width } = call.sizes;
    const query = this.make([1, queries, width]);
    const [to, from] = [viewOf(query), viewOf(call.query)];
    for (let t = 0; t < queries; t++) {
      const at = (t * heads + head) * width;
      to.set(from.subarray(at, at + width), t * width);
    }
    const group = Math.floor((head * kvHeads) / heads);
    /** A part of a tensor can replace a tensor in a call. @param {Tensor} tensor @param {number} start */
    const part = (tensor, start) => /** @type {Tensor} */ (/** @type {unknown} */ (partOf(tensor, start)));
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
