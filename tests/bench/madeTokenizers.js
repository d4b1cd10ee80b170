// Makes random tokenizer files from a seed, which are as large as published ones, and texts to encode.

import { uniformSource } from '../../src/js/ops/random.ts';
import { byteChars } from '../../src/js/text/bytelevel.ts';

/** Letters, in about the order of their frequency in English. */
const LETTERS = 'etaoinshrdlcumwfgypbvkjxqz';
/** Maximum characters of a piece. */
const LONGEST = 10;
/**
 * Exponent of the random choice of the pieces that are joined. The larger it is, the more often early pieces are
 * chosen; with this value, pieces have as many merges as in Llama 3.
 */
const SKEW = 9;
const WORDS = 2000;

const LLAMA3 =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" +
  '\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';
const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };

const special = (id, content) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
});

/** Joins pieces at random until there are `count` pieces. Earlier pieces are joined more often. */
function joinPieces(next, pieces, count) {
  const all = new Set(pieces);
  const list = [...pieces];
  const merges = [];
  const pick = () => list[Math.floor(next() ** SKEW * list.length)];
  while (list.length < count) {
    const [left, right] = [pick(), pick()];
    const both = left + right;
    if (both.length > LONGEST || right.startsWith('Ġ') || all.has(both)) continue;
    all.add(both);
    list.push(both);
    merges.push([left, right]);
  }
  return { pieces: list, merges };
}

/** Returns the characters of all bytes, beginning with letters and the space, so that most pieces look like words. */
const byteOrder = () => [...new Set([...LETTERS, 'Ġ', ...LETTERS.toUpperCase(), ...byteChars()])];

/**
 * Returns all pairs of pieces whose concatenation is a piece, in the order of the pieces. Files that are converted from
 * tiktoken have such merges.
 */
function allMerges(pieces, most) {
  const known = new Set(pieces);
  const merges = [];
  for (const piece of pieces)
    for (let at = 1; at < piece.length && merges.length < most; at++) {
      const [left, right] = [piece.slice(0, at), piece.slice(at)];
      if (known.has(left) && known.has(right)) merges.push([left, right]);
    }
  return merges;
}

function byteLevelFile(next, size, { merges: most, ...parts }) {
  const { pieces, merges } = joinPieces(next, byteOrder(), size);
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [special(size, '<|endoftext|>')],
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: { ...byteLevel, trim_offsets: false },
    decoder: byteLevel,
    ...parts,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ...parts.model,
      vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])),
      merges: most ? allMerges(pieces, most) : merges.map((pair) => pair.join(' ')),
    },
  };
}

const word = (next) =>
  Array.from({ length: 1 + Math.floor(9 * next()) }, () => LETTERS[Math.floor(next() ** 2 * LETTERS.length)]).join('');

function wordPieceFile(next, size) {
  const first = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
  const pieces = new Set([...first, ...LETTERS, ...Array.from(LETTERS, (letter) => `##${letter}`)]);
  while (pieces.size < size) pieces.add(`${next() < 0.2 ? '##' : ''}${word(next)}`);
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: first.map((content, id) => special(id, content)),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [
        { SpecialToken: { id: '[CLS]', type_id: 0 } },
        { Sequence: { id: 'A', type_id: 0 } },
        { SpecialToken: { id: '[SEP]', type_id: 0 } },
      ],
      pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }],
      special_tokens: Object.fromEntries(
        ['[CLS]', '[SEP]'].map((id) => [id, { id, ids: [first.indexOf(id)], tokens: [id] }]),
      ),
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries([...pieces].map((piece, id) => [piece, id])),
    },
  };
}

/** Returns { name, text } for each size; text is the contents of the file. */
export function makeTokenizers(seed = 1) {
  const next = uniformSource(seed);
  const gpt2 = byteLevelFile(next, 50_256, {});
  const llama3 = byteLevelFile(next, 128_000, {
    merges: 280_147,
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: LLAMA3 }, behavior: 'Isolated', invert: false },
        { ...byteLevel, use_regex: false },
      ],
    },
    model: { ignore_merges: true },
  });
  const bert = wordPieceFile(next, 30_522);
  return [
    { name: 'GPT-2: BPE, 50,000 pieces', text: JSON.stringify(gpt2) },
    { name: 'Llama 3: BPE, 128,000 pieces', text: JSON.stringify(llama3, null, 2) },
    { name: 'BERT: WordPiece, 30,000 pieces', text: JSON.stringify(bert) },
  ];
}

/** Returns a tokenizer.json of byte-level BPE with `size` tokens. */
export const makeBytePairs = (size, seed = 1) => JSON.stringify(byteLevelFile(uniformSource(seed), size - 1, {}));

/** Returns a random text: words of letters, with spaces and punctuation between them. */
export function makeText(seed = 2, words = WORDS) {
  const next = uniformSource(seed);
  const signs = [' ', ' ', ' ', ' ', ' ', ', ', '. ', '\n'];
  return Array.from({ length: words }, () => word(next) + signs[Math.floor(next() * signs.length)]).join('');
}
