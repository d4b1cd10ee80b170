import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { decodeStream, stopStream } from '../../../src/js/text/stream.ts';
import { openTokenizer } from '../../../src/js/text/tokenizer.ts';
import { inTier } from '../../support/tier.js';
import { readConfigurations } from '../../support/tokenizers.js';

const SEED = 3;

test(`the texts of a stream concatenate to the text of its tokens, in whole characters (seed ${SEED})`, () => {
  for (const { name, file, cases } of readConfigurations()) {
    const tokenizer = openTokenizer(file);
    for (const { ids, text } of cases) {
      const stream = decodeStream(tokenizer);
      const parts = [...ids.map((id) => stream.push(id)), stream.end()];
      assert.equal(parts.join(''), tokenizer.decode(ids), `${name}: ${text}`);
    }
  }
});

test(`bytes of a character are held back until it is complete (seed ${SEED})`, () => {
  const { file } = readConfigurations().find(({ name }) => name === 'gpt2');
  const tokenizer = openTokenizer(file);
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (text) => {
      const stream = decodeStream(tokenizer);
      const parts = tokenizer.encode(text).ids.map((id) => stream.push(id));
      assert.ok(parts.every((part) => part.isWellFormed?.() ?? true));
      if (!text.includes('\ufffd')) assert.ok(!parts.join('').includes('\ufffd'));
      assert.equal(parts.join('') + stream.end(), tokenizer.decode(tokenizer.encode(text).ids));
    }),
    { seed: SEED, numRuns: inTier(500, 100) },
  );
  const stream = decodeStream(tokenizer);
  const [first, ...rest] = tokenizer.encode('👍').ids;
  assert.equal(stream.push(first), '');
  assert.equal(stream.end(), '\ufffd');
  assert.equal(rest.length > 0, true);
});

test('the text ends before a stop sequence, in however many parts it arrives', () => {
  const text = 'one two\n\nthree END four';
  for (let length = 1; length < text.length; length++) {
    const stream = stopStream(['\n\n', 'END', 'three END four']);
    let shown = '';
    let stopped = null;
    for (let at = 0; at < text.length && !stopped; at += length) {
      const { text: part, stop } = stream.push(text.slice(at, at + length));
      shown += part;
      stopped = stop;
    }
    assert.deepEqual([shown, stopped], ['one two', '\n\n']);
  }
});

test('a possible beginning of a stop sequence is held back, and returned if none follows', () => {
  const stream = stopStream(['abc', 'ax']);
  assert.deepEqual(stream.push('zab'), { text: 'z', stop: null });
  assert.deepEqual(stream.push('a'), { text: 'ab', stop: null });
  assert.deepEqual(stream.push('b'), { text: '', stop: null });
  assert.equal(stream.end(), 'ab');
  assert.deepEqual(stopStream([]).push('any'), { text: 'any', stop: null });
  assert.deepEqual(stopStream(['a', 'ab']).push('xab'), { text: 'x', stop: 'ab' });
  assert.throws(() => stopStream(['']), /generate: stop is \[''\], expected a list of non-empty strings/);
  assert.throws(() => stopStream('a'), /stop is 'a'/);
});
