// The state that embedding, blocks and head share while the graph of a stack of blocks is built: sizes, positions,
// masks. A model with an encoder has two stacks.

import type { Walk } from '../models/block.ts';
import type { At, Component } from '../models/component.ts';
import type { Resolved } from '../models/options.ts';
import { bucketOf } from '../models/positions/positions.ts';
import { anglesOf } from '../models/positions/rotaryOptions.ts';
import { alibiSlopes } from '../ops/rotary.ts';
import { type RotaryTables, rotaryTables, rotate, rowsByLength, type Visible, visibility } from './attention.ts';
import { FORMS } from './components.ts';
import type { Dim, OnnxGraph } from './graph.ts';
import type { Value } from './operators.ts';
import { Parameters, type Shared } from './parameters.ts';

export type Rotary = NonNullable<Resolved['rotary']>;
/** The graph inputs of a stack. */
export type Inputs = {
  /** (B,T) */
  ids?: Value | undefined;
  /** (B,channels,height,width) */
  pixels?: Value | undefined;
  /** (B,channels,2·context) */
  features?: Value | undefined;
  /** (B,N) */
  samples?: Value | undefined;
  /** T, the number of frames of the samples */
  frames?: Value | undefined;
  /** (B,S) */
  keep?: Value | undefined;
  /** (B,T) */
  typeIds?: Value | undefined;
  /** (B,T) */
  positions?: Value | undefined;
  /** (B,G,P,D), by block */
  past?: Pair[] | undefined;
};
/** Keys and values of a block (B,G,S,D). */
export type Pair = { key: Value; value: Value };
/**
 * The keys and values for cross-attention. pairs: by block; keep: mask of real keys; length: S, the size or name of the
 * axis of keys in outputs.
 */
export type Across = { pairs: Pair[]; keep: Value | undefined; length: Dim };

/** Returns T, the size or name of the token axis of inputs and outputs. */
export function lengthOf({ input, patch, context }: Resolved, prefix: string): Dim {
  if (input === 'tokens' || input === 'sound') return `${prefix}length`;
  return patch ? patch.image.reduce((n, side) => n * Math.floor(side / patch.size), 1) + patch.classTokens : context;
}

export class Stack extends Parameters implements Walk<Value> {
  declare inputs: Inputs;
  declare across: Across | undefined;
  /** The sizes or names of the axes T and S in outputs. */
  declare length: Dim;
  declare allKeys: Dim;
  declare batch: string;
  /** T, the number of tokens. */
  declare rows: string;
  /** P, the number of past tokens. */
  declare past: string | undefined;
  /** S, the number of keys. */
  declare keys: string;
  /** The table (1,U,C) of disentangled attention, and the index of its row for each query and key (T,S). */
  declare relative: { table: Value; cells: Value } | undefined;
  /** The keys and values of every block, including the past. */
  declare present: Pair[];

  /** Masks of self-attention, by the window of a block. */
  #visible: Map<number, Visible> = new Map();
  #across: Visible | undefined;
  /** Tables of cosines and sines, by the name of their angles. */
  #tables: Map<string, RotaryTables> = new Map();
  #positionCount: number;
  #positions: Value | undefined;

  /** @param prefix prefix of the names of parameters and values */
  constructor(shared: Shared, options: Resolved, prefix: string, inputs: Inputs, across?: Across) {
    super(shared, options, prefix);
    this.inputs = inputs;
    this.across = across;
    const { graph } = shared;
    const { context } = options;
    const given = (inputs.ids ?? inputs.pixels ?? inputs.features ?? inputs.samples) as Value;
    this.length = lengthOf(options, prefix);
    this.allKeys = inputs.past ? `${prefix}keys` : this.length;
    this.#positionCount = typeof this.length === 'number' ? Math.max(this.length, context) : context;
    // batch, rows, past and keys are vectors of one element.
    this.batch = graph.size(given, 0);
    this.rows = typeof this.length === 'number' ? graph.ints(this.length) : (inputs.frames ?? graph.size(given, 1));
    this.past = inputs.past && graph.size(inputs.past[0].key, 2);
    this.keys = this.past ? graph.op('Add', [this.past, this.rows]) : this.rows;
    this.relative = undefined;
    this.present = [];
  }

  /** Makes an intermediate value an output, if it is captured, and returns it. */
  pass(name: string, x: Value, dims: readonly Dim[]) {
    if (this.captures(name)) this.graph.output(this.prefix + name, x, 'float', dims);
    return x;
  }

  /**
   * Calls pass() for a value (B,T,width).
   * @param width default: C
   */
  passRows(name: string, x: Value, width: number = this.options.dModel) {
    return this.pass(name, x, ['batch', this.length, width]);
  }

  add(x: Value, y: Value) {
    return this.graph.op('Add', [x, y]);
  }

  /** Returns x: the graph computes all rows. */
  narrowed(x: Value) {
    return x;
  }

