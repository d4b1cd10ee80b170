import assert from 'node:assert/strict';
import test from 'node:test';
import { HeadlightError } from '../../../src/js/check/errors.ts';
import { regex } from '../../../src/js/text/pattern.ts';
import { Memory } from '../../../src/js/text/regex/memory.ts';
import { openTokenizer } from '../../../src/js/text/tokenizer.ts';
import { makeSource } from '../../fuzz/source.js';
import { oniguruma } from '../../support/oniguruma.js';
import { randomPattern, randomText } from '../../support/patterns.js';

const SEED = 77;
/** Patterns of published tokenizers: GPT-2, Llama 3, GPT-4o, DeepSeek and BLOOM. */
const SUFFIXES = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const REST = '\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';
const [UPPER, LOWER] = ['[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]', '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]'];
const FIRST = '[^\\r\\n\\p{L}\\p{N}]?';
const PUBLISHED = [
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
  `${SUFFIXES}|${FIRST}\\p{L}+|${REST}`,
  `${FIRST}${UPPER}*${LOWER}+${SUFFIXES}?|${FIRST}${UPPER}+${LOWER}*${SUFFIXES}?|${REST}`,
  '[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+',
  ' ?[^(\\s|[.,!?…。，、।۔،])]+',
];

const pattern = (source) => regex(source, (reason) => new SyntaxError(reason));
/** Compiles a pattern. Returns null if it is too large. */
function patternOrNone(source) {
  try {
    return pattern(source);
  } catch (error) {
    assert.match(error.message, /it is too large/);
    return null;
  }
}
const splitting = (Regex) => ({
  model: { type: 'BPE', vocab: { a: 0 }, merges: [] },
  pre_tokenizer: { type: 'Split', behavior: 'Isolated', pattern: { Regex } },
});
const refuses = (Regex, message) =>
  assert.throws(
    () => openTokenizer(splitting(Regex)),
    (error) => {
      assert.ok(error instanceof HeadlightError, error.stack);
      assert.equal(error.code, 'FORMAT');
      assert.match(error.message, message);
      assert.ok(error.message.length < 500, 'a short message');
      return true;
    },
  );

test(`random patterns have the same matches as in Oniguruma (seed ${SEED})`, () => {
  let [matched, large] = [0, 0];
  for (let i = 0; i < 800; i++) {
    const source = makeSource(SEED + i);
    const drawn = randomPattern(source, source.below(3));
    const [ours, theirs] = [patternOrNone(drawn), oniguruma(drawn)];
    large += Number(!ours);
    for (let k = 0; ours && k < 6; k++) {
      const text = randomText(source);
      const expected = theirs(text);
      matched += Math.sign(expected.length);
      assert.deepEqual(ours(text), expected, JSON.stringify([drawn, text]));
    }
  }
  assert.ok(matched > 1500 && large < 50, `${matched} of 4800 matched, ${large} patterns too large`);
});

test('a repetition ends when a lookaround or an atomic group matches nothing', () => {
  for (const repeated of ['(?:(?<!b)a?)*b', '(?:(?>a*))*b', '(?:(?>a?)|b)+', '(?:(?=a?)(?!b))*']) {
    const [ours, theirs] = [pattern(repeated), oniguruma(repeated)];
    for (const text of ['aab', 'b', 'ba', '']) assert.deepEqual(ours(text), theirs(text), `${repeated} in ${text}`);
  }
});

test(`patterns of published tokenizers have the same matches as in Oniguruma (seed ${SEED})`, () => {
  const source = makeSource(SEED);
  for (const published of PUBLISHED) {
    const [ours, theirs] = [pattern(published), oniguruma(published)];
    for (let i = 0; i < 40; i++) {
      const text = randomText(source, 60).replaceAll('-', source.pick(["'s", "'LL", '\r\n', '  ', '...', '12345']));
      assert.deepEqual(ours(text), theirs(text), JSON.stringify([published, text]));
    }
  }
});

/** Returns the matches of a pattern in texts, by our matcher and by Oniguruma. */
const both = (source, ...texts) => [pattern(source), oniguruma(source)].map((find) => texts.map(find));

test('a line break \\R is atomic', () => {
  for (const source of ['\\R', '\\R\\n', '(?:\\R)+\\n', '\\R?\\n', 'a\\R\\n|a'])
    assert.deepEqual(...both(source, '\r\n', '\n', '\r', '\r\n\n', 'a\r\n'), source);
  assert.deepEqual(pattern('(?<=\\R)a')('\r\na'), [2, 3]);
});

test('without case, one character may be equal to several', () => {
  const texts = [
    ...['ß', 'ẞ', 'ss', 'SS', 'sS', 'ſs', 's', 'ßs', 'sß', 'sss', 'ßß', 'ssß', 'ßss', 'sßs', 'ssb', 'ssa', 'ßa', 'a'],
    ...['ﬁ', 'fi', 'FI', 'ﬃ', 'ffi', 'ﬀi', 'fﬁ', 'ﬆ', 'ﬅ', 'st', 'ʼN', 'ΐ', 'ΐ', 'i̇', 'İ', 'i', 'αι', 'ᾼ', 'ΑΙ'],
  ];
  const sources = [
    ...['ss', 'ß', 'sss', 'ssss', 'a?ss+', 'ss+', 's{2}', 'ß+', 'ß{2}', '[ß]', '[^ß]', '[aß]b', '[Þ-à]', '[^a]'],
    ...['ﬁ', 'fi', 'ffi', 'ﬃ', 'st', 'ﬆ', 'ŉ', 'ΐ', 'ΐ', 'İ', 'i̇', 'ᾳ', 'αι', 's(?:s)', '(?:s)s', 's(s)', 's\\x73'],
    ...['as|ss', 's[s]', '[s]s', '(?<=ß)a', '(?<=ss)a', '(?<!ss)a', '(?=ss).', 'ss|.', '(?>ss)b'],
  ];
  for (const source of sources) assert.deepEqual(...both(`(?i)${source}`, ...texts), source);
  assert.deepEqual(...both('(?i:s)s|(?i:ss)b', ...texts));
});

