// The multi-head layer: its parameters, and forward and backward through the core.

import { ATTENTION, MULTIHEAD, MULTIHEAD_BACKWARD } from '../../../dist/abi/abi.js';
import { checkOptions, readBoolean } from '../check/arguments.js';
import { argumentError, HeadlightError, shapeError } from '../check/errors.js';
import { INSPECT } from '../check/inspect.js';
import { formatShape } from '../check/shape.js';
import { DISPOSE } from '../memory/disposable.js';
import { checkAlive, mayChange, own, shapeOf, Tensor, versionOf, viewOf } from '../memory/tensor.js';
import { isEmpty, makeBiasGradient, makeSinksGradient, pointToIncoming, readIncoming } from './gradients.js';
import { readState, writeState } from './layouts.js';
import { resolveOptions } from './multiheadOptions.js';
import { refusePast, takePast } from './past.js';
import { fillUniform, uniformSource } from './random.js';
import { AttentionResult } from './result.js';
import { pointToRotary } from './rotary.js';
import { pointToVisibility, readVisibility, VISIBILITY_OPTIONS } from './visibility.js';

/** @import { Frame, Saved } from '../memory/frame.js' */
/** @import { Memory } from '../memory/memory.js' */
/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { BackwardOptions, ForwardShapes } from './gradients.js' */
/** @import { Layout } from './layouts.js' */
/** @import { StateEntry } from './state.js' */
/** @import { LayerOnnxOptions } from '../onnx/layer.js' */
/** @import { MultiHeadOptions } from './multiheadOptions.js' */
/** @import { BiasChoice, PastChoice, ScoresChoice, WeightsChoice } from './visibility.js' */
/** @import { Dropout, Visibility } from './visibility.js' */
/** @import { ForwardOptions } from '../types.js' */

/** @typedef {'wq' | 'wk' | 'wv' | 'wo' | 'bq' | 'bk' | 'bv' | 'bo' | 'biasK' | 'biasV'} ParameterName */
/**
 * Weights are (out, in).
 * @typedef {{ wq: Tensor, wk: Tensor, wv: Tensor, wo?: Tensor, bq?: Tensor, bk?: Tensor, bv?: Tensor, bo?: Tensor,
 *   biasK?: Tensor, biasV?: Tensor }} Parameters
 */
/** @typedef {Partial<Record<ParameterName, Tensor>>} Gradients of the parameters, by their names */
/**
 * Each as the input it is of. An input that was another's default has its gradient added into that one.
 * @typedef {{ dQuery: Tensor, dKey?: Tensor, dValue?: Tensor, dBias?: Tensor, dSinks?: Tensor }} LayerGradients
 */
/**
 * State of a forward pass that its backward needs.
 * @typedef {object} Pass
 * @property {Saved} saved
 * @property {ForwardShapes} shapes
 * @property {(readonly number[] | undefined)[]} inputs shapes of query, key, value; undefined where it was a default
 */

const WEIGHTS = /** @type {const} */ (['wq', 'wk', 'wv', 'wo']);
/** Where the core finds the weights in its own order, the gradient of each parameter, and the weights as they are. */
const PACKED = { wq: MULTIHEAD.packedWq, wk: MULTIHEAD.packedWk, wv: MULTIHEAD.packedWv, wo: MULTIHEAD.packedWo };
const GRADIENTS = /** @type {Record<ParameterName, number>} */ ({
  wq: MULTIHEAD_BACKWARD.dWq,
  wk: MULTIHEAD_BACKWARD.dWk,
  wv: MULTIHEAD_BACKWARD.dWv,
  wo: MULTIHEAD_BACKWARD.dWo,
  bq: MULTIHEAD_BACKWARD.dBq,
  bk: MULTIHEAD_BACKWARD.dBk,
  bv: MULTIHEAD_BACKWARD.dBv,
  bo: MULTIHEAD_BACKWARD.dBo,
  biasK: MULTIHEAD_BACKWARD.dBiasKey,
  biasV: MULTIHEAD_BACKWARD.dBiasValue,
});
const PLAIN = /** @type {Record<ParameterName, number>} */ ({
  wq: MULTIHEAD_BACKWARD.wq,
  wk: MULTIHEAD_BACKWARD.wk,
  wv: MULTIHEAD_BACKWARD.wv,
  wo: MULTIHEAD_BACKWARD.wo,
});
const VECTORS = /** @type {const} */ ([
  ['bq', MULTIHEAD.bq],
  ['bk', MULTIHEAD.bk],
  ['bv', MULTIHEAD.bv],
  ['bo', MULTIHEAD.bo],
  ['biasK', MULTIHEAD.biasKey],
  ['biasV', MULTIHEAD.biasValue],
]);

