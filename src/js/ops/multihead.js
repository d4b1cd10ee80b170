// The multi-head attention layer: forward and backward.

import { ATTENTION, MULTIHEAD, MULTIHEAD_BACKWARD } from '../../../dist/abi/abi.js';
import { checkOptions, readBoolean } from '../check/arguments.js';
import { argumentError, HeadlightError } from '../check/errors.js';
import { INSPECT } from '../check/inspect.js';
import { DISPOSE } from '../memory/disposable.js';
import { checkAlive, mayChange, own, shapeOf, Tensor, versionOf, viewOf } from '../memory/tensor.js';
import { isEmpty, makeBiasGradient, makeSinksGradient, readUpstream, setUpstream } from './gradients.js';
import { readState, writeState } from './layouts.js';
import { checkInputs, isOptions } from './multiheadInputs.js';
import { resolveOptions } from './multiheadOptions.js';
import {
  GRADIENT_ARGUMENTS,
  makeParameters,
  PACKED_ARGUMENTS,
  VECTOR_ARGUMENTS,
  WEIGHT_ARGUMENTS,
} from './multiheadParameters.js';
import { inputPast, rejectPast } from './past.js';
import { AttentionResult } from './result.js';
import { makeRotation } from './rotary.js';
import { readVisibility, setVisibility, VISIBILITY_OPTIONS } from './visibility.js';

/** @import { Frame, Saved } from '../memory/frame.js' */
/** @import { Memory } from '../memory/memory.js' */
/** @import { Staged } from '../memory/tensor.js' */
/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { BackwardOptions, ForwardShapes } from './gradients.js' */
/** @import { Layout } from './layouts.js' */
/** @import { StateEntry } from './state.js' */
/** @import { LayerOnnxOptions } from '../onnx/layer.js' */
/** @import { MultiHeadOptions } from './multiheadOptions.js' */
/** @import { Gradients, ParameterName, Parameters } from './multiheadParameters.js' */
/** @import { Rotary } from './rotary.js' */
/** @import { BiasChoice, PastChoice, ScoresChoice, WeightsChoice } from './visibility.js' */
/** @import { Dropout, Visibility } from './visibility.js' */
/** @import { ForwardOptions } from '../types.js' */

/**
 * Gradients of the inputs, each with the shape of its input. If an input was also used for an omitted input, its
 * gradient is the sum of both.
 * @typedef {{ dQuery: Tensor, dKey?: Tensor, dValue?: Tensor, dBias?: Tensor, dSinks?: Tensor }} LayerGradients
 */
/**
 * State of a forward pass that the backward pass needs.
 * @typedef {object} Pass
 * @property {Saved} saved
 * @property {ForwardShapes} shapes
 * @property {(readonly number[] | undefined)[]} inputs shapes of query, key and value; undefined for an omitted input
 */

/** The arguments of backward for the gradients of query, key and value. */
const INPUT_GRADIENTS = [MULTIHEAD_BACKWARD.dQuery, MULTIHEAD_BACKWARD.dKey, MULTIHEAD_BACKWARD.dValue];