test('punctuation is that of Oniguruma, which has no symbols in it', () => {
  // Later versions of Unicode have not changed these characters.
  const texts = Array.from({ length: 24 }, (_, i) =>
    String.fromCharCode(...Array.from({ length: 128 }, (__, k) => 128 * (i < 16 ? i : i + 48) + k)),
  );
  for (const source of ['[[:punct:]]', '[[:^punct:]]+']) assert.deepEqual(...both(source, ...texts), source);
  assert.deepEqual(pattern('[[:punct:]]+')('a.$+<=>^`|~!b'), [1, 2, 11, 12]);
});

test('results of one text do not affect the next', () => {
  const found = pattern('(?>a+)b|a(?=a*c)|.');
  for (const text of ['aaab', 'aaac', 'aaaa', 'aaab'.repeat(500), 'aaac']) {
    assert.deepEqual(found(text), pattern('(?>a+)b|a(?=a*c)|.')(text));
  }
});

test('no pattern takes more than linear time', () => {
  const [a, spaces] = ['a'.repeat(20_000), ' '.repeat(20_000)];
  const count = (source, text) => pattern(source)(text).length / 2;
  // With backtracking, each of these takes exponential time.
  assert.equal(count('(a+)+!', a), 0);
  assert.equal(count('(?:a|a)*!', a), 0);
  assert.equal(count('(?:a|aa)+$', `${a}b`), 0);
  assert.equal(count('a*a*a*a*a*!', a), 0);
  assert.equal(count('(?:(?:a*)*)*!', a), 0);
  assert.equal(count('(?:a{0,7}b?){0,7}!', a), 0);
  assert.equal(count('\\s+$|x', `${spaces}b`), 0);
  assert.equal(count('\\s*\\s*\\s*x', spaces), 0);
  assert.equal(count('a*(?<=^a)', a), 1);
  assert.equal(count('a++!', a), 0);
  assert.equal(count('(?>a+)!|a', a), 20_000);
  assert.equal(count('(?>(?:a|aa)+)!|a', a), 20_000);
  assert.equal(count('a(?=a*!)', a), 0);
  assert.equal(count('a(?=a*!)', `${a}!`), 20_000);
  assert.equal(count('a(?=(?:a|aa)*!)', `${a}!`), 20_000);
  assert.equal(count('(?:a(?!a*!))+!|a', a), 20_000);
  assert.equal(count('(?<=(?:a|aa){1,30}b)a', a), 0);
  assert.equal(count('(?<![ab]{0,90}!)a', a), 20_000);
});

test('a pattern that would be too large is refused', () => {
  refuses(`a${'+'.repeat(4000)}`, /nested deeper than 50/);
  refuses(`a${'{0,9}?'.repeat(8)}`, /it is too large/);
  refuses('(?:(?:a{0,1000}b?){0,1000})!', /it is too large/);
  refuses(`(?:${'ab|'.repeat(400)}c)`, /it is too large/);
  refuses('a{1001}', /a repetition of more than 1000 times/);
  refuses('(?:[ab]|[cd])'.repeat(500), /it is too large/);
  refuses('(?i)[a-z]'.repeat(2000), /nested deeper than 50/);
  refuses(Array.from({ length: 100 }, (_, i) => `[a-z${i}]`).join(''), /more than 64 different sets/);
  refuses(`[${'\\p{L}'.repeat(3000)}]`, /more than 200 sets within classes/);
  refuses('['.repeat(10_000), /nested deeper than 50/);
  refuses('(?<=a*)b', /a lookbehind of more than 255 characters/);
  refuses('(?<=(?>a))b', /a possessive repetition within a lookbehind/);
  refuses(`\\p{${'x'.repeat(10_000)}}`, /the property 'x{40}' is not supported/);
  refuses('a{2,1}', /minimum is larger than its maximum/);
  // Repetitions of an empty pattern do not make a pattern larger.
  assert.deepEqual(pattern('(?:(?:(?:(?:){1000}){1000}){1000}){1000}a')('ba'), [1, 2]);
});

test('the patterns of a file have a common limit', () => {
  const Split = splitting(`(?:${'ab|'.repeat(90)}c)`).pre_tokenizer;
  const file = (count) => ({
    ...splitting('a'),
    pre_tokenizer: { type: 'Sequence', pretokenizers: new Array(count).fill(Split) },
  });
  openTokenizer(file(2));
  assert.throws(() => openTokenizer(file(3)), /expected smaller regular expressions in the whole file/);
});

test('memory is limited, and a text that requires more is refused', () => {
  const memory = new Memory(1000, false);
  memory.open(2 ** 20);
  const fill = () => {
    for (let at = 0; at < 2 ** 20; at += 256) memory.fail(7, at);
  };
  assert.throws(fill, { code: 'OUT_OF_MEMORY', message: /more than 256 MB for this text/ });
  assert.deepEqual([memory.get(7, 256), memory.get(7, 257), memory.get(8, 256)], [-1, 0, 0]);
  memory.close();
  assert.equal(memory.get(7, 256), 0);
});
