// The multi-head attention layer: forward and backward.

import { ATTENTION, MULTIHEAD, MULTIHEAD_BACKWARD } from '../../../dist/abi/abi.js';
import { checkOptions, readBoolean } from '../check/arguments.ts';
import { argumentError, HeadlightError } from '../check/errors.ts';
import { INSPECT } from '../check/inspect.ts';
import type { TensorLike } from '../check/tensorlike.ts';
import { DISPOSE } from '../memory/disposable.ts';
import type { Frame, Saved } from '../memory/frame.ts';
import type { Memory } from '../memory/memory.ts';
import { checkAlive, mayChange, own, type Staged, shapeOf, type Tensor, versionOf, viewOf } from '../memory/tensor.ts';
import type { LayerOnnxOptions } from '../onnx/layer.ts';
import type { ForwardOptions } from '../types.ts';
import {
  type BackwardOptions,
  type ForwardShapes,
  isEmpty,
  makeBiasGradient,
  makeSinksGradient,
  readUpstream,
  setUpstream,
} from './gradients.ts';
import { type Layout, readState, writeState } from './layouts.ts';
import { checkInputs, isOptions } from './multiheadInputs.ts';
import { type MultiHeadOptions, resolveOptions } from './multiheadOptions.ts';
import {
  GRADIENT_ARGUMENTS,
  type Gradients,
  makeParameters,
  PACKED_ARGUMENTS,
  type ParameterName,
  type Parameters,
  VECTOR_ARGUMENTS,
  WEIGHT_ARGUMENTS,
} from './multiheadParameters.ts';
import { inputPast, rejectPast } from './past.ts';
import { AttentionResult } from './result.ts';
import { makeRotation, type Rotary } from './rotary.ts';
import type { StateEntry } from './state.ts';
import {
  type BiasChoice,
  type Dropout,
  type PastChoice,
  readVisibility,
  type ScoresChoice,
  setVisibility,
  VISIBILITY_OPTIONS,
  type Visibility,
  type WeightsChoice,
} from './visibility.ts';

/** Each with the shape of its input. If an input was also used for an omitted one, its gradient is the sum. */
export type LayerGradients = { dQuery: Tensor; dKey?: Tensor; dValue?: Tensor; dBias?: Tensor; dSinks?: Tensor };
export type Pass = {
  saved: Saved;
  shapes: ForwardShapes;
  /** shapes of query, key and value; undefined for an omitted input */
  inputs: (readonly number[] | undefined)[];
};

/** The arguments of backward for the gradients of query, key and value. */
const INPUT_GRADIENTS = [MULTIHEAD_BACKWARD.dQuery, MULTIHEAD_BACKWARD.dKey, MULTIHEAD_BACKWARD.dValue];

export class MultiHeadAttention {
  declare parameters: Readonly<Parameters>;

