import assert from 'node:assert/strict';
import test from 'node:test';
import { quote, quoteNames } from '../../../src/js/check/quote.ts';

test('short values are quoted whole', () => {
  for (const [value, text] of [
    ['abc', "'abc'"],
    ['say "no"\n', `'say "no"\\n'`],
    [1.5, '1.5'],
    [-0, '-0'],
    [12n, '12n'],
    [null, 'null'],
    [undefined, 'undefined'],
    [Symbol('s'), 'Symbol(s)'],
    [() => 1, 'a function'],
    [[2, 3], '[2,3]'],
    [[[1], 'a', null], "[[1],'a',null]"],
    [{}, 'an object (Object)'],
    [Object.create(null), 'an object (no prototype)'],
    [new Float32Array(3), 'an object (Float32Array)'],
    ['x'.repeat(80), `'${'x'.repeat(80)}'`],
  ])
    assert.equal(quote(value), text);
});

test('long and deep values are cut', () => {
  let deep = [];
  for (let i = 0; i < 100000; i++) deep = [deep];
  const cyclic = [1];
  cyclic.push(cyclic);
  const named = { constructor: { name: 'x'.repeat(1e6) } };
  for (const value of [
    'x'.repeat(1e7),
    '\0'.repeat(200),
    new Array(1e6).fill(1),
    new Array(1e6).fill('x'.repeat(1e6)),
    deep,
    cyclic,
    1n << 1000000n,
    Symbol('x'.repeat(1e6)),
    named,
  ]) {
    const text = quote(value);
    assert.ok(text.length <= 110, `${text.length}: ${text}`);
    assert.ok(/…|256 bits|\]$/.test(text), text);
  }
  assert.equal(quote('x'.repeat(100), 5), "'xxxx…'");
  assert.equal(quote(deep), '[[[[…]]]]');
});

test('values that throw when they are inspected are still described', () => {
  const trap = new Proxy([], {
    get() {
      throw new Error('no');
    },
  });
  assert.equal(quote(trap), 'an object');
  assert.equal(quote({ constructor: { name: 1 } }), 'an object (no prototype)');
});

test('the first few of many names are listed', () => {
  assert.equal(quoteNames([]), '');
  assert.equal(quoteNames(['a', 'b']), 'a, b');
  assert.equal(
    quoteNames(Array.from({ length: 1000 }, (_, i) => `n${i}`)),
    'n0, n1, n2, n3, n4, n5, n6, n7 and 992 more',
  );
  assert.equal(quoteNames([...'abcdefghi']), 'a, b, c, d, e, f, g, h and 1 more');
  assert.equal(quoteNames([...'abcdefgh']), 'a, b, c, d, e, f, g, h');
  assert.ok(quoteNames(new Array(1000).fill('x'.repeat(1e5))).length < 700);
});
