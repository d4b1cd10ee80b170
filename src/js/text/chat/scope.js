// The variables of a template with their values.

import { Undefined } from './values.js';

/** @import { Budget } from './budget.js' */

/** Statements in a loop or a macro do not change variables outside. */
export class Scope {
  /** @param {Scope | null} parent @param {Iterable<readonly [string, unknown]>} [values] */
  constructor(parent, values = []) {
    this.parent = parent;
    this.values = new Map(values);
  }

  /** @param {Budget} budget @param {string} name @returns {unknown} */
  get(budget, name) {
    for (let scope = /** @type {Scope | null} */ (this); scope; scope = scope.parent) {
      if (scope.values.has(name)) return scope.values.get(name);
      budget.spend(1);
    }
    return new Undefined(name);
  }
}
