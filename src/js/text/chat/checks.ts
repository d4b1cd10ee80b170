// The tests of a template, which follow the word `is`.

import { type Budget, Fault } from './budget.ts';
import { type Builtin, define } from './define.ts';
import { calculate, compare, contains } from './operators.ts';
import { Callable, Dict, isEqual, isFloat, isSequence, itemsOf, numeric, text, Undefined } from './values.ts';
import { write } from './write.ts';

export function testNamed(name: string): Builtin {
  const test = TESTS.get(name);
  if (!test) throw new Fault(`the test ${JSON.stringify(name)} is not supported`);
  return test;
}

const comparing = (sign: string) => (budget: Budget, value: any, other: any) => compare(budget, sign, value, other);

const hasCase =
  (change: 'toUpperCase' | 'toLowerCase', other: 'toUpperCase' | 'toLowerCase') => (budget: Budget, value: any) => {
    const written = budget.text(write(budget, value));
    return written === written[change]() && written !== written[other]();
  };

const dividing =
  (rest: number) =>
  (budget: Budget, value: any, by = 2) =>
    calculate(budget, '%', value, by) === rest;

const TESTS = define({
  boolean: (_, value) => typeof value === 'boolean',
  callable: (_, value) => value instanceof Callable,
  defined: (_, value) => !(value instanceof Undefined),
  'divisibleby num': (budget, value, by) => numeric(calculate(budget, '%', value, by)) === 0,
  'eq|equalto|== b': (budget, value, other) => isEqual(budget, value, other),
  escaped: () => false,
  even: dividing(0),
  false: (_, value) => value === false,
  float: (_, value) => isFloat(value),
  'ge|>= b': comparing('>='),
  'gt|greaterthan|> b': comparing('>'),
  'in seq': (budget, value, all) => contains(budget, all, value),
  integer: (_, value) => Number.isInteger(value),
  iterable: (budget, value) => Array.isArray(value) || itemsOf(budget, value) !== undefined,
  'le|<= b': comparing('<='),
  lower: hasCase('toLowerCase', 'toUpperCase'),
  'lt|lessthan|< b': comparing('<'),
  mapping: (_, value) => value instanceof Dict,
  'ne|!= b': (budget, value, other) => !isEqual(budget, value, other),
  none: (_, value) => value === null,
  number: (_, value) => numeric(value) !== undefined,
  odd: dividing(1),
  'sameas other': (_, value, other) => value === other,
  sequence: (_, value) =>
    typeof value === 'string' || isSequence(value) || value instanceof Dict || value instanceof Undefined,
  string: (_, value) => typeof value === 'string',
  test: (_, value) => TESTS.has(text(value)),
  true: (_, value) => value === true,
  undefined: (_, value) => value instanceof Undefined,
  upper: hasCase('toUpperCase', 'toLowerCase'),
});
