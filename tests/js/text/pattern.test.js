import assert from 'node:assert/strict';
import test from 'node:test';
import { regex } from '../../../src/js/text/pattern.ts';

const pattern = (source) => regex(source, (reason) => new SyntaxError(reason));
/** Returns the ranges of the matches, [begin, end]. */
const pairs = (source, text) => {
  const all = pattern(source)(text);
  return Array.from({ length: all.length / 2 }, (_, i) => [all[2 * i], all[2 * i + 1]]);
};
const found = (source, text) => pairs(source, text).map(([begin, end]) => text.slice(begin, end));
const refuses = (source, message) => assert.throws(() => pattern(source), message);

test('letters, spaces and digits are classified by Unicode', () => {
  assert.deepEqual(found('\\s', 'a\u0085b\ufeff\u3000'), ['\u0085', '\u3000']);
  assert.deepEqual(found('\\S+', 'a\u0085b\ufeff\u3000'), ['a', 'b\ufeff']);
  assert.deepEqual(found('\\d+', '12٣x²'), ['12٣']);
  assert.deepEqual(found('\\w+', 'aé_Ⅻ 👍 今-1'), ['aé_Ⅻ', '今', '1']);
  assert.deepEqual(found('\\h+', 'xBEEFg'), ['BEEF']);
  // Outside a character class, Oniguruma counts some numbers as word characters.
  assert.deepEqual([found('\\w+', 'a²½'), found('[\\w]+', 'a²½')], [['a²½'], ['a']]);
  assert.deepEqual([found('\\p{Punct}', '$!'), found('[[:punct:]]', '$!')], [['!'], ['!']]);
  assert.deepEqual(found('\\p{Han}+|\\p{^L}', 'a今天1'), ['今天', '1']);
  assert.deepEqual(found('.', 'a\n👍\r'), ['a', '👍', '\r']);
});

test('case is ignored if the pattern has the flag', () => {
  assert.deepEqual(found("'(?i:[sdmt]|ll|ve|re)", "'s 'S 'Ll 'ſ 'x 've"), ["'s", "'S", "'Ll", "'ſ", "'ve"]);
  assert.deepEqual(found('a(?i)b|c', 'aB aC ab c'), ['aB', 'aC', 'ab']);
  assert.deepEqual(found('(?i:[a-f]+)x', 'AbFx aBGx'), ['AbFx']);
  assert.deepEqual(found('(?i:a(?-i:b))', 'Ab AB'), ['Ab']);
  // With (?i), case is folded in classes of any alphabet, before a class is negated, but not in a property outside a
  // class.
  assert.deepEqual(found('(?i)[а-я]+', 'жЖ aЁ Я'), ['жЖ', 'Я']);
  assert.deepEqual(found('(?i)[^а-я]+', 'жЖ1Z'), ['1Z']);
  assert.deepEqual(found('(?i)[[:lower:]]+|[[A-Z]&&[^B]]+', 'aÉ1'), ['aÉ']);
  assert.deepEqual(found('(?i)[A-Z&&[^B]]+', 'abcK'), ['a', 'cK']);
  // An inner class is negated before case is folded in the outer class.
  assert.deepEqual(found('(?i)[[^a]]+', 'aAb1'), ['aAb1']);
  assert.deepEqual(found('(?i)σ+|\\p{Lu}', 'ςΣσ aA'), ['ςΣσ', 'A']);
});

test('classes can be nested', () => {
  assert.deepEqual(
    found(' ?[^(\\s|[.,!])]+', 'ab, c|d (e)'),
    ['ab', ' c', 'd', ' ', 'e'].filter((part) => part !== ' '),
  );
  assert.deepEqual(found('[[:alpha:]&&[^a-f]]+', 'abghé1'), ['ghé']);
  assert.deepEqual(found('[]a-]+', 'x]a-y'), [']a-']);
  assert.deepEqual(found('[^\\r\\n\\p{L}]', 'a1\n'), ['1']);
  assert.deepEqual(found('[\\x{1F44D}\\u0041]', 'A👍'), ['A', '👍']);
});

test('there is no backtracking into atomic groups and possessive repetitions', () => {
  assert.deepEqual(found('a++a', 'aaa'), []);
  assert.deepEqual(found('a?+b|a', 'aab'), ['a', 'ab']);
  assert.deepEqual(found('(?>a|ab)c', 'abc ac'), ['ac']);
  assert.deepEqual(found('(?:a{1,2}+)a', 'aaa'), ['aaa']);
  assert.deepEqual(found('a{,2}b', 'aaab'), ['aab']);
  assert.deepEqual(found('a{x', 'a{x'), ['a{x']);
  assert.deepEqual(
    [found('a{2}?b', 'aabb'), found('a{1,2}?b?', 'aab')],
    [
      ['aab', 'b'],
      ['a', 'ab'],
    ],
  );
});

test('anchors match at lines, words and ends', () => {
  assert.deepEqual(found('^\\w|\\w$', 'ab\ncd'), ['a', 'b', 'c', 'd']);
  assert.deepEqual(found('\\A\\w|\\w\\z', 'ab\ncd'), ['a', 'd']);
  assert.deepEqual(found('\\b\\w', 'éa b'), ['é', 'b']);
  assert.deepEqual(found('(?<=a)b(?!c)', 'abab abc'), ['b', 'b']);
  assert.deepEqual(found('(?<name>a)(b)(?#no)', 'ab'), ['ab']);
});

test('there is no empty match directly after another match or inside a surrogate pair', () => {
  const places = (source, text) => pairs(source, text).map(([begin]) => begin);
  assert.deepEqual(
    [places('a*', 'aab'), found('a*', 'aab')],
    [
      [0, 3],
      ['aa', ''],
    ],
  );
  assert.deepEqual(places('(?:)', 'a👍'), [0, 1, 3]);
  assert.deepEqual([places('$', 'x👍y'), places('^', 'x👍y')], [[4], [0]]);
  assert.deepEqual(places('\\B', '👍👍x'), [0, 2]);
});

test('unsupported constructs are refused with name and position', () => {
  refuses('(a)\\1', /'\\1' is not supported at character 3/);
  refuses('(?<=a)\\K', /'\\K' is not supported at character 6/);
  refuses('(?m:a)', /'\(\?m:' is not supported at character 0/);
  refuses('\\p{constructor}', /the property 'constructor' is not supported/);
  refuses('\\p{Elvish}', /the property 'Elvish' is not supported/);
  refuses('[[:elf:]]', /the class 'elf' is not supported/);
  refuses('(a', /expected '\)' at character 2/);
  refuses('a)', /unmatched '\)'/);
  refuses('[a', /expected '\]'/);
  refuses('*', /nothing to repeat/);
  refuses('[b-a]', /an empty range/);
  refuses('\\', /a backslash at the end/);
  refuses('('.repeat(100), /nested deeper than 50/);
  refuses('\\x{110000}', /beyond U\+10FFFF/);
});
