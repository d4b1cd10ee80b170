// Opens damaged and random tokenizer files and GGUF metadata, and encodes a text with each. The file must be refused by
// a HeadlightError with a short message, or give tokens, which are then decoded. As a program it also prints the CPU
// time of the slowest file.
//
//   node tests/fuzz/tokenizers.js [count] [seed] [bytes]
//
// Most texts have 200 bytes of UTF-8; every hundredth text has as many as the third argument (default 100,000). A slow
// file is tested with the long text too.

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { HeadlightError } from '../../src/js/check/errors.ts';
import { PRE_TOKENIZERS } from '../../src/js/text/gguf/ggufPatterns.ts';
import { openGgufTokenizer } from '../../src/js/text/gguf/ggufTokenizer.ts';
import { openTokenizer } from '../../src/js/text/tokenizer.ts';
import { randomPattern, randomText } from '../support/patterns.js';
import { ggufMetadata, readConfigurations, readGgufTokenizers, readTokenizer } from '../support/tokenizers.js';
import { makeSource } from './source.js';

const SHORT = 200;
const LONG = 100_000;
/** Milliseconds of CPU time after which a file is tested with the long text too. */
const SUSPECT = 10;
const JUNK = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 40,
  5n,
  '',
  'x',
  '▁',
  [],
  [[]],
  {},
  new Int8Array(3),
  { type: 'Sequence' },
];
const META = [
  '*',
  '+',
  '?',
  '{9}',
  '{0,9}',
  '(',
  ')',
  '(?:',
  '(?=',
  '(?<=',
  '(?>',
  '[',
  ']',
  '[^',
  '|',
  '\\',
  '$',
  '^',
];
const UNITS = [
  'a',
  ' ',
  'ab',
  'a ',
  'aB1 ',
  'é',
  'ﷺ',
  '今',
  '👍',
  '한',
  '\n',
  'the whale. ',
  '\u0301\u0316',
  '[SEP]',
  '<',
];
const BEHAVIOURS = ['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous'];
const NORMALIZERS = ['NFC', 'NFD', 'NFKC', 'NFKD', 'Lowercase', 'StripAccents', 'ByteLevel', 'BertNormalizer'];
const SPLITTERS = [
  'BertPreTokenizer',
  'ByteLevel',
  'Whitespace',
  'WhitespaceSplit',
  'Metaspace',
  'Digits',
  'Punctuation',
];
const DECODERS = ['ByteLevel', 'WordPiece', 'Metaspace', 'BPEDecoder', 'ByteFallback', 'Fuse'];

const configurations = readConfigurations();
/** Metadata of GGUF files with every kind of vocabulary. */
const metadata = [
  ...readGgufTokenizers().map((each) => each.metadata),
  ggufMetadata(readTokenizer('wordpiece'), { cls_token_id: 2, seperator_token_id: 3 }),
  ggufMetadata(readTokenizer('unigram'), { eos_token_id: 2 }),
];
/**
 * Functions that return random values of the metadata entries of a tokenizer, other than the vocabulary, in a GGUF
 * file.
 */
const KEYS = {
  pre: (source) => source.pick([...PRE_TOKENIZERS.keys()]),
  add_bos_token: (source) => source.chance(0.5),
  add_eos_token: (source) => source.chance(0.5),
  add_sep_token: (source) => source.chance(0.5),
  add_space_prefix: (source) => source.chance(0.5),
  remove_extra_whitespaces: (source) => source.chance(0.5),
  bos_token_id: (source) => source.below(20),
  unknown_token_id: (source) => source.below(20),
  mask_token_id: (source) => source.below(20),
  token_type: (source) => list(source, 400, () => source.below(7)),
  scores: (source) => Float32Array.from(list(source, 400, () => -source.below(9))),
  precompiled_charsmap: (source) => Uint8Array.from(list(source, 600, () => source.below(256))),
};
const list = (source, most, make) => Array.from({ length: 1 + source.below(most) }, make);

/**
 * Returns a long text that repeats a short text, or several short texts one after another.
 * @param {number} length bytes of UTF-8
 */
export function longText(source, length) {
  const parts = list(source, 3, () => (source.chance(0.7) ? source.pick(UNITS) : randomText(source)) || 'a');
  const each = Math.ceil(length / parts.length);
  const text = parts.map((part) => part.repeat(Math.ceil(each / part.length)).slice(0, each)).join('');
  return new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, length));
}

/** Returns a random pattern, which may be invalid. */
function wildPattern(source) {
  const signs = [...randomPattern(source, source.below(3))];
  for (let i = source.below(4); i > 0; i--) {
    const at = source.below(signs.length + 1);
    source.pick([
      () => signs.splice(at, 0, source.pick(META)),
      () => signs.splice(at, 1),
      () => signs.splice(at, 0, ...signs.slice(at, at + 1 + source.below(9))),
    ])();
  }
  return source.chance(0.03) ? signs.join('').repeat(source.below(3000)) : signs.join('');
}

