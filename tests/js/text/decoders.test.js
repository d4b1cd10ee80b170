import assert from 'node:assert/strict';
import test from 'node:test';
import { growthLimit, readDecoder } from '../../../src/js/text/decoders.ts';
import { Fields } from '../../../src/js/text/fields.ts';

const decode = (config, tokens) => readDecoder(new Fields(config, 'decoder'))(tokens, growthLimit(tokens));

test('Strip removes up to the given numbers of its character from both ends of each token', () => {
  const strip = (start, stop) => (token) => decode({ type: 'Strip', content: '_', start, stop }, [token])[0];
  assert.deepEqual(['__a__', 'a', '_b_c_', '', '___'].map(strip(1, 2)), ['_a', 'a', 'b_c', '', '']);
  assert.deepEqual(['__a__', 'a', '_b_c_'].map(strip(0, 0)), ['__a__', 'a', '_b_c_']);
  assert.equal(strip(3, 0)('_____'), '__');
});

test('ByteFallback decodes bytes as UTF-8; invalid UTF-8 gives one U+FFFD for each byte', () => {
  const bytes = (...tokens) => decode({ type: 'ByteFallback' }, tokens);
  assert.deepEqual(bytes('a', '<0xC3>', '<0xA9>', 'b', '<0x41>'), ['a', 'é', 'b', 'A']);
  assert.deepEqual(bytes('<0xC3>', 'a', '<0xE4>', '<0xBB>'), ['\ufffd', 'a', '\ufffd\ufffd']);
  assert.deepEqual(bytes('<0xEF>', '<0xBF>', '<0xBD>'), ['\ufffd']);
  assert.deepEqual(bytes('<0xG1>', '<0x1>'), ['<0xG1>', '<0x1>']);
});

test('WordPiece joins tokens with its prefix, and removes spaces before punctuation', () => {
  const words = (config, ...tokens) => decode({ type: 'WordPiece', ...config }, tokens).join('');
  assert.equal(words({}, 'wh', '##ale', '!', 'do', "n't"), "whale! don't");
  assert.equal(words({ cleanup: false }, 'wh', '##ale', '!'), 'whale !');
  assert.equal(words({ prefix: '@' }, 'wh', '@ale', '##x'), 'whale ##x');
});

test('Metaspace decodes spaces, but none at the beginning of a text', () => {
  const write = (config) => decode({ type: 'Metaspace', ...config }, ['▁the', '▁wh', 'ale']).join('');
  assert.equal(write({}), 'the whale');
  assert.equal(write({ prepend_scheme: 'never' }), ' the whale');
  assert.equal(decode({ type: 'Metaspace', replacement: '_' }, ['_a', '_b_c']).join(''), 'a b c');
});

test('Replace and Sequence: decoders are applied in order', () => {
  const replace = { type: 'Replace', pattern: { String: '▁' }, content: ' ' };
  const strip = { type: 'Strip', content: ' ', start: 1, stop: 0 };
  const all = { type: 'Sequence', decoders: [replace, { type: 'ByteFallback' }, { type: 'Fuse' }, strip] };
  assert.equal(decode(all, ['▁▁a', '<0x41>', '▁b']).join(''), ' aA b');
});