export class MultiHeadAttention {
  #memory;
  #options;
  #training = false;
  /** Forwards with dropout so far: each has a mask of its own. */
  #step = 0;
  /**
   * The weights in the order in which the core reads them.
   * @type {{ at: number, name: string, weight: Tensor, packed: Tensor, version: number }[]}
   */
  #packed = [];
  /** @type {{ at: number, name: string, vector: Tensor }[]} */
  #vectors = [];
  /** The last forward in training, until its backward. @type {Pass | null} */
  #pass = null;
  /** @type {Gradients} */
  #gradients = {};

  /**
   * @param {Memory} memory
   * @param {MultiHeadOptions} given
   */
  constructor(memory, given) {
    this.#memory = memory;
    const options = resolveOptions(given);
    this.#options = options;
    /** @type {Readonly<Parameters>} */
    this.parameters = memory.frame('multiHeadAttention', (frame) => {
      const next = uniformSource(options.seed);
      /** Xavier uniform. @param {number} out @param {number} inside */
      const weight = (out, inside) => {
        const tensor = frame.make([out, inside]);
        const limit = Math.sqrt(6 / (out + inside));
        fillUniform(viewOf(tensor), next, -limit, limit);
        return tensor;
      };
      /** @param {number} size */
      const zeros = (size) => {
        const tensor = frame.make([size]);
        viewOf(tensor).fill(0);
        return tensor;
      };
      /** @param {number} size */
      const learned = (size) => {
        const tensor = frame.make([size]);
        const limit = Math.sqrt(6 / (1 + size));
        fillUniform(viewOf(tensor), next, -limit, limit);
        return tensor;
      };
      const { embedDim, numHeads, kvHeads, headDim, bias, outBias, outProjection, biasKV } = options;
      const [queryWidth, kvWidth] = [numHeads * headDim, kvHeads * headDim];
      const parameters = {
        wq: weight(queryWidth, options.queryDim),
        wk: weight(kvWidth, options.keyDim),
        wv: weight(kvWidth, options.valueDim),
        ...(outProjection && { wo: weight(embedDim, queryWidth) }),
        ...(bias && { bq: zeros(queryWidth), bk: zeros(kvWidth), bv: zeros(kvWidth) }),
        ...(outProjection && outBias && { bo: zeros(embedDim) }),
        ...(biasKV && { biasK: learned(kvWidth), biasV: learned(kvWidth) }),
      };
      for (const name of WEIGHTS) {
        const weight = parameters[name];
        const parameter = `parameters.${name}`;
        if (weight) this.#packed.push({ at: PACKED[name], name: parameter, weight, packed: weight, version: -1 });
      }
      this.#makePacked(frame);
      this.#vectors = VECTORS.flatMap(([name, at]) =>
        parameters[name] ? [{ at, name: `parameters.${name}`, vector: parameters[name] }] : [],
      );
      return Object.freeze(parameters);
    });
    // Their sizes are not looked at again.
    Object.freeze(this);
  }

  /** The options, with every default filled in. */
  get options() {
    return this.#options;
  }

  get #int8() {
    return this.#options.weights === 'int8';
  }

  /** Room for every packed weight, in the place of what there was. @param {Frame} frame */
  #makePacked(frame) {
    const made = this.#packed.map(({ weight }) => this.#memory.makePacked(frame, weight, this.#int8));
    this.#packed.forEach((entry, i) => {
      own(entry.weight, 'packed', (entry.packed = made[i]));
      entry.version = -1;
    });
  }

  /**
   * From now on the layer multiplies by weights of nine bits: about as fast or faster, in 29% of the memory, and less
   * exact. The parameters stay as they are, and so does what stateDict gives.
   */
  quantize() {
    for (const { name, weight } of this.#packed) weight.checkOwner(this.#memory, 'quantize', name);
    if (this.#int8) return this;
    const before = this.#options;
    this.#options = Object.freeze({ ...before, weights: /** @type {const} */ ('int8') });
    try {
      this.#memory.frame('quantize', (frame) => this.#makePacked(frame));
    } catch (error) {
      this.#options = before;
      throw error;
    }
    return this;
  }

  /**
   * Inputs are (B,T,C) or (T,C). The key is the query and the value is the key where not given; options may
   * stand in the place of the first one left out.
   * @template {WeightsChoice} [W=undefined]
   * @template {ScoresChoice} [S=undefined]
   * @template {PastChoice} [P=undefined]
   * @template {BiasChoice} [B=undefined]
   * @overload
   * @param {TensorLike} query
   * @param {ForwardOptions<W, S, P, B>} [options]
   * @returns {AttentionResult<W, S, P, B>}
   */
  /**
   * @template {WeightsChoice} [W=undefined]
   * @template {ScoresChoice} [S=undefined]
   * @template {PastChoice} [P=undefined]
   * @template {BiasChoice} [B=undefined]
   * @overload
   * @param {TensorLike} query
   * @param {TensorLike | undefined} key
   * @param {ForwardOptions<W, S, P, B>} [options]
   * @returns {AttentionResult<W, S, P, B>}
   */
  /**
   * @template {WeightsChoice} [W=undefined]
   * @template {ScoresChoice} [S=undefined]
   * @template {PastChoice} [P=undefined]
   * @template {BiasChoice} [B=undefined]
   * @overload
   * @param {TensorLike} query
   * @param {TensorLike | undefined} key
   * @param {TensorLike | undefined} value
   * @param {ForwardOptions<W, S, P, B>} [options]
   * @returns {AttentionResult<W, S, P, B>}
   */
  /**
   * @param {TensorLike} query
   * @param {TensorLike | ForwardOptions} [key]
   * @param {TensorLike | ForwardOptions} [value]
   * @param {ForwardOptions} [options]
   * @returns {AttentionResult<any, any, any, any>}
   */
  forward(query, key, value, options) {
    if (options === undefined && isOptions(key)) {
      if (value !== undefined) throw argumentError('forward', 'value', value, 'nothing after the options');
      return this.#forward(query, undefined, undefined, key);
    }
    const k = /** @type {TensorLike | undefined} */ (key);
    if (options === undefined && isOptions(value)) return this.#forward(query, k, undefined, value);
    return this.#forward(query, k, /** @type {TensorLike | undefined} */ (value), options ?? {});
  }

  /**
   * @param {TensorLike} query
   * @param {TensorLike | undefined} key
   * @param {TensorLike | undefined} value
   * @param {ForwardOptions} options
   */
  #forward(query, key, value, options) {
    const caller = 'forward';
    const { numHeads, kvHeads, headDim, embedDim, queryDim, keyDim, valueDim, biasKV, zeroAttention } = this.options;
    return this.#memory.frame(caller, (frame) => {
      checkOptions(caller, options, VISIBILITY_OPTIONS);
      const visibility = readVisibility(frame, caller, options, this.#training);
      const inputs = {
        query: frame.read(query, 'query'),
        key: key === undefined ? undefined : frame.read(key, 'key'),
        value: value === undefined ? undefined : frame.read(value, 'value'),
      };
      const { train } = visibility;
      const keep = train && !this.#int8;
      this.#forget();
      if (keep) {
        refusePast(caller, visibility.past);
        frame.train();
      }
      const q = frame.input(inputs.query, 'query');
      const k = inputs.key === undefined ? q : frame.input(inputs.key, 'key');
      const v = inputs.value === undefined ? k : frame.input(inputs.value, 'value');
      const rank = q.shape.length;
      if (rank !== 2 && rank !== 3) throw shapeError(caller, 'query', q.shape, `(B,T,${queryDim}) or (T,${queryDim})`);
      const batched = rank === 3;
      const batch = batched ? q.shape[0] : 1;
      const queries = q.shape[rank - 2];
      const fresh = k.shape.length < 2 ? 0 : k.shape[k.shape.length - 2];
      /** @param {number} rows @param {number} width */
      const form = (rows, width) => (batched ? [batch, rows, width] : [rows, width]);
      /** @param {string} name @param {readonly number[]} shape @param {number} rows @param {number} width */
      const check = (name, shape, rows, width) => {
        const fits = shape.length === rank && shape[rank - 1] === width && shape[rank - 2] === rows;
        if (!fits || (batched && shape[0] !== batch))
          throw shapeError(caller, name, shape, formatShape(form(rows, width)));
      };
      check('query', q.shape, queries, queryDim);
      check(inputs.key === undefined ? 'key (the query)' : 'key', k.shape, fresh, keyDim);
      check(inputs.value === undefined ? 'value (the key)' : 'value', v.shape, fresh, valueDim);
      this.#pointToParameters(frame, caller);

      const pastSizes = { batch, kvHeads, width: headDim, valueWidth: headDim };
      const past = takePast(frame, caller, visibility.past, pastSizes);
      const length = past?.length ?? 0;
      const appended = Number(biasKV) + Number(zeroAttention);
      const sizes = { batch, heads: numHeads, kvHeads, queries, keys: length + fresh, past: length, appended };
      if (train) visibility.dropout ??= this.#nextDropout();
      const { weights, scores } = pointToVisibility(frame, caller, visibility, sizes, headDim);
      if (visibility.rotary) {
        const places = { batch, queries, fresh, past: length, width: headDim };
        const turn = pointToRotary(frame, caller, visibility.rotary, places, visibility.offset);
        frame.setPointer(MULTIHEAD.rotaryTable, turn.table);
        frame.setPointer(MULTIHEAD.queryPositions, turn.query);
        frame.setPointer(MULTIHEAD.keyPositions, turn.key);
        frame.ints[MULTIHEAD.rotated] = turn.rotated;
        frame.ints[MULTIHEAD.rotaryCount] = turn.count;
        frame.ints[MULTIHEAD.rotaryNeighbours] = turn.neighbours;
      }
      const outputWidth = this.options.outProjection ? embedDim : numHeads * headDim;
      const output = frame.result(ATTENTION.output, 'output', form(queries, outputWidth));
      const present = past && {
        key: frame.make([batch, kvHeads, sizes.keys, headDim]),
        value: frame.make([batch, kvHeads, sizes.keys, headDim]),
      };
      const { ints } = frame;
      frame.setPointer(MULTIHEAD.query, q.block);
      frame.setPointer(MULTIHEAD.key, k.block);
      frame.setPointer(MULTIHEAD.value, v.block);
      frame.setPointer(MULTIHEAD.pastKey, past?.key);
      frame.setPointer(MULTIHEAD.pastValue, past?.value);
      frame.setPointer(MULTIHEAD.presentKey, present?.key);
      frame.setPointer(MULTIHEAD.presentValue, present?.value);
      ints[MULTIHEAD.queryDim] = queryDim;
      ints[MULTIHEAD.keyDim] = keyDim;
      ints[MULTIHEAD.valueDim] = valueDim;
      ints[MULTIHEAD.outputDim] = embedDim;
      ints[MULTIHEAD.pastKeys] = length;
      ints[MULTIHEAD.zeroAttention] = Number(zeroAttention);
      ints[MULTIHEAD.int8] = Number(this.#int8);
      if (keep) frame.setPointer(MULTIHEAD.saved, frame.saveLayerForBackward());
      frame.run('hl_multihead_forward');
      if (keep) {
        const saved = frame.saved();
        own(this.parameters.wq, 'saved', saved);
        this.#pass = {
          saved,
          shapes: {
            dOutput: shapeOf(output),
            dWeights: weights && shapeOf(weights),
            bias: frame.biasShape,
            sinks: visibility.sinks?.shape,
          },
          inputs: [q.shape, inputs.key && k.shape, inputs.value && v.shape],
        };
      }
      return new AttentionResult({ output, weights, scores, presentKey: present?.key, presentValue: present?.value });
    });
  }

  /**
   * Weights are packed anew only where they may have changed: after loadStateDict, where the core has
   * written to them, and before every call for those of whose `data` somebody holds a view.
   * @param {Frame} frame
   * @param {string} caller
   */
  #pointToParameters(frame, caller) {
    for (const entry of this.#packed) {
      const { at, name, weight, packed, version } = entry;
      weight.checkOwner(this.#memory, caller, name);
      if (version !== versionOf(weight) || mayChange(weight)) this.#memory.pack(caller, packed, weight, this.#int8);
      entry.version = versionOf(weight);
      frame.setPointer(at, packed);
    }
    for (const { at, name, vector } of this.#vectors) {
      vector.checkOwner(this.#memory, caller, name);
      frame.setPointer(at, vector);
    }
  }

  /** Frees what the last forward has left for backward. */
  #forget() {
    this.#pass?.saved.dispose();
    this.#pass = null;
  }

  /**
   * From the gradient of the output, and of the returned weights, to those of the inputs and the bias of the last
   * forward with train: true, which must not have been followed by a change of the parameters. Those of the parameters
   * add up in `gradients`.
   * @param {TensorLike} dOutput
   * @param {BackwardOptions} [options]
   * @returns {LayerGradients}
   */
  backward(dOutput, options = {}) {
    const caller = 'backward';
    if (this.#int8) throw new HeadlightError('STATE', `${caller}: a layer with int8 weights cannot be trained`);
    return this.#memory.frame(caller, (frame) => {
      const incoming = readIncoming(frame, dOutput, options);
      const pass = this.#pass;
      if (!pass || pass.saved.disposed)
        throw new HeadlightError(
          'STATE',
          `${caller}: there is no forward with train: true to go back through; ` +
            'each serves one backward, until the next forward',
        );
      frame.restore(pass.saved);
      pointToIncoming(
        frame,
        { output: MULTIHEAD_BACKWARD.dOutput, weights: MULTIHEAD_BACKWARD.dWeights },
        incoming,
        pass.shapes,
      );
      this.#pointToGradients(frame, caller);
      const empty = isEmpty(incoming);
      /** @type {Tensor | undefined} */
      let before;
      const [dQuery, dKey, dValue] = [
        MULTIHEAD_BACKWARD.dQuery,
        MULTIHEAD_BACKWARD.dKey,
        MULTIHEAD_BACKWARD.dValue,
      ].map((at, i) => {
        const shape = pass.inputs[i];
        const made = shape && (empty ? frame.zeros([...shape]) : frame.make([...shape]));
        before = made ?? before;
        frame.setPointer(at, before);
        return made;
      });
      const dBias = makeBiasGradient(frame, MULTIHEAD_BACKWARD.dBias, pass.shapes.bias, incoming);
      const dSinks = makeSinksGradient(frame, MULTIHEAD_BACKWARD.dSinks, pass.shapes);
      if (!empty) frame.run('hl_multihead_backward');
      const result = {
        dQuery: /** @type {Tensor} */ (dQuery),
        ...(dKey && { dKey }),
        ...(dValue && { dValue }),
        ...(dBias && { dBias: dBias() }),
        ...(dSinks && { dSinks }),
      };
      this.#forget();
      return result;
    });
  }

  /** @param {Frame} frame @param {string} caller */
  #pointToGradients(frame, caller) {
    const { gradients } = this;
    for (const [name, tensor] of Object.entries(this.parameters)) {
      const parameter = /** @type {ParameterName} */ (name);
      const gradient = /** @type {Tensor} */ (gradients[parameter]);
      tensor.checkOwner(this.#memory, caller, `parameters.${name}`);
      gradient.checkOwner(this.#memory, caller, `gradients.${name}`);
      frame.setPointer(GRADIENTS[parameter], gradient);
      if (PLAIN[parameter] !== undefined) frame.setPointer(PLAIN[parameter], tensor);
    }
  }

  /** Of the parameters, by their names: zeros at first, then the sum of every backward since zeroGrad(). */
  get gradients() {
    if (Object.keys(this.#gradients).length === 0) {
      checkAlive(this.parameters, 'gradients', 'parameters');
      this.#gradients = this.#memory.frame('gradients', (frame) =>
        Object.freeze(
          Object.fromEntries(
            Object.entries(this.parameters).map(([name, tensor]) => [
              name,
              this.#memory.unscoped(frame.zeros([...shapeOf(tensor)])),
            ]),
          ),
        ),
      );
      for (const [name, tensor] of Object.entries(this.parameters))
        own(tensor, 'gradient', this.#gradients[/** @type {ParameterName} */ (name)] ?? null);
    }
    return this.#gradients;
  }

  zeroGrad() {
    checkAlive(this.parameters, 'zeroGrad', 'parameters');
    for (const gradient of Object.values(this.#gradients)) viewOf(gradient).fill(0);
    return this;
  }

  /** The layer's own in training, with a new mask each time. @returns {Dropout | undefined} */
  #nextDropout() {
    const { dropout: p, seed } = this.options;
    return p === 0 ? undefined : { p, seed: (seed >>> 0) + (this.#step++ % 2 ** 20) * 2 ** 32 };
  }

  /**
   * Training on, or off again: with it, forward drops weights where the layer has dropout, and keeps copies of its
   * inputs, its projections and its heads for one backward.
   * @param {boolean} [on]
   */
  train(on = true) {
    this.#training = readBoolean('train', 'on', on);
    return this;
  }

  eval() {
    return this.train(false);
  }

  /**
   * Copies of the parameters under the names of a library.
   * @param {Layout} [layout]
   * @returns {Record<string, StateEntry>}
   */
  stateDict(layout = 'headlight') {
    return writeState(this, layout);
  }

  /**
   * @param {Record<string, TensorLike>} dict as stateDict gives it, or the tensors of a safetensors file
   * @param {Layout | { prefix?: string }} [layout] found from the names where not given; of the tensors of a whole
   *   checkpoint, the prefix of one layer, as hl.layersIn gives it
   */
  loadStateDict(dict, layout) {
    readState(this, dict, layout);
    return this;
  }

  /**
   * The layer as an ONNX model: its files by name, as toOnnx of headlight-attention/onnx gives them.
   * @param {LayerOnnxOptions} [options]
   */
  async toOnnx(options) {
    const { layerToOnnx } = await import('../onnx/layer.js');
    return layerToOnnx(this, options ?? {});
  }

  dispose() {
    this.#forget();
    for (const tensor of Object.values(this.parameters)) tensor.dispose();
  }

  [DISPOSE]() {
    this.dispose();
  }

  toString() {
    const { embedDim, numHeads, kvHeads, headDim } = this.options;
    const heads = kvHeads === numHeads ? `${numHeads} heads` : `${numHeads} heads, ${kvHeads} of keys and values`;
    return `MultiHeadAttention: ${heads}, width ${embedDim}, of each head ${headDim}`;
  }

  /** The line that Node's console.log shows. @internal */
  [INSPECT]() {
    return this.toString();
  }
}

/** @param {TensorLike | ForwardOptions | undefined} value @returns {value is ForwardOptions} */
function isOptions(value) {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !ArrayBuffer.isView(value) &&
    !('shape' in value) &&
    !('data' in value)
  );
}
