// Measures the roles of a model's heads, always on the same tokens: on random passages that occur twice, or on the
// exemplar of a source. So the names of heads depend neither on the text that is shown nor on a scan.

import { headRoles } from '../../../src/js/analysis/roles/headRoles.ts';
import { boundsOf, showsRole } from '../../../src/js/analysis/roles/roleRules.ts';
import { HeadSums, prepare } from '../../../src/js/analysis/scan/headSums.ts';
import type { NamedRoles } from '../../model/protocol/protocol.ts';
import { LENGTH, saidTwice } from '../../model/repeatedPassages.ts';
import type { Hl, Transformer, TransformerSource } from '../sources/types.ts';
import type { Reply } from '../types.ts';

/** Maximum passages, and minimum tokens before a passage is repeated. */
const [PASSAGES, MIN_LENGTH] = [4, 4];
/** A measurement has about this many multiplications, so that a model of 100 M parameters takes about a second. */
const MAX_WORK = 2e10;
/** Tokens before the repetition for a model of any size. */
const ALWAYS = 16;

const countParameters = ({ weights }: Transformer) =>
  [...weights.values()].reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0);

/** Returns the tokens on which the roles are measured; empty if the context is too short. */
function passagesFor(model: Transformer) {
  const { context, vocab } = model.options;
  const tokens = Math.floor(MAX_WORK / Math.max(countParameters(model), 1));
  const length = Math.min(LENGTH, Math.floor(context / 2), Math.max(Math.floor(tokens / 2), ALWAYS));
  if (length < MIN_LENGTH) return [];
  const count = Math.min(Math.max(Math.floor(tokens / (2 * length)), 1), PASSAGES);
  const { data } = saidTwice(vocab, 1, count, length);
  return Array.from({ length: count }, (_, b) => data.subarray(2 * b * length, 2 * (b + 1) * length));
}

export class RoleMeasurement {
  #hl: Hl;
  #source: TransformerSource;
  /** The passages that are still to be run. */
  #passages: Int32Array<ArrayBuffer>[];
  #sums: HeadSums;
  #hasRun = false;
  /** The mean weight of each head on the answers of a task, and its chance; null without a task. */
  #partner = null as { means: number[][]; chance: number } | null;

  constructor(hl: Hl, source: TransformerSource) {
    const { model, exemplar } = source;
    this.#hl = hl;
    this.#source = source;
    this.#passages = exemplar ? [Int32Array.from(exemplar)] : passagesFor(model);
    this.#sums = new HeadSums(model.options.numHeads, 0, boundsOf(model.options));
  }

  get isDone() {
    return this.#passages.length === 0;
  }

  step() {
    const ids = this.#passages.shift() as Int32Array;
    const { model, partnerOf } = this.#source;
    const data = { data: ids, shape: [1, ids.length] };
    const input = { ids: data, ...(model.options.encoder && { encoder: { ids: data } }) };
    const weights = this.#hl.scope(() => {
      const { captured } = model.forward(input, { capture: ['blocks.*.weights'], last: true });
      return Array.from({ length: model.options.layers }, (_, l) => captured[`blocks.${l}.weights`]?.copy());
    });
    this.#add(ids, weights);
    if (partnerOf) this.#partner = partnersOf(partnerOf, ids, weights, model.options.numHeads);
  }

  /** `weights`: (1,H,T,T) of every layer. */
  #add(ids: Int32Array, weights: (Float32Array | undefined)[]) {
    const sequence = prepare(ids);
    this.#hasRun = true;
    this.#sums.count(sequence);
    weights.forEach((floats, l) => {
      for (let h = 0; floats && h < this.#sums.shape[1]; h++)
        this.#sums.add(l, h, floats, h * ids.length ** 2, sequence);
    });
  }

  /** Returns null if the context is too short for a measurement. */
  results(): NamedRoles | { roles: null; weights: null } {
    if (!this.#hasRun) return { roles: null, weights: null };
    const { names, weights } = headRoles(this.#sums.roleMeasures());
    return this.#partner ? withPartners({ roles: names, weights }, this.#partner) : { roles: names, weights };
  }
}

/** `weights`: (1,H,T,T) of every layer. */
function partnersOf(
  partnerOf: NonNullable<TransformerSource['partnerOf']>,
  ids: Int32Array,
  weights: (Float32Array | undefined)[],
  heads: number,
) {
  const [T, labels] = [ids.length, Array.from(ids)];
  // A head without regard to content gives the same weight to each token up to the query.
  const even = Float32Array.from({ length: T * T }, (_, i) => 1 / (Math.floor(i / T) + 1));
  const means = weights.map((floats) =>
    Array.from({ length: heads }, (_, h) =>
      floats ? partnerOf(floats.subarray(h * T * T, (h + 1) * T * T), labels) : Number.NaN,
    ),
  );
  return { means, chance: partnerOf(even, labels) };
}

/** Names the heads that attend to the answer of a task. This role precedes all others. */
function withPartners(
  { roles, weights }: NamedRoles,
  { means, chance }: { means: number[][]; chance: number },
): NamedRoles {
  const isPartner = (l: number, h: number) => showsRole(means[l][h], chance);
  return {
    roles: roles.map((row, l) => row.map((role, h) => (isPartner(l, h) ? 'partner' : role))),
    weights: (weights ?? []).map((row, l) => row.map((weight, h) => (isPartner(l, h) ? means[l][h] : weight))),
  };
}

export function measureRoles(hl: Hl, source: TransformerSource) {
  const measurement = new RoleMeasurement(hl, source);
  while (!measurement.isDone) measurement.step();
  return measurement.results();
}

/** Measures the roles of each model once, and keeps them. */
export class RoleCache {
  /** The measurement of the last version of each source, by its name. */
  #measurements = new Map() as Map<string, { version: unknown; model: Transformer; measurement: RoleMeasurement }>;

  /**
   * Returns a model's roles. Newer requests are read between passages; after a cancelled one (null) the next continues.
   */
  async of(
    hl: Hl,
    source: TransformerSource,
    reply: Pick<Reply, 'checkCancelled'>,
  ): Promise<NamedRoles | { roles: null; weights: null } | null> {
    const { model, version } = source;
    const name = source.about.name;
    const known = this.#measurements.get(name);
    const isKnown = known && known.model === model && known.version === version;
    const measurement = isKnown ? known.measurement : new RoleMeasurement(hl, source);
    this.#measurements.set(name, { version, model, measurement });
    while (!measurement.isDone) {
      measurement.step();
      if (!measurement.isDone && (await reply.checkCancelled())) return null;
    }
    return measurement.results();
  }
}