  compute({ name }: Component, at: At, i: number, x: Value) {
    return FORMS[name].build(this, at, i, x);
  }

  around({ name }: Component, i: number, input: Value, output: Value) {
    return FORMS[name].around?.(this, i, input, output) ?? output;
  }

  inside(_: number, __: Value, compute: () => Value) {
    return compute();
  }

  /** The positions of the tokens, (1,T) or (B,T). */
  get positions(): Value {
    return (this.#positions ??= this.inputs.positions ?? this.#countPositions());
  }

  /**
   * Counts the positions of tokens. The position of a token is its index or, if padding is not counted, the number of
   * real tokens before it.
   */
  #countPositions() {
    const { graph, inputs, past, options } = this;
    const { padToken, countPadding } = options;
    if (padToken !== undefined && inputs.ids) {
      const real = graph.op('Not', [graph.op('Equal', [inputs.ids, graph.int(padToken)])]);
      const before = countBefore(graph, real);
      // The ids of past tokens are not available, so all of them count as real.
      return graph.op('Where', [real, past ? graph.op('Add', [before, past]) : before, graph.int(-1)]);
    }
    if (inputs.keep && !countPadding) {
      const seen = countBefore(graph, inputs.keep);
      return past ? graph.op('Slice', [seen, past, this.keys, graph.ints(1)]) : seen;
    }
    const indices = graph.op('Unsqueeze', [graph.range(this.rows), graph.ints(0)]);
    return past ? graph.op('Add', [indices, past]) : indices;
  }

  /** Returns the mask and bias of self-attention in a block. */
  visible(layer: number): Visible {
    const { causal, positions, numHeads, window } = this.options;
    const width = window?.[layer] ?? null;
    const side = width === null ? -1 : causal ? width - 1 : Math.floor(width / 2);
    const cached = this.#visible.get(side);
    if (cached) return cached;
    const { rows: queries, keys, past: offset } = this;
    const made = {
      ...visibility(this.graph, {
        queries,
        keys,
        offset,
        causal,
        window: [side, causal ? -1 : side],
        keyPadding: this.inputs.keep,
        slopes: positions === 'alibi' ? alibiSlopes(numHeads) : undefined,
        distances: this.#distances(),
      }),
      // Without padding, a token attends at least to itself.
      mayBeEmpty: this.inputs.keep !== undefined,
    };
    this.#visible.set(side, made);
    return made;
  }

  /** Returns the mask of cross-attention, in which all real keys are visible. */
  visibleAcross({ pairs, keep }: Across): Visible {
    this.#across ??= {
      ...visibility(this.graph, { queries: this.rows, keys: this.graph.size(pairs[0].key, 2), keyPadding: keep }),
      mayBeEmpty: keep !== undefined,
    };
    return this.#across;
  }

  /** Returns the bias of relative positions. Distances beyond the last bucket have the bias of the last bucket. */
  #distances() {
    const { buckets, causal } = this.options;
    if (!buckets) return undefined;
    const { count, distance: reach } = buckets;
    const which = Array.from({ length: 2 * reach + 1 }, (_, i) => bucketOf(i - reach, count, reach, !causal));
    const table = this.graph.op('Gather', [this.needed('buckets.table'), this.graph.ints(...which)], { axis: 0 });
    return { table, reach };
  }

  /** Rotates queries or keys (B,heads,T,D) by their positions. */
  rotate(x: Value, layer: number) {
    const { rotary, headDim } = this.options;
    const angles = anglesOf(this.options, layer);
    if (!rotary || !angles) return x;
    const name = `rotary.${angles.theta}${angles.scaling ? '.scaled' : ''}`;
    const tables = this.#tables.get(name) ?? this.#tablesOf(rotary, angles, this.prefix + name);
    this.#tables.set(name, tables);
    return rotate(this.graph, x, this.positions, headDim, tables);
  }

  /** Makes the table of some angles. A model with other angles for long sequences has two tables. */
  #tablesOf(
    { width: rotated, pairing }: Rotary,
    { theta, scaling, long }: NonNullable<ReturnType<typeof anglesOf>>,
    name: string,
  ) {
    const how = { theta, rotated, neighbours: pairing === 'neighbours' };
    const context = Math.min(this.#positionCount, long?.beyond ?? Infinity);
    const near = rotaryTables(this.graph, name, { ...how, scaling, context });
    if (!long || long.beyond >= this.#positionCount) return near;
    const far = rotaryTables(this.graph, `${name}.far`, {
      ...how,
      scaling: long.scaling,
      context: this.#positionCount,
    });
    return rowsByLength(this.graph, near, far, this.positions, long.beyond);
  }
}

/**
 * Counts the real tokens before each token.
 * @param real (B,T)
 */
const countBefore = (graph: OnnxGraph, real: Value) =>
  graph.op('CumSum', [graph.cast(real, 'int64'), graph.int(1)], { exclusive: 1 });