  #memory: Memory;
  #options: Readonly<{
    embedDim: number;
    numHeads: number;
    kvHeads: number;
    headDim: number;
    queryDim: number;
    keyDim: number;
    valueDim: number;
    bias: boolean;
    outBias: boolean;
    outProjection: boolean;
    biasKV: boolean;
    zeroAttention: boolean;
    dropout: number;
    seed: number;
    weights: 'float32' | 'int8';
  }>;
  #training = false;
  /** Number of forward passes with dropout so far, which gives each of them a different mask. */
  #step = 0;
  /** The weights in packed form. version: version of the weight from which it was packed. */
  #packed: { at: number; name: string; weight: Tensor; packed: Tensor; version: number }[] = [];
  #vectors: { at: number; name: string; vector: Tensor }[] = [];
  /** State of the last forward pass in training, until backward is called. */
  #pass: Pass | null = null;
  #gradients: Gradients = {};

  constructor(memory: Memory, given: MultiHeadOptions) {
    this.#memory = memory;
    const options = resolveOptions(given);
    this.#options = options;
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
    // Parameters must not be replaced, because the arguments of the core assume their shapes.
    Object.freeze(this);
  }

  /** The options, with every default filled in. */
  get options() {
    return this.#options;
  }

  get #int8() {
    return this.#options.weights === 'int8';
  }

  /** Allocates the packed weights and replaces the previous ones. */
  #makePacked(frame: Frame) {
    const made = this.#packed.map(({ weight }) => this.#memory.makePacked(frame, weight, this.#int8));
    this.#packed.forEach((entry, i) => {
      own(entry.weight, 'packed', (entry.packed = made[i]));
      entry.version = -1;
    });
  }

  /**
   * Rounds the weights in products to nine bits: less exact, as fast or faster, 29% of the memory. The parameters and
   * stateDict() do not change.
   */
  quantize() {
    for (const { name, weight } of this.#packed) weight.checkOwner(this.#memory, 'quantize', name);
    if (this.#int8) return this;
    const before = this.#options;
    this.#options = Object.freeze({ ...before, weights: 'int8' as const });
    try {
      this.#memory.frame('quantize', (frame) => this.#makePacked(frame));
    } catch (error) {
      this.#options = before;
      throw error;
    }
    return this;
  }

  /**
   * Inputs are (B,T,C) or (T,C). The key is the query by default, and the value is the key. The options may directly
   * follow the last input.
   */
  forward<
    W extends WeightsChoice = undefined,
    S extends ScoresChoice = undefined,
    P extends PastChoice = undefined,
    B extends BiasChoice = undefined,
  >(query: TensorLike, options?: ForwardOptions<W, S, P, B>): AttentionResult<W, S, P, B>;
  forward<
    W extends WeightsChoice = undefined,
    S extends ScoresChoice = undefined,
    P extends PastChoice = undefined,
    B extends BiasChoice = undefined,
  >(query: TensorLike, key: TensorLike | undefined, options?: ForwardOptions<W, S, P, B>): AttentionResult<W, S, P, B>;
  forward<
    W extends WeightsChoice = undefined,
    S extends ScoresChoice = undefined,
    P extends PastChoice = undefined,
    B extends BiasChoice = undefined,
  >(
    query: TensorLike,
    key: TensorLike | undefined,
    value: TensorLike | undefined,
    options?: ForwardOptions<W, S, P, B>,
  ): AttentionResult<W, S, P, B>;
  forward(
    query: TensorLike,
    key?: TensorLike | ForwardOptions,
    value?: TensorLike | ForwardOptions,
    options?: ForwardOptions,
  ): AttentionResult<any, any, any, any> {
    if (options === undefined && isOptions(key)) {
      if (value !== undefined) throw argumentError('forward', 'value', value, 'nothing after the options');
      return this.#forward(query, undefined, undefined, key);
    }
    const k = key as TensorLike | undefined;
    if (options === undefined && isOptions(value)) return this.#forward(query, k, undefined, value);
    return this.#forward(query, k, value as TensorLike | undefined, options ?? {});
  }

  /** query: (B,T,queryDim); key: (B,S,keyDim); value: (B,S,valueDim) */
  #forward(query: TensorLike, key: TensorLike | undefined, value: TensorLike | undefined, options: ForwardOptions) {
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

  #setRotary(
    frame: Frame,
    { rotary, offset }: Visibility,
    sizes: { batch: number; queries: number; fresh: number; past: number },
  ) {
    const width = this.options.headDim;
    const rotation = makeRotation(frame, 'forward', rotary as Rotary, { ...sizes, width }, offset);
    frame.setPointer(MULTIHEAD.rotaryTable, rotation.table);
    frame.setPointer(MULTIHEAD.queryPositions, rotation.query);
    frame.setPointer(MULTIHEAD.keyPositions, rotation.key);
    frame.ints[MULTIHEAD.rotated] = rotation.rotated;
    frame.ints[MULTIHEAD.rotaryCount] = rotation.count;
    frame.ints[MULTIHEAD.rotaryNeighbours] = rotation.neighbours;
  }

  /** inputs: (B,T,queryDim), (B,S,keyDim), (B,S,valueDim); past: (B,G,P,D); present: (B,G,P+S,D) */
  #setInputs(
    frame: Frame,
    { q, k, v }: Record<'q' | 'k' | 'v', Tensor | Staged>,
    past: { key: Tensor | Staged; value: Tensor | Staged; length: number } | null,
    present: { key: Tensor; value: Tensor } | null,
  ) {
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
   * Packs again only weights that may have changed: after loadStateDict, after the core has written to them, and before
   * every call if a view of their `data` exists.
   */
  #setParameters(frame: Frame, caller: string) {
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
   * Computes gradients of inputs and bias of the last forward with train: true from those of its output (B,T,C) and of
   * its returned weights. Adds the gradients of the parameters, which must be unchanged, to `gradients`.
   */
  backward(dOutput: TensorLike, options: BackwardOptions = {}): LayerGradients {
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
      let target: Tensor | undefined;
      // An omitted input has no shape. The core then adds its gradient to that of the previous input.
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
        dQuery: dQuery as Tensor,
        ...(dKey && { dKey }),
        ...(dValue && { dValue }),
        ...(dBias && { dBias: dBias() }),
        ...(dSinks && { dSinks }),
      };
      this.#forget();
      return result;
    });
  }

  #setGradients(frame: Frame, caller: string) {
    const { gradients } = this;
    for (const [name, tensor] of Object.entries(this.parameters)) {
      const parameter = name as ParameterName;
      const gradient = gradients[parameter] as Tensor;
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
        own(tensor, 'gradient', this.#gradients[name as ParameterName] ?? null);
    }
    return this.#gradients;
  }

  zeroGrad() {
    checkAlive(this.parameters, 'zeroGrad', 'parameters');
    for (const gradient of Object.values(this.#gradients)) viewOf(gradient).fill(0);
    return this;
  }

  /** Returns the layer's dropout in training, with a new mask for each forward pass. */
  #nextDropout(): Dropout | undefined {
    const { dropout: p, seed } = this.options;
    return p === 0 ? undefined : { p, seed: (seed >>> 0) + (this.#step++ % 2 ** 20) * 2 ** 32 };
  }

  /** Turns training on or off: dropout, and copies of inputs, projections and heads for one backward pass. */
  train(on = true) {
    this.#training = readBoolean('train', 'on', on);
    return this;
  }

  eval() {
    return this.train(false);
  }

  /** Returns copies of the parameters with the names and shapes of a library. */
  stateDict(layout: Layout = 'headlight'): Record<string, StateEntry> {
    return writeState(this, layout);
  }

  /**
   * Reads stateDict(), or the tensors of a safetensors file. layout: default: by the names; for a whole checkpoint, the
   * prefix of one layer that hl.layersIn found.
   */
  loadStateDict(dict: Record<string, TensorLike>, layout?: Layout | { prefix?: string }) {
    readState(this, dict, layout);
    return this;
  }

  /** Exports the layer as an ONNX model. Returns files by name, as toOnnx of headlight-attention/onnx does. */
  async toOnnx(options?: LayerOnnxOptions) {
    const { layerToOnnx } = await import('../onnx/layer.ts');
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
