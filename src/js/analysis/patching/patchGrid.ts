// Activation patching of every place of a model: at each token, each layer's residual stream, all its heads and its
// feed-forward layer; and each head at all tokens.

import { checkOptions } from '../../check/arguments.ts';
import { argumentError } from '../../check/errors.ts';
import type { Numbers } from '../arrays.ts';
import { readSteps } from '../steps.ts';
import { checkMetric, checkPair, type Metric, type PatchedModel, runCaptured, runEdited } from './pairs.ts';

/**
 * stream: input of a layer at a token. heads, mlp: all heads (before the output projection) or the feed-forward layer
 * at a token. head: one head at all tokens.
 */
export type GridPart = 'stream' | 'heads' | 'mlp' | 'head';
/** A place in the model. place: the index of the token, or of the head. */
export type GridPlace = { part: GridPart; layer: number; place: number };
/**
 * value: metric of the run with this place patched; effect: value − corrupted; recovered: effect / (clean − corrupted).
 */
export type GridProgress = GridPlace & {
  done: number;
  total: number;
  value: number;
  effect: number;
  recovered: number;
};
export type PatchGridOptions<P extends GridPart = GridPart> = {
  /** default: all parts that the model has */
  parts?: readonly P[] | undefined;
  /**
   * called before each run for the place to measure next. If it returns undefined or a measured place, the order is
   * stream, heads, mlp, head, each from the last layer to the first
   */
  next?: (() => GridPlace | undefined | Promise<GridPlace | undefined>) | undefined;
  /**
   * the clean token whose values replace those of each corrupted token, or −1: this token is not measured and keeps its
   * values in every run. Default: the token at the same position, which requires inputs of the same length
   */
  align?: readonly number[] | undefined;
  /**
   * called once with the metrics of both runs and `same`, before a place is measured. A promise is awaited, as in
   * onProgress
   */
  onRuns?: ((runs: PatchGrid<P>) => unknown) | undefined;
  /** a promise is awaited; if it rejects, so does patchGrid */
  onProgress?: ((progress: GridProgress) => unknown) | undefined;
  signal?: AbortSignal | undefined;
};
/**
 * effects, recovered: as in GridProgress, (L,T), or (L,H) for head. same: 1 where both runs have the same value, such
 * as before the first different token of a causal model. The effect is exactly 0 there, without a run.
 */
export type Grid = { effects: Numbers; recovered: Numbers; same: { data: Uint8Array; shape: number[] } };
export type PatchGrid<P extends GridPart = GridPart> = {
  /** the metric of the clean run */
  clean: number;
  /** the metric of the corrupted run */
  corrupted: number;
  /** by part; a model without feed-forward layers has no 'mlp' */
  grids: Record<P, Grid>;
};

/**
 * Parts in the order of measuring. at: name of the value in a block, (1,T,C) or (1,H,T,D); axis: that of the places.
 */
const PARTS = {
  stream: { at: 'in', axis: 1 },
  heads: { at: 'heads', axis: 2 },
  mlp: { at: 'mlp', axis: 1 },
  head: { at: 'heads', axis: 1 },
};
const NAMES = Object.keys(PARTS) as GridPart[];

/**
 * Runs the corrupted input once for each place, with the value of this place replaced by that of the clean run, as
 * `patch` does. The effects are measured, not estimated. Each input is one sequence. Without `align` they have the same
 * number of tokens.
 */
export async function patchGrid<P extends GridPart = GridPart>(
  model: PatchedModel,
  clean: any,
  corrupted: any,
  metric: Metric,
  options: PatchGridOptions<P> = {},
): Promise<PatchGrid<P>> {
  const caller = 'patchGrid';
  checkOptions(caller, options, ['parts', 'next', 'align', 'onRuns', 'onProgress', 'signal']);
  const { next, align, onRuns } = options;
  const steps = readSteps(caller, options);
  for (const [name, value] of Object.entries({ next, onRuns }))
    if (value !== undefined && typeof value !== 'function') throw argumentError(caller, name, value, 'a function');
  checkMetric(caller, metric);
  const parts = readParts(caller, model, options.parts);
  steps.check();

  const capture = [...new Set(parts.map((part) => `blocks.*.${PARTS[part].at}`))];
  const [from, into] = [clean, corrupted].map((input) => runCaptured(caller, model, input, metric, capture));
  if (align !== undefined) from.values = alignRuns(caller, from.values, into.values, align);
  checkPair(caller, from.values, into.values);
  const grids = parts.map((part) => compareRuns(part, model.options.layers, from.values, into.values));
  const found = {
    clean: from.value,
    corrupted: into.value,
    grids: Object.fromEntries(grids.map(({ part, grid }) => [part, grid])) as Record<P, Grid>,
  };
  await onRuns?.(found);
  const remaining = placesOf(grids);
  const total = remaining.size;
  for (let done = 1; remaining.size > 0; done++) {
    const { part, layer, place } = await steps.run(async () => choose(remaining, await next?.()));
    const at = `blocks.${layer}.${PARTS[part].at}`;
    const edit = { at, [part === 'head' ? 'head' : 'token']: place, set: from.values[at] };
    const value = runEdited(caller, model, corrupted, metric, [edit]);
    const effect = value - into.value;
    const recovered = effect / (from.value - into.value);
    const { grid } = grids.find((other) => other.part === part) as Compared;
    const i = layer * grid.effects.shape[1] + place;
    grid.effects.data[i] = effect;
    grid.recovered.data[i] = recovered;
    await steps.report({ done, total, part, layer, place, value, effect, recovered });
  }
  return found;
}

