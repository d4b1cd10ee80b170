// Checks that the texts of the page in both languages contain none of the phrases that readers did not understand.

import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import test from 'node:test';
import { LANGUAGES, languageFor, loadLanguage } from '../../../web/texts/languages.ts';

await loadLanguage('zh');

const folder = new URL('../../../web/', import.meta.url);
const files = (await readdir(folder, { recursive: true })).filter((name) => /(^|[./])(en|zh)\.ts$/.test(name));
const texts = await Promise.all(
  files.map(async (name) => {
    const module = await import(new URL(name, folder).href);
    return { name, module, words: written(module) };
  }),
);

/** Returns every text of a module. For a function it returns the source. @param {any} x @returns {string[]} */
function written(x) {
  if (typeof x === 'string') return [x];
  if (typeof x === 'function') return [String(x)];
  return x && typeof x === 'object' ? Object.values(x).flatMap(written) : [];
}

const UNCLEAR = [
  /answers? to\b/,
  /\bone by one, added/,
  /^against the scores/,
  /\bwith 0\.|^with$/,
  /writes? (for|nothing)\b/,
  /flows into it/,
  /\band so \$/,
  /puts .*first, with/,
  /head that predicts/,
  /covers one/,
  /reads sound/,
  /has to give/,
  /\bless (the )?pinned/,
  /the run before/,
  /Right, unseen/,
  /each sign\b/,
  /rests on/,
  /nothing pinned/,
  /\blet (it )?go\b/,
  /\b(try|tried) (every|each) head\b/i,
  /\bfeeds\b/,
  /\bgoes on\b/,
  /unseen end|hold out its end|^Everything on the page|hears first|how far the hidden states/,
  /^(how\?|in full|in short|More changes)$/,
  /single pair decides|is one token, a rare word is several/,
  /没有可开关的|没有哪一对能单独决定|常用词是一个词元/,
  /词元输入|逐头试关|从图样看不出专长|移植|停在第一个词元|得分数|放开|写给|回应什么/,
];

/** Returns the names of all texts, with their types. @param {any} texts @returns {string[]} */
const keysOf = (texts, at = '') =>
  Object.entries(texts).flatMap(([key, text]) =>
    text && typeof text === 'object' && !Array.isArray(text)
      ? keysOf(text, `${at}${key}.`)
      : [`${at}${key}: ${typeof text}${Array.isArray(text) ? text.length : ''}`],
  );

test('both languages have every text', () => {
  const inEnglish = texts.filter(({ name }) => /\ben\.ts$/.test(name));
  assert.ok(inEnglish.length > 10);
  for (const { name, module } of inEnglish) {
    const other = texts.find((file) => file.name === name.replace(/en\.ts$/, 'zh.ts'));
    assert.deepEqual(keysOf(other.module), keysOf(module), name);
  }
});

/** Returns the functions of a module of texts, by name. @param {any} texts @returns {[string, Function][]} */
const functionsOf = (texts, at = '') =>
  typeof texts === 'function'
    ? [[at, texts]]
    : texts && typeof texts === 'object'
      ? Object.entries(texts).flatMap(([key, text]) => functionsOf(text, `${at}.${key}`))
      : [];

/**
 * Values for each parameter. Numbers are small, so that if one language has a word for a product of two numbers, the
 * other one has too. A parameter of another type gets them as well: both languages get the same.
 */
const VALUES = [0, 1, 2, 3, 'x'];
const MAX_PARAMETERS = 3;
/** Returns all combinations of values for the parameters of a function, or none if there are too many parameters. */
const argumentsOf = ({ length }) =>
  length > MAX_PARAMETERS
    ? []
    : Array.from({ length }).reduce((lists) => lists.flatMap((list) => VALUES.map((value) => [...list, value])), [[]]);
/** Calls a text; undefined if the values are of no use to it. */
function textOf(text, values) {
  try {
    return text(...values);
  } catch {
    return undefined;
  }
}
/** Returns the different numbers in a text except 1, which is often written as a word. */
const numbersIn = (/** @type {unknown} */ text) =>
  [...new Set(JSON.stringify(text)?.match(/\d+/g))].filter((number) => number !== '1').sort();

test('texts contain the same numbers in both languages', () => {
  let compared = 0;
  for (const { name, module } of texts.filter(({ name }) => /\ben\.ts$/.test(name))) {
    const other = texts.find((file) => file.name === name.replace(/en\.ts$/, 'zh.ts'));
    const inChinese = new Map(functionsOf(other.module));
    for (const [at, text] of functionsOf(module))
      for (const values of argumentsOf(text)) {
        const [english, chinese] = [text, inChinese.get(at)].map((one) => textOf(one, values));
        if (english === undefined || chinese === undefined) continue;
        compared++;
        assert.deepEqual(numbersIn(chinese), numbersIn(english), `${name}${at}(${values.join()})`);
      }
  }
  assert.ok(compared > 5000, `${compared}`);
});

test('the language of the page is the first that it has', () => {
  assert.deepEqual([languageFor(['fr', 'zh-CN']), languageFor([])], ['zh', 'en']);
});

test('no text of the page contains an unclear phrase', () => {
  for (const { name, words } of texts)
    for (const text of words) for (const phrase of UNCLEAR) assert.doesNotMatch(text, phrase, name);
});

test('a count of one is singular, and a window of one token has no tokens before it', () => {
  const { masksAbout, problems } = LANGUAGES.en;
  assert.match(problems.noConfig('x', 1), /holds 1 attention layer,/);
  assert.match(problems.noConfig('x', 2), /holds 2 attention layers,/);
  assert.match(problems.unknownLayers('x', 1, 2, 8), /1 attention layer \(/);
  assert.equal(masksAbout.window(0), 'A token sees only itself.');
  assert.doesNotMatch(LANGUAGES.zh.masksAbout.window(0), /0/);
});

test('the Chinese page says that the model reads English', () => {
  const { whaleAbout, first } = LANGUAGES.zh;
  assert.match(whaleAbout({ layers: 5, heads: 4 }), /英文/);
  assert.match(first.note, /英文/);
});