const pattern = (source) =>
  source.chance(0.7)
    ? { Regex: wildPattern(source) }
    : { String: source.pick(['a', ' ', '', 'ab', '▁', 'a'.repeat(source.below(2000))]) };
const content = (source) =>
  source.pick(['', 'a', 'aa', ' ', '▁', 'a'.repeat(source.below(source.pick([9, 9, 100_000])))]);

const step = {
  normalizer: (source) =>
    source.pick([
      () => ({ type: source.pick(NORMALIZERS) }),
      () => ({ type: 'Replace', pattern: pattern(source), content: content(source) }),
      () => ({ type: 'Prepend', prepend: content(source) }),
      () => ({ type: 'Strip', strip_left: source.chance(0.5), strip_right: source.chance(0.5) }),
    ])(),
  pre_tokenizer: (source) =>
    source.chance(0.5)
      ? { type: 'Split', pattern: pattern(source), behavior: source.pick(BEHAVIOURS), invert: source.chance(0.2) }
      : { type: source.pick(SPLITTERS), replacement: source.pick(['▁', 'a', ' ']) },
  decoder: (source) =>
    source.chance(0.5)
      ? { type: 'Replace', pattern: pattern(source), content: content(source) }
      : {
          type: source.pick(DECODERS),
          suffix: source.pick(['', 'a', '</w>']),
          replacement: source.pick(['▁', '', 'a']),
        },
};
const sequences = { normalizer: 'normalizers', pre_tokenizer: 'pretokenizers', decoder: 'decoders' };

/** Returns a sequence of random steps, sometimes repeated many times. */
const steps = (source, kind) => {
  const some = list(source, 3, () => step[kind](source));
  const times = source.chance(0.2) ? source.below(40) : 1;
  return { type: 'Sequence', [sequences[kind]]: new Array(times).fill(some).flat() };
};

/** Returns a piece of the vocabulary. Many of these pieces have common prefixes. */
const piece = (source) =>
  source.pick(['a', 'ab', ' ', 'é', '▁']).repeat(1 + source.below(source.pick([2, 9, 600]))) +
  source.pick(['', 'b', '!']);

const templates = (source) => ({
  type: 'TemplateProcessing',
  special_tokens: { X: { id: 'X', ids: [0], tokens: ['X'] } },
  ...Object.fromEntries(
    ['single', 'pair'].map((name) => [
      name,
      list(source, source.pick([3, 3000]), () =>
        source.chance(0.5) ? { Sequence: { id: 'A', type_id: 0 } } : { SpecialToken: { id: 'X', type_id: 0 } },
      ),
    ]),
  ),
});

export const kinds = {
  damaged: (source) => {
    const file = structuredClone(source.pick(configurations).file);
    for (let i = 1 + source.below(3); i > 0; i--) damage(file, source);
    return file;
  },
  patterns: (source) => {
    const [kind, other] = [source.pick(Object.keys(step)), source.pick(Object.keys(step))];
    return { ...source.pick(configurations).file, [other]: null, [kind]: step[kind](source) };
  },
  steps: (source) => {
    const file = { ...source.pick(configurations).file };
    for (const kind of Object.keys(step)) if (source.chance(0.6)) file[kind] = steps(source, kind);
    if (source.chance(0.2)) file.post_processor = templates(source);
    return file;
  },
  pieces: (source) => {
    const pieces = ['<unk>', ...list(source, 40, () => piece(source))];
    const type = source.pick(['Unigram', 'WordPiece', 'BPE']);
    const vocab =
      type === 'Unigram'
        ? pieces.map((each, i) => [each, -i])
        : Object.fromEntries(
            pieces.flatMap((each, i) => [
              [each, 2 * i],
              [`##${each}`, 2 * i + 1],
            ]),
          );
    const model = { type, vocab, unk_id: 0, unk_token: '<unk>', max_input_chars_per_word: 2 ** 31, merges: [] };
    const flags = () => ({ special: source.chance(0.3), normalized: source.chance(0.5), lstrip: source.chance(0.3) });
    const added = list(source, 8, () => ({ id: source.below(100), content: piece(source), ...flags() }));
    return { model, added_tokens: source.chance(0.5) ? added : [] };
  },
  gguf: (source) => {
    const file = source.chance(0.6) ? structuredClone(source.pick(metadata)) : madeUpMetadata(source);
    for (let i = source.below(3); i > 0; i--) {
      const name = source.pick(Object.keys(KEYS));
      file[`tokenizer.ggml.${name}`] = KEYS[name](source);
    }
    for (let i = source.below(3); i > 0; i--) damage(file, source);
    return file;
  },
};

