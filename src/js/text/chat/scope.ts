// The variables of a template with their values.

import type { Budget } from './budget.ts';
import { Undefined } from './values.ts';

/** Statements in a loop or a macro do not change variables outside. */
export class Scope {
  declare parent: Scope | null;
  declare values: Map<string, unknown>;

  constructor(parent: Scope | null, values: Iterable<readonly [string, unknown]> = []) {
    this.parent = parent;
    this.values = new Map(values);
  }

  get(budget: Budget, name: string): unknown {
    for (let scope = this as Scope | null; scope; scope = scope.parent) {
      if (scope.values.has(name)) return scope.values.get(name);
      budget.spend(1);
    }
    return new Undefined(name);
  }
}