export class MultiHeadAttention {
  #memory;
  #options;
  #training = false;
  /** Number of forward passes with dropout so far, which gives each of them a different mask. */
  #step = 0;
  /**
   * The weights in packed form. version: version of the weight from which it was packed.
   * @type {{ at: number, name: string, weight: Tensor, packed: Tensor, version: number }[]}
   */
  #packed = [];
  /** @type {{ at: number, name: string, vector: Tensor }[]} */
  #vectors = [];
  /** State of the last forward pass in training, until backward is called. @type {Pass | null} */
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
      const parameters = makeParameters(frame, options);
      for (const [name, at] of PACKED_ARGUMENTS) {
        const weight = parameters[name];
        if (weight) this.#packed.push({ at, name: `parameters.${name}`, weight, packed: weight, version: -1 });
      }
      this.#makePacked(frame);
      this.#vectors = VECTOR_ARGUMENTS.flatMap(([name, at]) =>
        parameters[name] ? [{ at, name: `parameters.${name}`, vector: parameters[name] }] : [],
      );
      return Object.freeze(parameters);
    });
    // A parameter must not be replaced, because the arguments of the core assume the shapes above.
    Object.freeze(this);
  }

  /** The options, with every default filled in. */
  get options() {
    return this.#options;
  }

  get #int8() {
    return this.#options.weights === 'int8';
  }

  /** Allocates the packed weights and replaces the previous ones. @param {Frame} frame */
  #makePacked(frame) {
    const made = this.#packed.map(({ weight }) => this.#memory.makePacked(frame, weight, this.#int8));
    this.#packed.forEach((entry, i) => {
      own(entry.weight, 'packed', (entry.packed = made[i]));
      entry.version = -1;
    });
  }

  /**
   * Rounds the weights that products use to nine bits. The products become less exact and are as fast or faster, with
   * 29% of the memory for weights. The parameters and stateDict() do not change.
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
   * Computes multi-head attention. Inputs are (B,T,C) or (T,C). The key is the query by default, and the value is the
   * key. The options may directly follow the last input.
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
   * @param {TensorLike} query (B,T,queryDim)
   * @param {TensorLike | ForwardOptions} [key] (B,S,keyDim)
   * @param {TensorLike | ForwardOptions} [value] (B,S,valueDim)
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
   * @param {TensorLike} query (B,T,queryDim)
   * @param {TensorLike | undefined} key (B,S,keyDim)
   * @param {TensorLike | undefined} value (B,S,valueDim)
   * @param {ForwardOptions} options
   */
  #forward(query, key, value, options) {
    const caller = 'forward';
    const { numHeads, kvHeads, headDim, embedDim, outProjection, biasKV, zeroAttention } = this.options;
    return this.#memory.frame(caller, (frame) => {
      checkOptions(caller, options, VISIBILITY_OPTIONS);
      const visibility = readVisibility(frame, caller, options, this.#training);
      const inputs = {
        query: frame.read(query, 'query'),
        key: key === undefined ? undefined : frame.read(key, 'key'),
        value: value === undefined ? undefined : frame.read(value, 'value'),
      };
      const { train } = visibility;
      const saves = train && !this.#int8;
      this.#forget();
      if (saves) {
        rejectPast(caller, visibility.past);
        frame.train();
      }
      const { q, k, v, batch, queries, fresh, shapeOfRows } = checkInputs(frame, this.options, inputs);
      this.#setParameters(frame, caller);

      const pastSizes = { batch, kvHeads, width: headDim, valueWidth: headDim };
      const past = inputPast(frame, caller, visibility.past, pastSizes);
      const length = past?.length ?? 0;
      const appended = Number(biasKV) + Number(zeroAttention);
      const sizes = { batch, heads: numHeads, kvHeads, queries, keys: length + fresh, past: length, appended };
      if (train) visibility.dropout ??= this.#nextDropout();
      const { weights, scores } = setVisibility(frame, caller, visibility, sizes, headDim); // (B,H,T,S) or (B,T,S)
      if (visibility.rotary) this.#setRotary(frame, visibility, { batch, queries, fresh, past: length });
      const outputWidth = outProjection ? embedDim : numHeads * headDim;
      const output = frame.result(ATTENTION.output, 'output', shapeOfRows(queries, outputWidth)); // (B,T,C)
      const present = past && {
        key: frame.make([batch, kvHeads, sizes.keys, headDim]), // (B,G,P+S,D)
        value: frame.make([batch, kvHeads, sizes.keys, headDim]), // (B,G,P+S,D)
      };
      this.#setInputs(frame, { q: q.block, k: k.block, v: v.block }, past, present);
      if (saves) frame.setPointer(MULTIHEAD.saved, frame.saveLayerForBackward());
      frame.run('hl_multihead_forward');
      if (saves) {
        const shapes = {
          dOutput: shapeOf(output),
          dWeights: weights && shapeOf(weights),
          bias: frame.biasShape,
          sinks: visibility.sinks?.shape,
        };
        const saved = frame.saved();
        own(this.parameters.wq, 'saved', saved);
        this.#pass = { saved, shapes, inputs: [q.shape, inputs.key && k.shape, inputs.value && v.shape] };
      }
      return new AttentionResult({ output, weights, scores, presentKey: present?.key, presentValue: present?.value });
    });
  }

  /**
   * @param {Frame} frame
   * @param {Visibility} visibility
   * @param {{ batch: number, queries: number, fresh: number, past: number }} sizes
   */
  #setRotary(frame, { rotary, offset }, sizes) {
    const width = this.options.headDim;
    const rotation = makeRotation(frame, 'forward', /** @type {Rotary} */ (rotary), { ...sizes, width }, offset);
    frame.setPointer(MULTIHEAD.rotaryTable, rotation.table);
    frame.setPointer(MULTIHEAD.queryPositions, rotation.query);
    frame.setPointer(MULTIHEAD.keyPositions, rotation.key);
    frame.ints[MULTIHEAD.rotated] = rotation.rotated;
    frame.ints[MULTIHEAD.rotaryCount] = rotation.count;
    frame.ints[MULTIHEAD.rotaryNeighbours] = rotation.neighbours;
  }

  /**
   * @param {Frame} frame
   * @param {Record<'q' | 'k' | 'v', Tensor | Staged>} inputs (B,T,queryDim), (B,S,keyDim), (B,S,valueDim)
   * @param {{ key: Tensor | Staged, value: Tensor | Staged, length: number } | null} past (B,G,P,D)
   * @param {{ key: Tensor, value: Tensor } | null} present (B,G,P+S,D)
   */
  #setInputs(frame, { q, k, v }, past, present) {
    const { queryDim, keyDim, valueDim, embedDim, zeroAttention } = this.options;
    const { ints } = frame;
    frame.setPointer(MULTIHEAD.query, q);
    frame.setPointer(MULTIHEAD.key, k);
    frame.setPointer(MULTIHEAD.value, v);
    frame.setPointer(MULTIHEAD.pastKey, past?.key);
    frame.setPointer(MULTIHEAD.pastValue, past?.value);
    frame.setPointer(MULTIHEAD.presentKey, present?.key);
    frame.setPointer(MULTIHEAD.presentValue, present?.value);
    ints[MULTIHEAD.queryDim] = queryDim;
    ints[MULTIHEAD.keyDim] = keyDim;
    ints[MULTIHEAD.valueDim] = valueDim;
    ints[MULTIHEAD.outputDim] = embedDim;
    ints[MULTIHEAD.pastKeys] = past?.length ?? 0;
    ints[MULTIHEAD.zeroAttention] = Number(zeroAttention);
    ints[MULTIHEAD.int8] = Number(this.#int8);
  }

  /**
   * Sets the arguments for the parameters. Packs again only the weights that may have changed: after loadStateDict,
   * after the core has written to them, and before every call if a view of their `data` exists.
   * @param {Frame} frame
   * @param {string} caller
   */
  #setParameters(frame, caller) {
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

  /** Frees the state of the last forward pass. */
  #forget() {
    this.#pass?.saved.dispose();
    this.#pass = null;
  }

  /**
   * Computes the gradients of the inputs and the bias of the last forward pass with train: true from the gradients of
   * its output and of its returned weights. Adds the gradients of the parameters to `gradients`. The parameters must
   * not have changed since that forward pass.
   * @param {TensorLike} dOutput (B,T,C)
   * @param {BackwardOptions} [options]
   * @returns {LayerGradients}
   */
  backward(dOutput, options = {}) {
    const caller = 'backward';
    if (this.#int8) throw new HeadlightError('STATE', `${caller}: a layer with int8 weights cannot be trained`);
    return this.#memory.frame(caller, (frame) => {
      const upstream = readUpstream(frame, dOutput, options);
      const pass = this.#pass;
      if (!pass || pass.saved.disposed)
        throw new HeadlightError(
          'STATE',
          `${caller}: there is no forward with train: true before it; each forward allows one backward`,
        );
      frame.restore(pass.saved);
      setUpstream(
        frame,
        { output: MULTIHEAD_BACKWARD.dOutput, weights: MULTIHEAD_BACKWARD.dWeights },
        upstream,
        pass.shapes,
      );
      this.#setGradients(frame, caller);
      const empty = isEmpty(upstream);
      /** @type {Tensor | undefined} */
      let target;
      // A missing shape means that the input was omitted. The core then adds its gradient to that of the previous
      // input.
      const [dQuery, dKey, dValue] = INPUT_GRADIENTS.map((at, i) => {
        const shape = pass.inputs[i];
        const made = shape && (empty ? frame.zeros([...shape]) : frame.make([...shape]));
        target = made ?? target;
        frame.setPointer(at, target);
        return made;
      });
      const dBias = makeBiasGradient(frame, MULTIHEAD_BACKWARD.dBias, pass.shapes.bias, upstream);
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
  #setGradients(frame, caller) {
    const { gradients } = this;
    for (const [name, tensor] of Object.entries(this.parameters)) {
      const parameter = /** @type {ParameterName} */ (name);
      const gradient = /** @type {Tensor} */ (gradients[parameter]);
      tensor.checkOwner(this.#memory, caller, `parameters.${name}`);
      gradient.checkOwner(this.#memory, caller, `gradients.${name}`);
      frame.setPointer(GRADIENT_ARGUMENTS[parameter], gradient);
      const weightAt = WEIGHT_ARGUMENTS[parameter];
      if (weightAt !== undefined) frame.setPointer(weightAt, tensor);
    }
  }

  /** Gradients of the parameters by name, summed over all backward passes since zeroGrad(). Initially zeros. */
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

  /** Returns the layer's dropout in training, with a new mask for each forward pass. @returns {Dropout | undefined} */
  #nextDropout() {
    const { dropout: p, seed } = this.options;
    return p === 0 ? undefined : { p, seed: (seed >>> 0) + (this.#step++ % 2 ** 20) * 2 ** 32 };
  }

  /**
   * Turns training on or off. In training, forward applies the layer's dropout and saves copies of its inputs,
   * projections and heads for one backward pass.
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
   * Returns copies of the parameters with the names and shapes of a library.
   * @param {Layout} [layout]
   * @returns {Record<string, StateEntry>}
   */
  stateDict(layout = 'headlight') {
    return writeState(this, layout);
  }

  /**
   * @param {Record<string, TensorLike>} dict from stateDict(), or the tensors of a safetensors file
   * @param {Layout | { prefix?: string }} [layout] default: detected from the names; for the tensors of a whole
   *   checkpoint, the prefix of one layer as returned by hl.layersIn
   */
  loadStateDict(dict, layout) {
    readState(this, dict, layout);
    return this;
  }

  /**
   * Exports the layer as an ONNX model. Returns files by name, as toOnnx of headlight-attention/onnx does.
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
    return `MultiHeadAttention: ${heads}, width ${embedDim}, head width ${headDim}`;
  }

  /** Returns the line that console.log of Node shows. @internal */
  [INSPECT]() {
    return this.toString();
  }
}
