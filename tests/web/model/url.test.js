import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { EXAMPLES } from '../../../web/model/examples.js';
import { change, checkPatch, initialState, MASKS, SCALES, VIEWS } from '../../../web/model/state.js';
import { readState, writeState } from '../../../web/model/url.js';

const pick = (names) => fc.constantFrom(...names);
const states = fc.record(
  {
    example: pick(Object.keys(EXAMPLES)),
    text: fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('', '&=#%?+', '%00%', '0', 'false', 'null', '\0', 'שלום 你好 👩‍👩‍👧 a\tb\nc'),
    ),
    heads: fc.integer({ min: 1, max: 16 }),
    head: fc.integer({ min: 0, max: 15 }),
    mask: pick(MASKS),
    keys: fc.nat(40),
    temperature: fc.double({ min: 0.1, max: 10, noNaN: true }),
    seed: fc.nat(),
    batch: fc.nat(3),
    window: fc.nat(12),
    scaled: fc.boolean(),
    softcap: fc.double({ min: 0, max: 100, noNaN: true }),
    painted: fc.array(fc.nat(40 * 1024), { maxLength: 6 }),
    off: fc.array(fc.nat(15), { maxLength: 3 }),
    scale: pick(SCALES),
    view: pick(VIEWS),
    cell: fc.option(fc.record({ query: fc.nat(40), key: fc.nat(40) }, { noNullPrototype: true })),
    locked: fc.boolean(),
  },
  { requiredKeys: [], noNullPrototype: true },
);

test('any state is what it was after a turn through the address, 0 and false and any text included', () => {
  fc.assert(
    fc.property(states, (patch) => {
      const state = change(initialState, patch);
      const address = new URL(`https://example.org/a?b=c#${writeState(state)}`).hash.slice(1);
      assert.deepEqual(readState(address), state);
    }),
    { seed: 7, numRuns: 500 },
  );
});

test('the first state is an empty address', () => {
  assert.equal(writeState(initialState), '');
  assert.deepEqual(readState(''), initialState);
});

test('an address that says nonsense is read as far as it makes sense', () => {
  const nonsense =
    'example=nothing&temperature=1e999&softcap="x"&cell={"query":-1,"key":0}&painted=[1,"a"]&scaled=0&heads=99&' +
    '__proto__=1&mask=causal&seed=3&view=3d&%';
  assert.deepEqual(readState(nonsense), change(initialState, { mask: 'causal', seed: 3, heads: 99 }));
  fc.assert(
    fc.property(fc.string(), (text) => void readState(text)),
    { seed: 7, numRuns: 300 },
  );
});

test('no number, list or name from an address can stand where it does not belong', () => {
  const values = [
    '1.5',
    '-1',
    '1e300',
    'NaN',
    'null',
    '"x"',
    'true',
    '[]',
    '[1.5]',
    '[-1]',
    '{}',
    '[null]',
    '{"query":1.5,"key":0}',
  ];
  for (const name of Object.keys(initialState))
    for (const value of values) {
      const state = readState(`${name}=${encodeURIComponent(value)}`);
      checkPatch('test', state);
      assert.ok(state.head < state.heads && state.head >= 0);
    }
  assert.equal(readState('head=1.5').head, initialState.head);
});
