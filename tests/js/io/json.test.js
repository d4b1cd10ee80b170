import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { parseJson } from '../../../src/js/io/json.ts';
import { inTier } from '../../support/tier.js';

const SEED = 31;
const parse = (text, limits) => parseJson(text, (reason) => new SyntaxError(reason), limits);
const fails = (text, pattern, limits) => assert.throws(() => parse(text, limits), pattern);
/** Parses a text and converts the result to ordinary objects, like those of JSON.parse. */
const plain = (text) => JSON.parse(JSON.stringify(parse(text)));

test(`valid JSON gives the same values as JSON.parse (seed ${SEED})`, () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6, stringUnit: 'binary' }), fc.constantFrom(0, 1, '\t'), (text, indent) => {
      const spaced = JSON.stringify(JSON.parse(text), null, indent);
      assert.deepEqual(plain(spaced), JSON.parse(spaced));
    }),
    { seed: SEED, numRuns: 500 },
  );
});

test(`text that JSON.parse refuses is refused (seed ${SEED})`, () => {
  const sign = fc.constantFrom(...'{}[],:"\\ 01-.eE+truefalsn\n');
  fc.assert(
    fc.property(fc.array(sign, { maxLength: 9 }), (signs) => {
      const text = signs.join('');
      let expected;
      try {
        expected = JSON.stringify(JSON.parse(text));
      } catch {
        assert.throws(() => parse(text), SyntaxError, text);
        return;
      }
      assert.equal(JSON.stringify(parse(text)), expected);
    }),
    { seed: SEED, numRuns: inTier(30000, 3000) },
  );
  for (const text of [
    '',
    '01',
    '1.',
    '.5',
    '1e',
    '+1',
    '[1,]',
    '{"a":1,}',
    '"\n"',
    '"\\x"',
    "'a'",
    'NaN',
    'tru',
    '\ufeff1',
  ])
    fails(text, SyntaxError);
});

test('a duplicate name is refused, and any name is allowed', () => {
  fails('{"a":1,"b":{"a":1},"a":2}', /a duplicate name at character 19/);
  fails('{"a":1,"\\u0061":2}', /a duplicate name/);
  const members = parse('{"__proto__":1,"constructor":2,"toString":3}');
  assert.deepEqual(Object.entries(members), [
    ['__proto__', 1],
    ['constructor', 2],
    ['toString', 3],
  ]);
});

test('depth and number of items are limited', () => {
  assert.equal(parse(`${'['.repeat(16)}${']'.repeat(16)}`).length, 1);
  fails('['.repeat(17), /nested deeper than 16 levels at character 16/);
  fails('{"a":'.repeat(1e6), /nested deeper/);
  fails('[1,2,3]', /more than 2 items/, { maxItems: 2 });
  fails('{"a":1,"b":2,"c":3}', /more than 2 items/, { maxItems: 2 });
});
