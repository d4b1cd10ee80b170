// The cosines and sines of a transformer's rotary positions.

import type { Memory } from '../../memory/memory.ts';
import { own, type Tensor, viewOf } from '../../memory/tensor.ts';
import { rotaryTable } from '../../ops/rotary.ts';
import type { Weight } from '../weights.ts';
import type { anglesOf } from './rotaryOptions.ts';

const MIN_POSITIONS = 64;

export class RotaryTables {
  #memory: Memory;
  #weights: ReadonlyMap<string, Weight>;
  #tables: Map<string, Tensor> = new Map();

  /** weights: of the model; the tables are freed with the first one */
  constructor(memory: Memory, weights: ReadonlyMap<string, Weight>) {
    this.#memory = memory;
    this.#weights = weights;
  }

  /**
   * A table (positions,2,width/2) of at least this many positions, only made again if a longer one is needed. width:
   * elements of a head that are rotated; far: the scaling of long sequences.
   */
  get(
    width: number,
    { theta, scaling: near, long }: NonNullable<ReturnType<typeof anglesOf>>,
    positions: number,
    far: boolean,
  ): Tensor {
    const scaling = far && long ? long.scaling : near;
    const name = `rotary ${theta}${!scaling ? '' : far ? ' far' : ' near'}`;
    const known = this.#tables.get(name);
    if (known && known.shape[0] >= positions) return known;
    const context = 2 ** Math.ceil(Math.log2(Math.max(positions, MIN_POSITIONS)));
    const table = this.#memory.unscoped(this.#memory.empty([context, 2, width / 2], 'forward'));
    viewOf(table).set(rotaryTable({ theta, width, scaling, context }));
    const [{ tensor, packed }] = this.#weights.values();
    own((tensor ?? packed?.tensor) as Tensor, name, table);
    this.#tables.set(name, table);
    return table;
  }

  /** Forgets the tables, which were freed if the weight that owned them was freed. */
  clear() {
    this.#tables.clear();
  }
}
