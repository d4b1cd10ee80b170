// Tokenizer files with the results of the reference library for some texts.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GOLDEN } from './golden.js';

const read = (...path) => JSON.parse(readFileSync(join(GOLDEN, 'tokenizers', ...path), 'utf8'));

/** A tokenizer.json, as JSON. */
export const readTokenizer = (name) => read(name, 'tokenizer.json');

/** { text, pair, ids, type_ids, tokens, decoded } */
export const readCases = (name) => read(name, 'cases.json').cases;

/** { name, file, cases }: a base file with parts from families of models. */
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

/** A byte-level BPE file with the 256 bytes, these merges and these parts. */
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
