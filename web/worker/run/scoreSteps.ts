// Lists the steps of one head from the product of a query and a key to their score: see features/reading/score.ts.

import { parameterName } from '../../../src/js/models/parameters.ts';
import { bucketOf } from '../../../src/js/models/positions/positions.ts';
import { alibiSlopes } from '../../../src/js/ops/rotary.ts';

import type { Step } from '../../model/protocol/protocol.ts';
import type { Transformer } from '../sources/types.ts';
export type Options = Transformer['options'];
export type HeadAndSizes = {
  /** of an encoder–decoder */
  part: string;
  layer: number;
  head: number;
  /** queries */
  T: number;
  /** keys */
  S: number;
  temperature?: number;
};

export const optionsOf = ({ options }: Transformer, part: string) =>
  part === 'encoder' ? (options.encoder as Options) : options;

/** Values of a head: (T,D), (S,D), (T,S). */
export type HeadParts = Record<'query' | 'key' | 'scores', Float32Array>;

export function stepsOf(model: Transformer, place: HeadAndSizes, values: HeadParts): Step[] {
  const { part, layer, head, T, S, temperature = 1 } = place;
  const { scale: scales, softcap, disentangled } = optionsOf(model, part);
  const scale = typeof scales === 'number' ? scales : scales[layer];
  const added = part === 'cross' ? null : biasByDistance(model, part, head, T, S);
  return [
    { kind: 'scale', scale },
    ...(disentangled ? [{ kind: 'distance', added: restOf(place, values, scale), byCell: true } as Step] : []),
    ...(softcap > 0 ? [{ kind: 'cap', cap: softcap } as Step] : []),
    ...(added ? [{ kind: 'distance', added } as Step] : []),
    ...temperatureStep(temperature),
  ];
}

/** Returns the products with positions in disentangled attention, (T,S): scores minus query · key. */
function restOf({ T, S, temperature = 1 }: HeadAndSizes, { query, key, scores }: HeadParts, scale: number) {
  const width = query.length / T;
  return scores.map((score, i) => {
    const [t, s] = [Math.floor(i / S), i % S];
    let product = 0;
    for (let d = 0; d < width; d++) product += query[t * width + d] * key[s * width + d];
    return score * temperature - scale * product;
  });
}

export const temperatureStep = (temperature: number): Step[] =>
  temperature === 1 ? [] : [{ kind: 'temperature', by: temperature }];

/** Returns the bias for the distance between query t and key s, at index s − t + T − 1; null if there is none. */
function biasByDistance(model: Transformer, part: string, head: number, T: number, S: number) {
  const { positions, numHeads, buckets, causal } = optionsOf(model, part);
  const each = (amount: (distance: number) => number) =>
    Float32Array.from({ length: T + S - 1 }, (_, i) => amount(i - (T - 1)));
  if (positions === 'alibi') {
    const slope = alibiSlopes(numHeads)[head];
    return each((distance) => -slope * Math.abs(distance));
  }
  if (!buckets) return null;
  const { data } = parameterOf(model, part, 'buckets.table');
  return each((distance) => data[bucketOf(distance, buckets.count, buckets.distance, !causal) * numHeads + head]);
}

/** Reads the sink in the softmax of a head; null without one. */
export function sinkOf(model: Transformer, { part, layer, head }: HeadAndSizes) {
  if (part === 'cross' || !optionsOf(model, part).sinks) return null;
  return parameterOf(model, part, `blocks.${layer}.attention.sinks`).data[head];
}

function parameterOf(model: Transformer, part: string, name: string) {
  const stored = parameterName(optionsOf(model, part), name);
  return model.parameters[part === 'encoder' ? `encoder.${stored}` : stored];
}