function readParts(caller: string, { options: { mlp = 1 } }: PatchedModel, parts: unknown): GridPart[] {
  const known = NAMES.filter((part) => part !== 'mlp' || mlp > 0);
  if (parts === undefined) return known;
  const isKnown = (part: any) => known.includes(part);
  if (!Array.isArray(parts) || parts.length === 0 || !parts.every(isKnown))
    throw argumentError(caller, 'parts', parts, `a list of parts of this model: ${known.join(', ')}`);
  return known.filter((part) => parts.includes(part));
}

export type Values = Record<string, Numbers>;

/** Returns the clean values, moved to their aligned tokens. A token with −1 keeps its corrupted values. */
function alignRuns(caller: string, from: Values, into: Values, align: readonly number[]): Values {
  const move = (clean: Numbers, own: Numbers) => {
    const [S, D] = clean.shape.slice(-2);
    const T = own.shape[own.shape.length - 2];
    const isToken = (s: unknown) => Number.isSafeInteger(s) && Number(s) >= -1 && Number(s) < S;
    if (!Array.isArray(align) || align.length !== T || !align.every(isToken))
      throw argumentError(caller, 'align', align, `${T} tokens of the clean input, each from −1 to ${S - 1}`);
    const data = own.data.slice();
    for (let row = 0; row < data.length / D; row++) {
      const s = align[row % T];
      const at = (Math.floor(row / T) * S + s) * D;
      if (s >= 0) data.set(clean.data.subarray(at, at + D), row * D);
    }
    return { data, shape: own.shape };
  };
  return Object.fromEntries(Object.entries(into).map(([name, own]) => [name, move(from[name], own)]));
}

export type Compared = { part: GridPart; grid: Grid };

/** Returns a grid without effects, in which `same` marks the places that have the same value in both runs. */
function compareRuns(
  part: GridPart,
  layers: number,
  from: Record<string, Numbers>,
  into: Record<string, Numbers>,
): Compared {
  const { at, axis } = PARTS[part];
  const count = layers === 0 ? 0 : from[`blocks.0.${at}`].shape[axis];
  const shape = [layers, count];
  const same = new Uint8Array(layers * count).fill(1);
  for (let layer = 0; layer < layers; layer++) {
    const [{ data, shape: sizes }, { data: other }] = [from, into].map((values) => values[`blocks.${layer}.${at}`]);
    const inner = sizes.slice(axis + 1).reduce((a, b) => a * b, 1);
    for (let i = 0; i < data.length; i++)
      if (data[i] !== other[i]) same[layer * count + (Math.floor(i / inner) % count)] = 0;
  }
  const zeros = () => ({ data: new Float32Array(layers * count), shape });
  return { part, grid: { effects: zeros(), recovered: zeros(), same: { data: same, shape } } };
}

/** Returns the places to measure by identifier (see keyOf), in the order in which they are measured. */
function placesOf(grids: readonly Compared[]) {
  const places: Map<string, GridPlace> = new Map();
  for (const { part, grid } of grids) {
    const [layers, count] = grid.same.shape;
    for (let layer = layers - 1; layer >= 0; layer--)
      for (let place = 0; place < count; place++)
        if (grid.same.data[layer * count + place] === 0)
          places.set(keyOf({ part, layer, place }), { part, layer, place });
  }
  return places;
}

const keyOf = ({ part, layer, place }: GridPlace) => `${part} ${layer} ${place}`;

/** Removes and returns the wanted place if it remains, else the first place. */
function choose(remaining: Map<string, GridPlace>, wanted: GridPlace | undefined) {
  const [first] = remaining.values();
  const place = (wanted && remaining.get(keyOf(wanted))) ?? first;
  remaining.delete(keyOf(place));
  return place;
}
