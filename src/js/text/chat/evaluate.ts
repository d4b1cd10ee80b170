// Evaluates a template's expressions, in generators, because a macro that an expression calls may pause.

import { Fault } from './budget.ts';
import { testNamed } from './checks.ts';
import type { Filter, Given, Node } from './expressions.ts';
import { filterNamed } from './filters.ts';
import { calculate, compare, fieldOf, joinTexts, slice } from './operators.ts';
import type { Renderer } from './render.ts';
import type { Scope } from './scope.ts';
import { Callable, Dict, isTrue, list, nameOf, numeric, text, tuple, Undefined } from './values.ts';

export type Evaluation = Generator<undefined, any>;
export type Evaluate = (renderer: Renderer, node: Node, scope: Scope) => Evaluation;

function* all(renderer: Renderer, nodes: Node[], scope: Scope): Generator<undefined, any[]> {
  const values: any[] = [];
  for (const node of nodes) values.push(yield* renderer.value(node, scope));
  renderer.budget.items(values.length);
  return values;
}

export function* argumentsOf(
  renderer: Renderer,
  { positional, named, spread, spreadNamed }: Given,
  scope: Scope,
): Generator<undefined, [any[], Map<string, any>]> {
  const values = yield* all(renderer, positional, scope);
  const { budget } = renderer;
  const byName: Map<string, any> = new Map();
  for (const [name, node] of named) byName.set(name, yield* renderer.value(node, scope));
  if (spread) values.push(...list(budget, yield* renderer.value(spread, scope)).slice(0, 1000));
  if (spreadNamed) {
    const more = yield* renderer.value(spreadNamed, scope);
    if (!(more instanceof Dict)) throw new Fault(`a dictionary is expected after **, not ${nameOf(more)}`);
    for (const [name, value] of budget.list(more.entries())) byName.set(text(name), value);
  }
  return [values, byName];
}

export function* applyFilters(renderer: Renderer, value: any, chain: Filter[], scope: Scope): Evaluation {
  let result = value;
  for (const filter of chain) {
    const given = yield* argumentsOf(renderer, filter, scope);
    result = filterNamed(filter.name)(renderer.budget, result, ...given);
  }
  return result;
}

export const EVALUATE: Record<string, Evaluate> = {
  *list(renderer, { items }, scope) {
    return yield* all(renderer, items, scope);
  },
  *tuple(renderer, { items }, scope) {
    return tuple(yield* all(renderer, items, scope));
  },
  *dictionary(renderer, { entries }, scope) {
    const dict = new Dict();
    for (const [key, item] of entries) dict.set(yield* renderer.value(key, scope), yield* renderer.value(item, scope));
    renderer.budget.items(entries.length);
    return dict;
  },
  *choice(renderer, { test, value, other }, scope) {
    if (isTrue(yield* renderer.value(test, scope))) return yield* renderer.value(value, scope);
    return other ? yield* renderer.value(other, scope) : new Undefined('the value without else');
  },
  *or(renderer, { left, right }, scope) {
    const value = yield* renderer.value(left, scope);
    return isTrue(value) ? value : yield* renderer.value(right, scope);
  },
  *and(renderer, { left, right }, scope) {
    const value = yield* renderer.value(left, scope);
    return isTrue(value) ? yield* renderer.value(right, scope) : value;
  },
  *not(renderer, { value }, scope) {
    return !isTrue(yield* renderer.value(value, scope));
  },
  *signed(renderer, { sign, value }, scope) {
    const given = yield* renderer.value(value, scope);
    return calculate(renderer.budget, '*', sign === '-' ? -1 : 1, numeric(given) === undefined ? new Fault('') : given);
  },
  *texts(renderer, { items }, scope) {
    return joinTexts(renderer.budget, yield* all(renderer, items, scope));
  },
  *compare(renderer, { first, others }, scope) {
    let left = yield* renderer.value(first, scope);
    for (const { sign, right: node } of others) {
      const right = yield* renderer.value(node, scope);
      if (!compare(renderer.budget, sign, left, right)) return false;
      left = right;
    }
    return true;
  },
  *binary(renderer, { sign, left, right }, scope) {
    const value = yield* renderer.value(left, scope);
    return calculate(renderer.budget, sign, value, yield* renderer.value(right, scope));
  },
  *field(renderer, { value, key, dotted }, scope) {
    const target = yield* renderer.value(value, scope);
    return fieldOf(renderer.budget, target, yield* renderer.value(key, scope), dotted);
  },
  *slice(renderer, { value, parts }, scope) {
    const target = yield* renderer.value(value, scope);
    const limits: any[] = [];
    for (const part of parts) limits.push(part && (yield* renderer.value(part, scope)));
    return slice(renderer.budget, target, limits);
  },
  *filter(renderer, node, scope) {
    const value = yield* renderer.value(node.value, scope);
    return yield* applyFilters(renderer, value, [node as unknown as Filter], scope);
  },
  *test(renderer, node, scope) {
    const value = yield* renderer.value(node.value, scope);
    const given = yield* argumentsOf(renderer, node as unknown as Given, scope);
    return Boolean(testNamed(node.name)(renderer.budget, value, ...given));
  },
  *call(renderer, node, scope) {
    const callee = yield* renderer.value(node.value, scope);
    const given = yield* argumentsOf(renderer, node as unknown as Given, scope);
    return yield* call(renderer, callee, given);
  },
};

export function* call(renderer: Renderer, callee: any, given: [any[], Map<string, any>]): Evaluation {
  if (callee instanceof Undefined) throw new Fault(`${callee.name} is undefined, so it cannot be called`);
  if (!(callee instanceof Callable)) throw new Fault(`${nameOf(callee)} cannot be called`);
  const result = callee.run(renderer.budget, ...given);
  // A macro and a recursive loop are generators.
  return typeof result?.next === 'function' ? yield* result : result;
}
