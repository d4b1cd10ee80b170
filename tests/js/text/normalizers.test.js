import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { AlignedText } from '../../../src/js/text/aligned.ts';
import { Fields } from '../../../src/js/text/fields.ts';
import { readNormalizer } from '../../../src/js/text/normalizers.ts';
import { charsmap } from '../../support/charsmap.js';
import { inTier } from '../../support/tier.js';

const SEED = 23;
const FORMS = ['NFC', 'NFD', 'NFKC', 'NFKD'];
const normalizer = (config) => readNormalizer(new Fields(config, 'normalizer'));
const normalize = (config, text) => normalizer(config)(new AlignedText(text));
/** Returns, for each character of the result, the part of the original from which it comes. */
const origins = (aligned, text) => Array.from(aligned.text, (_, i) => text.slice(...aligned.range(i, i + 1)));

test(`the normalization forms equal those of String.normalize, also in parts of a text (seed ${SEED})`, () => {
  const joining = ['\u0301', '\u0327', '\u1161', '\u11a8', '\uff9e', 'ﾞ', '\u0345', '\u0e33', '\u3131', '각', 'é', '𝅗𝅥'];
  const unit = fc.oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), fc.constantFrom(...joining));
  for (const form of FORMS)
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
        assert.equal(normalize({ type: form }, text).text, text.normalize(form));
      }),
      { seed: SEED, numRuns: inTier(2000, 200) },
    );
});

test('the normalizer knows every character that combines with the previous one', () => {
  const characters = Array.from({ length: 0x110000 }, (_, code) => code)
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code));
  // All characters that occur in a decomposition after the first character.
  const second = new Set(
    characters.flatMap((sign) => (sign.normalize('NFC') === sign ? [...sign.normalize('NFD')].slice(1) : [])),
  );
  for (const form of inTier(FORMS, ['NFKC'])) {
    const whole = normalizer({ type: form });
    const wrong = characters.filter((sign) => {
      const [first] = sign.normalize(form).normalize('NFD');
      if (!second.has(first) && !/\p{M}/u.test(first)) return false;
      // The character must be normalized together with the previous one, both after a letter and after a character that
      // changes.
      return ['a', 'ﬁ', '\u1100', 'ｶ'].some((before) => {
        const text = `Å${before}${sign}`;
        return whole(new AlignedText(text)).text !== text.normalize(form);
      });
    });
    assert.deepEqual(wrong, [], form);
  }
});

test('normalized characters keep their offsets in the original', () => {
  const from = (config, text) => origins(normalize(config, text), text);
  assert.deepEqual(from({ type: 'NFD' }, 'aéb'), ['a', 'é', 'é', 'b']);
  assert.deepEqual(from({ type: 'NFC' }, 'ae\u0301b'), ['a', 'e\u0301', 'b']);
  assert.deepEqual(from({ type: 'NFKC' }, 'ﬁx'), ['ﬁ', 'ﬁ', 'x']);
  // The origin of a changed character is all the characters that are normalized together. That of an unchanged
  // character is only itself.
  assert.deepEqual(from({ type: 'NFKD' }, ' \u0e33'), [' ', '\u0e33', '\u0e33']);
  assert.deepEqual(from({ type: 'NFD' }, 'ü\u0345'), ['ü', 'ü', '\u0345']);
  assert.deepEqual(from({ type: 'NFD' }, 'a\u0307\u0323'), ['a', '\u0307\u0323', '\u0307\u0323']);
  assert.deepEqual(from({ type: 'Prepend', prepend: '▁' }, 'ab'), ['', 'a', 'b']);
  assert.deepEqual(from({ type: 'Lowercase' }, 'AİΣ'), ['A', 'İ', 'İ', 'Σ']);
  assert.deepEqual(from({ type: 'Strip', strip_left: true, strip_right: true }, ' \u3000a '), ['a']);
  const spaces = { type: 'Replace', pattern: { Regex: ' {2,}' }, content: '▁' };
  assert.deepEqual(from(spaces, 'a   b c'), ['a', '   ', 'b', ' ', 'c']);
  const both = { type: 'Sequence', normalizers: [{ type: 'NFD' }, { type: 'StripAccents' }, spaces] };
  assert.deepEqual(from(both, 'é  ü'), ['é', '  ', 'ü']);
});

test('BERT: cleaning, separation of Chinese characters and removal of accents are options', () => {
  const bert = (options, text) => normalize({ type: 'BertNormalizer', ...options }, text).text;
  const text = 'Ça\u0000\t今天\u200bB';
  assert.equal(bert({}, text), 'ca  今  天 b');
  assert.equal(bert({ lowercase: false }, text), 'Ça  今  天 B');
  assert.equal(bert({ lowercase: false, strip_accents: true }, text), 'Ca  今  天 B');
  assert.equal(bert({ lowercase: true, strip_accents: false }, text), 'ça  今  天 b');
  assert.equal(
    bert({ clean_text: false, handle_chinese_chars: false, strip_accents: false, lowercase: false }, text),
    text,
  );
});

test('the replacements of SentencePiece are read, and invalid ones are refused', () => {
  const map = charsmap([
    ['\u200b', ''],
    ['ﬁ', 'fi'],
    ['\n', ' '],
    ['e\u0301', 'é'],
  ]);
  const config = { type: 'Precompiled', precompiled_charsmap: map };
  const text = 'aﬁ\ne\u0301\u200bz';
  assert.equal(normalize(config, text).text, 'afi éz');
  assert.deepEqual(origins(normalize(config, text), text), ['a', 'ﬁ', 'ﬁ', '\n', 'e\u0301', 'z']);
  const fails = (bad, message) => assert.throws(() => normalizer({ ...config, precompiled_charsmap: bad }), message);
  fails('*', /precompiled_charsmap is '\*', expected base64/);
  fails('AAAA', /expected an array and texts/);
  fails(btoa('\x09\0\0\0\0\0\0\0'), /expected an array and texts/);
});

test(`a damaged table of replacements gives a text (seed ${SEED})`, () => {
  const map = Buffer.from(
    charsmap([
      ['ﬁ', 'fi'],
      ['e', 'é'],
    ]),
    'base64',
  );
  fc.assert(
    fc.property(fc.nat(map.length - 1), fc.nat(255), (at, byte) => {
      const damaged = Buffer.from(map);
      damaged[at] = byte;
      try {
        const config = { type: 'Precompiled', precompiled_charsmap: damaged.toString('base64') };
        assert.equal(typeof normalize(config, 'eﬁ e\u0301').text, 'string');
      } catch (error) {
        assert.equal(error.code, 'FORMAT', error.stack);
      }
    }),
    { seed: SEED, numRuns: inTier(3000, 300) },
  );
});