/** Makes metadata whose pieces have common prefixes. */
function madeUpMetadata(source) {
  const tokens = [...new Set(['<unk>', 'a', '▁', 'b', ...list(source, 40, () => piece(source))])];
  const model = source.pick(['llama', 'gpt2', 'bert', 't5']);
  const scores = tokens.map(() => -source.below(source.pick([3, 100])));
  const keys = { model, tokens, scores, merges: [], unknown_token_id: 0, cls_token_id: 0, seperator_token_id: 0 };
  if (source.chance(0.5)) keys.token_type = tokens.map(() => source.pick([1, 1, 1, 1, 2, 3, 4, 6]));
  return Object.fromEntries(Object.entries(keys).map(([name, value]) => [`tokenizer.ggml.${name}`, value]));
}

/** Functions that open a kind of file, by kind. Kinds that are not in the list are opened by openTokenizer. */
const OPENERS = { gguf: openGgufTokenizer };

/** Replaces a value at a random depth of a file. */
function damage(file, source) {
  let [owner, name] = [file, source.pick(Object.keys(file))];
  while (
    owner[name] !== null &&
    typeof owner[name] === 'object' &&
    Object.keys(owner[name]).length > 0 &&
    source.chance(0.8)
  ) {
    owner = owner[name];
    name = source.pick(Object.keys(owner).slice(0, 12));
  }
  owner[name] = ArrayBuffer.isView(owner) ? source.pick([0, -1, 300, NaN]) : source.pick(JUNK);
}

/** Returns the CPU time of all threads so far, in milliseconds. */
const cpuTime = () => process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000;

/**
 * Opens a tokenizer, encodes a text and decodes the tokens. Returns whether the file was read, and the CPU times of
 * encoding and decoding.
 */
function check(file, text, open = openTokenizer) {
  const times = { encode: 0, decode: 0 };
  let before = cpuTime();
  const lap = (/** @type {'encode' | 'decode'} */ name) => {
    times[name] = cpuTime() - before;
    before = cpuTime();
  };
  try {
    const tokenizer = open(file);
    // GGUF files need not have a tokenizer.
    if (!tokenizer) return { read: false, ...times };
    const { ids, tokens, offsets, typeIds } = tokenizer.encode(text, 'a');
    lap('encode');
    assert.ok(tokens.length === ids.length && offsets.length === ids.length && typeIds.length === ids.length);
    const decoded = tokenizer.decode(ids);
    lap('decode');
    assert.equal(typeof decoded, 'string');
    return { read: true, ...times };
  } catch (error) {
    assert.ok(error instanceof HeadlightError, error.stack);
    assert.ok(error.message.length < 1000, 'a short message');
    lap(times.encode ? 'decode' : 'encode');
    return { read: false, ...times };
  }
}

/**
 * @typedef {object} Row counts of one kind of file: tested files, files that were read, and files that were tested with
 *   the long text; and the CPU times of the slowest files, with the numbers of those files
 * @property {number} files
 * @property {number} read
 * @property {number} long
 * @property {number} encode
 * @property {number} of number of the file that was slowest to encode
 * @property {number} decode
 * @property {number} decodeOf
 */

/** @returns {Record<string, Row>} by kind of file */
export function fuzzTokenizers(total, seed, { short = SHORT, long = LONG, suspect = SUSPECT } = {}) {
  const names = Object.keys(kinds);
  const empty = () => ({ files: 0, read: 0, long: 0, encode: 0, of: -1, decode: 0, decodeOf: -1 });
  const report = Object.fromEntries(names.map((name) => [name, empty()]));
  for (let i = 0; i < total; i++) {
    const name = names[i % names.length];
    const row = report[name];
    const run = (length) => {
      const source = makeSource(seed + i);
      const file = kinds[name](source);
      try {
        return check(file, longText(source, length), OPENERS[name]);
      } catch (error) {
        throw new Error(`file ${i} of seed ${seed}, ${name}: ${error.message}`, { cause: error });
      }
    };
    row.files++;
    const { read, encode, decode } = run(short);
    row.read += Number(read);
    if (i % (25 * names.length + 1) !== 0 && encode + decode < suspect) continue;
    row.long++;
    const slow = run(long);
    if (slow.encode > row.encode) Object.assign(row, { encode: slow.encode, of: i });
    if (slow.decode > row.decode) Object.assign(row, { decode: slow.decode, decodeOf: i });
  }
  return report;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [total = 200_000, seed = 1, long = LONG] = process.argv.slice(2).map(Number);
  console.log(
    `${total} files, seed ${seed}; encode, decode: milliseconds of CPU time of the slowest, ${long} bytes of text`,
  );
  console.table(fuzzTokenizers(total, seed, { long }));
}
