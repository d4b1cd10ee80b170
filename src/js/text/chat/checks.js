// The tests of a template, which follow the word `is`.

import { Fault } from './budget.js';
import { define } from './define.js';
import { calculate, compare, contains } from './operators.js';
import { Callable, Dict, isEqual, isFloat, isSequence, itemsOf, numeric, text, Undefined } from './values.js';
import { write } from './write.js';

/** @import { Budget } from './budget.js' */
/** @import { Builtin } from './define.js' */

/** @param {string} name @returns {Builtin} */
export function testNamed(name) {
  const test = TESTS.get(name);
  if (!test) throw new Fault(`the test ${JSON.stringify(name)} is not supported`);
  return test;
}

/** @param {string} sign */
const comparing = (sign) => (/** @type {Budget} */ budget, /** @type {any} */ value, /** @type {any} */ other) =>
  compare(budget, sign, value, other);

/** @param {'toUpperCase' | 'toLowerCase'} change @param {'toUpperCase' | 'toLowerCase'} other */
const hasCase = (change, other) => (/** @type {Budget} */ budget, /** @type {any} */ value) => {
  const written = budget.text(write(budget, value));
  return written === written[change]() && written !== written[other]();
};

/** @param {number} rest */
const dividing =
  (rest) =>
  (/** @type {Budget} */ budget, /** @type {any} */ value, by = 2) =>
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
