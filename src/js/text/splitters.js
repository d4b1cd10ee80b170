// How a text is split into words before the model of the tokenizer sees them: pre-tokenizers, as the file calls them.

import { replaceEach } from './aligned.js';
import { toByteSigns } from './bytelevel.js';
import { native, readPattern } from './pattern.js';

/** @import { AlignedText } from './aligned.js' */
/** @import { Fields } from './fields.js' */
/** @import { Pattern } from './pattern.js' */

/** @typedef {(word: AlignedText) => AlignedText[]} Splitter */
/** @typedef {typeof BEHAVIOURS[number]} Behaviour what becomes of the matches of a pattern */
/** @typedef {{ begin: number, end: number, matches: boolean }} Part */

const BEHAVIOURS = /** @type {const} */ (['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous']);
/** Of GPT-2, with the spaces of Unicode. */
const GPT2 = [
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\p{White_Space}\\p{L}\\p{N}]+",
  '\\p{White_Space}+(?!\\P{White_Space})|\\p{White_Space}+',
].join('|');
const SPACES = native(/\p{White_Space}+/gu);
const PUNCTUATION = native(/[!-/:-@[-`{-~\p{P}]/gu);
const SPACE = native(/ /g);
const NOT_ITS_OWN_SIGN = native(/[^!-~]/gu);
const EVERYWHERE = native(/(?:)/gu);
const IN_WORDS = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}';

/** The whole text in parts, those that match and those between. @param {string} text @param {number[]} places */
function partsOf(text, places) {
  /** @type {Part[]} */
  const parts = [];
  let at = 0;
  for (let i = 0; i < places.length; i += 2) {
    const begin = places[i];
    if (at < begin) parts.push({ begin: at, end: begin, matches: false });
    at = places[i + 1];
    parts.push({ begin, end: at, matches: true });
  }
  if (at < text.length) parts.push({ begin: at, end: text.length, matches: false });
  return parts;
}

/**
 * Whether a part is joined to the one before it.
 * @param {Part} part
 * @param {Part} before
 * @param {Behaviour} behaviour
 */
function joins(part, before, behaviour) {
  if (behaviour === 'Contiguous') return part.matches === before.matches;
  if (behaviour === 'MergedWithPrevious') return part.matches && !before.matches;
  return behaviour === 'MergedWithNext' && before.matches && !part.matches;
}

/** @param {Pattern} pattern @param {Behaviour} behaviour @param {boolean} [invert] @returns {Splitter} */
function splitting(pattern, behaviour, invert = false) {
  return (word) => {
    const { text } = word;
    if (text === '') return [];
    const places = pattern(text);
    const all = places[0] === 0 && places[1] === text.length;
    // A word that an earlier step has split is usually one part.
    if (all || places.length === 0) return behaviour === 'Removed' && all !== invert ? [] : [word];
    const parts = partsOf(text, places);
    if (invert) for (const part of parts) part.matches = !part.matches;
    const kept = behaviour === 'Removed' ? parts.filter(({ matches }) => !matches) : parts;
    /** @type {Part[]} */
    const joined = [];
    kept.forEach((part, i) => {
      const last = joined.at(-1);
      if (last && i > 0 && joins(part, kept[i - 1], behaviour)) last.end = part.end;
      else joined.push({ ...part });
    });
    return joined.filter(({ begin, end }) => begin < end).map(({ begin, end }) => word.slice(begin, end));
  };
}

/**
 * Each word passes through all steps before the next: the words between two steps are soon garbage.
 * @param {readonly Splitter[]} steps
 * @returns {Splitter}
 */
const inTurn = (steps) => (word) => {
  /** @type {AlignedText[]} */
  const words = [];
  const pass = (/** @type {AlignedText} */ part, /** @type {number} */ i) => {
    if (i === steps.length) words.push(part);
    else for (const each of steps[i](part)) pass(each, i + 1);
  };
  pass(word, 0);
  return words;
};

/** @param {Fields} fields @returns {Splitter} */
function split(fields) {
  const pattern = readPattern(fields, 'pattern');
  const behaviour = fields.word('behavior', BEHAVIOURS);
  return splitting(pattern ?? EVERYWHERE, behaviour, fields.boolean('invert', false));
}

/** @param {Fields} fields @returns {Splitter} */
function byteLevel(fields) {
  const prefix = fields.boolean('add_prefix_space', true);
  const words = fields.boolean('use_regex', true)
    ? splitting(native(new RegExp(GPT2, 'gu')), 'Isolated')
    : (/** @type {AlignedText} */ word) => [word];
  const bytes = (/** @type {AlignedText} */ word) => word.edit(replaceEach(word.text, NOT_ITS_OWN_SIGN, toByteSigns));
  return (word) => words(prefix && !word.text.startsWith(' ') ? word.edit([[0, 0, ' ']]) : word).map(bytes);
}

/** Whether a sign is put before the words, of a Metaspace. @param {Fields} fields */
export function readPrepend(fields) {
  // Older files have a flag.
  if (fields.get('prepend_scheme') === null) return fields.boolean('add_prefix_space', true) ? 'always' : 'never';
  return fields.word('prepend_scheme', /** @type {const} */ (['always', 'first', 'never']));
}

/** @param {Fields} fields @returns {Splitter} */
function metaspace(fields) {
  const sign = fields.string('replacement', '▁');
  if ([...sign].length !== 1) throw fields.error('replacement', 'one character');
  const prepend = readPrepend(fields);
  // Each word begins with its sign.
  const words = native(new RegExp(`(?!^)(?=${sign.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&')})`, 'gu'));
  const split = fields.boolean('split', true) ? splitting(words, 'Isolated') : null;
  return (word) => {
    const marked = word.edit(replaceEach(word.text, SPACE, () => sign));
    const first = prepend === 'always' || (prepend === 'first' && word.range(0, 0)[0] === 0);
    const whole = first && !marked.text.startsWith(sign) ? marked.edit([[0, 0, sign]]) : marked;
    return split ? split(whole) : [whole];
  };
}

/** @type {Record<string, (fields: Fields) => Splitter>} */
const KINDS = {
  Sequence: (fields) => inTurn(fields.objects('pretokenizers').map(readSplitter)),
  BertPreTokenizer: () => inTurn([splitting(SPACES, 'Removed'), splitting(PUNCTUATION, 'Isolated')]),
  ByteLevel: byteLevel,
  Split: split,
  Whitespace: () =>
    splitting(native(new RegExp(`[${IN_WORDS}]+|[^${IN_WORDS}\\p{White_Space}]+`, 'gu')), 'Removed', true),
  WhitespaceSplit: () => splitting(SPACES, 'Removed'),
  Metaspace: metaspace,
  Digits: (fields) =>
    splitting(native(fields.boolean('individual_digits', false) ? /\p{N}/gu : /\p{N}+/gu), 'Isolated'),
  Punctuation: (fields) => splitting(PUNCTUATION, fields.word('behavior', BEHAVIOURS, 'Isolated')),
};

/** @param {Fields} fields @returns {Splitter} */
export const readSplitter = (fields) => fields.choose('pre-tokenizer', KINDS)(fields);
