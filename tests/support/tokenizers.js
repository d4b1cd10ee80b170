// Reads tokenizer files, with the results of the reference library for some texts.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GOLDEN } from './golden.js';

const read = (...path) => JSON.parse(readFileSync(join(GOLDEN, 'tokenizers', ...path), 'utf8'));

/** Reads a tokenizer.json, as an object. */
export const readTokenizer = (name) => read(name, 'tokenizer.json');

/** Reads the cases of a tokenizer: { text, pair, ids, type_ids, tokens, decoded }. */
export const readCases = (name) => read(name, 'cases.json').cases;

/**
 * Returns { name, file, cases }: `file` is a base file in which some parts are those of the tokenizers of a model
 * family.
 */
export function readConfigurations() {
  return read('configurations.json').configurations.map(({ name, base, changes, cases }) => {
    const file = readTokenizer(base);
    const { model = {}, ...parts } = changes;
    const { vocab = {}, merges = [], ...options } = model;
    Object.assign(file, parts);
    Object.assign(file.model, options);
    if (!Array.isArray(file.model.vocab)) Object.assign(file.model.vocab, vocab);
    if (file.model.merges) file.model.merges.unshift(...merges);
    return { name, file, cases };
  });
}

/**
 * Returns a tokenizer.json of byte-level BPE. Its tokens are the 256 bytes and the pieces made by `merges`; `parts`
 * replaces fields of the file.
 */
export function byteLevelFile(merges = [], parts = {}) {
  const { model, ...file } = readTokenizer('bpe');
  const bytes = Object.entries(model.vocab).filter(([piece]) => [...piece].length === 1);
  const pieces = [...bytes.sort((a, b) => a[1] - b[1]).map(([piece]) => piece), ...merges.map((pair) => pair.join(''))];
  const vocab = Object.fromEntries(pieces.map((piece, id) => [piece, id]));
  return {
    ...file,
    added_tokens: [],
    pre_tokenizer: null,
    post_processor: null,
    ...parts,
    model: { ...model, vocab, merges },
  };
}

/** Reads { name, metadata, cases }: the metadata of GGUF files, and the results of llama.cpp for some texts. */
export const readGgufTokenizers = () => read('gguf.json').tokenizers;

/** Functions that convert each kind of vocabulary to GGUF metadata. */
const WRITERS = {
  BPE: ({ vocab, merges, byte_fallback }) => {
    const tokens = Object.keys(vocab).sort((a, b) => vocab[a] - vocab[b]);
    const pairs = merges.map((pair) => (typeof pair === 'string' ? pair.split(' ') : pair));
    const joined = new Map(pairs.map((pair, i) => [pair.join(''), -i]));
    return byte_fallback
      ? { model: 'llama', tokens, scores: tokens.map((token) => joined.get(token) ?? -merges.length) }
      : { model: 'gpt2', tokens, merges: pairs.map((pair) => pair.join(' ')) };
  },
  Unigram: ({ vocab, unk_id }) => ({
    model: 't5',
    tokens: vocab.map(([token]) => token),
    scores: vocab.map(([, score]) => score),
    unknown_token_id: unk_id,
  }),
  WordPiece: ({ vocab, unk_token }) => ({
    model: 'bert',
    tokens: Object.keys(vocab)
      .sort((a, b) => vocab[a] - vocab[b])
      .map((piece) =>
        piece.startsWith('##') ? piece.slice(2) : /^\[.*\]$/.test(piece) && piece.length > 2 ? piece : `▁${piece}`,
      ),
    unknown_token_id: vocab[unk_token],
  }),
};

/**
 * Returns the metadata of a GGUF file with the vocabulary of a tokenizer.json. `more` has further entries, by their
 * names without the prefix tokenizer.ggml.
 */
export function ggufMetadata({ model, added_tokens = [] }, more = {}) {
  const file = WRITERS[model.type](model);
  const types = file.tokens.map((token) => (/^<0x[0-9A-F]{2}>$/.test(token) ? 6 : 1));
  for (const { id, content, special } of added_tokens) {
    file.tokens[id] = content;
    if (file.scores) file.scores[id] ??= 0;
    types[id] = special ? 3 : 4;
  }
  const keys = { ...file, token_type: types, ...more };
  return Object.fromEntries(Object.entries(keys).map(([name, value]) => [`tokenizer.ggml.${name}`, value]));
}
