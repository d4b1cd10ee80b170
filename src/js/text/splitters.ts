// Pre-tokenizers split a text into words, which the tokenizer's model splits into pieces.

import { type AlignedText, replaceEach } from './aligned.ts';
import { toByteChars } from './bytelevel.ts';
import type { Fields } from './fields.ts';
import { fromRegExp, type Pattern, readPattern } from './pattern.ts';

export type Splitter = (word: AlignedText) => AlignedText[];
/** how the matches of a pattern are split off */
export type Behaviour = (typeof BEHAVIOURS)[number];
export type Part = { begin: number; end: number; matches: boolean };

const BEHAVIOURS = ['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous'] as const;
/** The pattern of GPT-2, with the white space of Unicode. */
const GPT2 = [
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\p{White_Space}\\p{L}\\p{N}]+",
  '\\p{White_Space}+(?!\\P{White_Space})|\\p{White_Space}+',
].join('|');
const SPACES = fromRegExp(/\p{White_Space}+/gu);
const PUNCTUATION = fromRegExp(/[!-/:-@[-`{-~\p{P}]/gu);
const SPACE = fromRegExp(/ /g);
const NOT_PRINTABLE_ASCII = fromRegExp(/[^!-~]/gu);
const EVERYWHERE = fromRegExp(/(?:)/gu);
const IN_WORDS = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}';

/** Divides a text into the matches and the ranges between them. */
function partsOf(text: string, matches: number[]) {
  const parts: Part[] = [];
  let at = 0;
  for (let i = 0; i < matches.length; i += 2) {
    const begin = matches[i];
    if (at < begin) parts.push({ begin: at, end: begin, matches: false });
    at = matches[i + 1];
    parts.push({ begin, end: at, matches: true });
  }
  if (at < text.length) parts.push({ begin: at, end: text.length, matches: false });
  return parts;
}

/** Returns true if a part is joined to the previous part. */
function joins(part: Part, before: Part, behaviour: Behaviour) {
  if (behaviour === 'Contiguous') return part.matches === before.matches;
  if (behaviour === 'MergedWithPrevious') return part.matches && !before.matches;
  return behaviour === 'MergedWithNext' && before.matches && !part.matches;
}

export function splitting(pattern: Pattern, behaviour: Behaviour, invert = false): Splitter {
  return (word) => {
    const { text } = word;
    if (text === '') return [];
    const found = pattern(text);
    const all = found[0] === 0 && found[1] === text.length;
    // A word from an earlier step is usually a single part.
    if (all || found.length === 0) return behaviour === 'Removed' && all !== invert ? [] : [word];
    const parts = partsOf(text, found);
    if (invert) for (const part of parts) part.matches = !part.matches;
    const remaining = behaviour === 'Removed' ? parts.filter(({ matches }) => !matches) : parts;
    const joined: Part[] = [];
    remaining.forEach((part, i) => {
      const last = joined.at(-1);
      if (last && i > 0 && joins(part, remaining[i - 1], behaviour)) last.end = part.end;
      else joined.push({ ...part });
    });
    return joined.filter(({ begin, end }) => begin < end).map(({ begin, end }) => word.slice(begin, end));
  };
}

/** Each word passes all steps before the next word, so that few intermediate words exist at once. */
const chain =
  (steps: readonly Splitter[]): Splitter =>
  (word) => {
    const words: AlignedText[] = [];
    const pass = (part: AlignedText, i: number) => {
      if (i === steps.length) words.push(part);
      else for (const each of steps[i](part)) pass(each, i + 1);
    };
    pass(word, 0);
    return words;
  };

function split(fields: Fields): Splitter {
  const pattern = readPattern(fields, 'pattern');
  const behaviour = fields.word('behavior', BEHAVIOURS);
  return splitting(pattern ?? EVERYWHERE, behaviour, fields.boolean('invert', false));
}

function byteLevel(fields: Fields): Splitter {
  const prefix = fields.boolean('add_prefix_space', true);
  const words = fields.boolean('use_regex', true)
    ? splitting(fromRegExp(new RegExp(GPT2, 'gu')), 'Isolated')
    : (word: AlignedText) => [word];
  const bytes = (word: AlignedText) => word.edit(replaceEach(word.text, NOT_PRINTABLE_ASCII, toByteChars));
  return (word) => words(prefix && !word.text.startsWith(' ') ? word.edit([[0, 0, ' ']]) : word).map(bytes);
}

/** Reads in which cases Metaspace adds its character before the text. */
export function readPrepend(fields: Fields) {
  // Older files have the flag add_prefix_space instead.
  if (fields.get('prepend_scheme') === null) return fields.boolean('add_prefix_space', true) ? 'always' : 'never';
  return fields.word('prepend_scheme', ['always', 'first', 'never'] as const);
}

function metaspace(fields: Fields): Splitter {
  const char = fields.string('replacement', '▁');
  if ([...char].length !== 1) throw fields.error('replacement', 'one character');
  const prepend = readPrepend(fields);
  // The pattern splits before each replacement character.
  const words = fromRegExp(new RegExp(`(?!^)(?=${char.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&')})`, 'gu'));
  const split = fields.boolean('split', true) ? splitting(words, 'Isolated') : null;
  return (word) => {
    const marked = word.edit(replaceEach(word.text, SPACE, () => char));
    const first = prepend === 'always' || (prepend === 'first' && word.range(0, 0)[0] === 0);
    const whole = first && !marked.text.startsWith(char) ? marked.edit([[0, 0, char]]) : marked;
    return split ? split(whole) : [whole];
  };
}

const KINDS: Record<string, (fields: Fields) => Splitter> = {
  Sequence: (fields) => chain(fields.objects('pretokenizers').map(readSplitter)),
  BertPreTokenizer: () => chain([splitting(SPACES, 'Removed'), splitting(PUNCTUATION, 'Isolated')]),
  ByteLevel: byteLevel,
  Split: split,
  Whitespace: () =>
    splitting(fromRegExp(new RegExp(`[${IN_WORDS}]+|[^${IN_WORDS}\\p{White_Space}]+`, 'gu')), 'Removed', true),
  WhitespaceSplit: () => splitting(SPACES, 'Removed'),
  Metaspace: metaspace,
  Digits: (fields) =>
    splitting(fromRegExp(fields.boolean('individual_digits', false) ? /\p{N}/gu : /\p{N}+/gu), 'Isolated'),
  Punctuation: (fields) => splitting(PUNCTUATION, fields.word('behavior', BEHAVIOURS, 'Isolated')),
};

export const readSplitter = (fields: Fields): Splitter => fields.choose('pre-tokenizer', KINDS)(fields);
