// The cosines and sines of a transformer's rotary positions.

import { own, viewOf } from '../memory/tensor.js';
import { rotaryTable } from '../ops/rotary.js';

/** @import { Memory } from '../memory/memory.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { anglesOf } from './rotaryOptions.js' */
/** @import { Weight } from './weights.js' */

/** Number of rows of the smallest table. */
const MIN_POSITIONS = 64;

export class RotaryTables {
  #memory;
  #weights;
  /** @type {Map<string, Tensor>} */
  #tables = new Map();

  /**
   * @param {Memory} memory
   * @param {ReadonlyMap<string, Weight>} weights of the model; the tables are freed with the first one
   */
  constructor(memory, weights) {
    this.#memory = memory;
    this.#weights = weights;
  }

  /**
   * Returns a table with at least this number of positions. It is computed again only if a longer one is needed.
   * @param {number} width number of elements of a head that are rotated
   * @param {NonNullable<ReturnType<typeof anglesOf>>} angles
   * @param {number} positions
   * @param {boolean} far true: the table has the scaling of long sequences
   * @returns {Tensor} (positions,2,width/2)
   */
  get(width, { theta, scaling: near, long }, positions, far) {
    const scaling = far && long ? long.scaling : near;
    const name = `rotary ${theta}${!scaling ? '' : far ? ' far' : ' near'}`;
    const known = this.#tables.get(name);
    if (known && known.shape[0] >= positions) return known;
    const context = 2 ** Math.ceil(Math.log2(Math.max(positions, MIN_POSITIONS)));
    const table = this.#memory.unscoped(this.#memory.empty([context, 2, width / 2], 'forward'));
    viewOf(table).set(rotaryTable({ theta, width, scaling, context }));
    const [{ tensor, packed }] = this.#weights.values();
    own(/** @type {Tensor} */ (tensor ?? packed?.tensor), name, table);
    this.#tables.set(name, table);
    return table;
  }

  /** Forgets the tables, which were freed if the weight that owned them was freed. */
  clear() {
    this.#tables.clear();
  }
}
