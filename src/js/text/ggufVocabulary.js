// Converts a tokenizer.json to the metadata entries tokenizer.ggml.* of a GGUF file, which is the inverse of
// ggufTokenizer.js. GGUF stores the vocabulary and the names of the other steps, so it can represent only byte-level
// BPE with the splits of a published model, and SentencePiece's BPE. For any other tokenizer, the error states the
// unsupported step. As in the converter of llama.cpp, three rules are omitted: the normalizer NFC; that Metaspace puts
// no space before a text that begins with a space; and that, with prepend_scheme 'first', it puts no space before the
// text after a special token.

import { HeadlightError } from '../check/errors.js';
import { quote } from '../check/quote.js';
import { DIGIT, GPT2, preTokenizerName } from './ggufPatterns.js';

/** @import { Value } from '../io/ggufWriter.js' */

/** @typedef {Record<string, any>} Json */
/**
 * @typedef {{ vocab: number, bos?: number, eos: readonly number[], pad?: number }} Specials vocab: number of rows of
 *   the model's embedding
 */
/** @typedef {{ id: number, content: string, special?: boolean }} Added */
/**
 * The result. keys: the metadata entries by identifier, without the prefix 'tokenizer.ggml.'; probes: texts with which
 * the caller can test if the written tokenizer gives the same tokens.
 * @typedef {{ keys: Record<string, Value>, probes: string[] }} Written
 */

const CALLER = 'saveGguf';
/** Values of tokenizer.ggml.token_type. */
const [NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE] = [1, 2, 3, 4, 5, 6];
/** Texts for which different tokenizers give different tokens. */
const PROBES = [
  "Hello, y'all! I'LL pay $1234567.89 for 3 cafés\u2026",
  'two  spaces\tand\n\n lines \r\n of naïve 北京 текст, ½ 🙂 __init__(self)==[]',
];
const LEADING = '  at the beginning';
const BYTE_TOKEN = /^<0x[0-9A-F]{2}>$/;
/** Matches usual texts of the end token. */
const END = /^(<\|endoftext\|>|<\/s>|<eos>)$/;
/** The score of tokens that no merge makes, as in the converter of llama.cpp. */
const NO_SCORE = -1e6;

/** @param {string} path @param {unknown} got @param {string} expected */
const refused = (path, got, expected) =>
  new HeadlightError(
    'ARGUMENT',
    `${CALLER}: tokenizer: ${path} is ${quote(got)}, expected ${expected}; tokenizer: null leaves it out`,
    { parameter: 'tokenizer', expected, got },
  );

/** Returns the steps of a normalizer or a pre-tokenizer. @param {Json | null | undefined} step @param {string} name */
const stepsOf = (step, name) => (!step ? [] : step.type === 'Sequence' ? /** @type {Json[]} */ (step[name]) : [step]);

/** @param {readonly (string | [string, string])[]} merges @returns {[string, string][]} */
const pairsOf = (merges) =>
  merges
    .filter((entry) => !(typeof entry === 'string' && entry.startsWith('#version')))
    .map((entry) => (typeof entry === 'string' ? /** @type {[string, string]} */ (entry.split(' ')) : entry));

/**
 * Returns the patterns of the splits before byte-level BPE, or undefined if there are other steps.
 * @param {Json[]} steps
 */
function patternsOf(steps) {
  const last = steps.at(-1);
  if (last?.type !== 'ByteLevel') return undefined;
  /** @type {string[]} */
  const patterns = [];
  for (const step of steps.slice(0, -1)) {
    const { type, pattern, behavior, invert = false } = step;
    // With 'Removed' and invert, the parts that do not match are removed, with 'Isolated' they are kept as words. The
    // result is the same if every character matches.
    const isolates = behavior === 'Isolated' ? !invert : behavior === 'Removed' && invert;
    if (type === 'Split' && pattern?.Regex !== undefined && isolates) patterns.push(pattern.Regex);
    else if (type === 'Digits' && step.individual_digits) patterns.push(DIGIT);
    else return undefined;
  }
  return (last.use_regex ?? true) ? [...patterns, GPT2] : patterns;
}

/** @param {Json} file tokenizer.json @returns {Written} */
function byteLevel({ model, normalizer, pre_tokenizer: split }) {
  const steps = stepsOf(split, 'pretokenizers');
  const patterns = patternsOf(steps);
  const name = patterns && preTokenizerName(patterns, model.ignore_merges ?? false);
  if (name === undefined) throw refused('pre_tokenizer', split, 'the splits of a model that llama.cpp knows');
  if (steps.at(-1)?.add_prefix_space ?? true) throw refused('pre_tokenizer.add_prefix_space', true, 'false');
  const other = stepsOf(normalizer, 'normalizers').find(({ type }) => type !== 'NFC');
  if (other) throw refused('normalizer', other.type, 'none, or NFC');
  for (const field of ['continuing_subword_prefix', 'end_of_word_suffix', 'byte_fallback'])
    if (model[field]) throw refused(`model.${field}`, model[field], 'none');
  const merges = pairsOf(model.merges).map((pair) => pair.join(' '));
  return {
    keys: {
      model: { kind: 'string', value: 'gpt2' },
      pre: { kind: 'string', value: name },
      merges: { kind: 'string', value: merges },
    },
    probes: [LEADING],
  };
}

/**
 * A token that merges make, the ranks of its first and last merge, and the number of its merges.
 * @typedef {{ token: string, first: number, last: number, count: number }} Made
 */

/**
 * Returns the tokens that merges make in the order of their first merges.
 * @param {Json} model
 * @param {ReadonlySet<string>} added
 * @returns {Made[]}
 */
function madeTokens({ vocab, merges }, added) {
  /** @type {Map<string, Made>} */
  const made = new Map();
  for (const [rank, pair] of pairsOf(merges).entries()) {
    const token = pair.join('');
    const entry = made.get(token) ?? { token, first: rank, last: rank, count: 0 };
    made.set(token, { ...entry, last: rank, count: entry.count + 1 });
  }
  const has = (/** @type {string} */ piece) => Object.hasOwn(vocab, piece);
  for (const token of Object.keys(vocab)) {
    if (added.has(token) || BYTE_TOKEN.test(token)) continue;
    let splits = 0;
    for (let i = 1; i < token.length; i++) if (has(token.slice(0, i)) && has(token.slice(i))) splits++;
    // SentencePiece joins any two pieces that make a token, so each such pair must be a merge.
    if (splits !== (made.get(token)?.count ?? 0))
      throw refused('model.merges', token, 'a merge for each pair of tokens that makes a token');
  }
  return [...made.values()];
}

/**
 * Returns a score for each token that merges make, from the order of the merges, as in SentencePiece. If the merges of
 * different tokens alternate, these tokens have equal scores. That is supported only for runs of one character, such as
 * the tokens of Llama 2 for spaces.
 * @param {Json} model
 * @param {ReadonlySet<string>} added
 * @returns {{ scores: Map<string, number>, runs: string[] }} runs: the longest tokens with equal scores, one for each
 *   character
 */
function scoresOf(model, added) {
  /** @type {Map<string, number>} */
  const scores = new Map();
  /** @type {Map<string, string>} */
  const runs = new Map();
  let [end, score] = [-1, 0];
  /** @type {Made | undefined} */
  let before;
  for (const made of madeTokens(model, added)) {
    const { token, first, last } = made;
    if (first > end) score--;
    else {
      const [char] = token;
      if (!before || [...before.token, ...token].some((other) => other !== char))
        throw refused('model.merges', token, 'the merges of a token one after the other');
      for (const run of [before.token, token]) if (run.length > (runs.get(char) ?? '').length) runs.set(char, run);
    }
    scores.set(token, score);
    end = Math.max(end, last);
    before = made;
  }
  return { scores, runs: [...runs.values()] };
}

/**
 * @param {Json} file tokenizer.json
 * @param {readonly string[]} tokens
 * @returns {Written}
 */
function sentencePiece({ model, normalizer, pre_tokenizer: split, added_tokens: added = [] }, tokens) {
  if (!model.byte_fallback) throw refused('model.byte_fallback', model.byte_fallback, 'true, or byte-level BPE');
  if (model.ignore_merges) throw refused('model.ignore_merges', true, 'false');
  const steps = stepsOf(normalizer, 'normalizers');
  const marks = steps.at(-1);
  const normalizes = marks?.type === 'Replace' && marks.pattern?.String === ' ' && marks.content === '▁';
  const prepends = steps[0]?.type === 'Prepend' && steps[0].prepend === '▁';
  if (steps.length > 0 && !(normalizes && steps.length === (prepends ? 2 : 1)))
    throw refused('normalizer', normalizer, 'one that replaces spaces by ▁');
  const splits = stepsOf(split, 'pretokenizers');
  const [space] = splits;
  const meta = space?.type === 'Metaspace' && splits.length === 1 ? space : undefined;
  const scheme = meta?.prepend_scheme ?? ((meta?.add_prefix_space ?? true) ? 'always' : 'never');
  // The normalizer has replaced spaces by ▁, so a split at spaces has no effect.
  const isNothing = normalizes && (splits.length === 0 || (space.type === 'Split' && space.pattern?.String === ' '));
  if (!meta && !isNothing) throw refused('pre_tokenizer', split, 'Metaspace, or none after a normalizer');
  if ((meta?.split ?? true) && meta) {
    const across = tokens.find((token) => /[^]▁/u.test(token));
    if (across !== undefined) throw refused('pre_tokenizer.split', true, `false, since ${quote(across)} is a token`);
  }
  const { scores, runs } = scoresOf(model, new Set(added.map((/** @type {Added} */ { content }) => content)));
  const keys = {
    model: { kind: 'string', value: 'llama' },
    pre: { kind: 'string', value: 'default' },
    scores: { kind: 'f32', value: tokens.map((token) => scores.get(token) ?? NO_SCORE) },
    add_space_prefix: { kind: 'bool', value: prepends || (meta !== undefined && scheme !== 'never') },
  };
  return {
    keys: /** @type {Written['keys']} */ (keys),
    probes: [...(meta ? [] : [LEADING]), ...runs.flatMap(probesOf)],
  };
}

/**
 * Returns all tokens by id. Ids without a token get a placeholder such as [PAD7], as in the converter of llama.cpp.
 * @param {Json} model
 * @param {readonly Added[]} added
 * @param {number} count number of ids
 */
function tokensOf({ vocab, unk_token: unknown }, added, count) {
  /** @type {string[]} */
  const tokens = new Array(count).fill('');
  const types = new Array(count).fill(UNUSED);
  const place = (/** @type {string} */ token, /** @type {number} */ id, /** @type {number} */ type) => {
    if (id >= count) throw refused('the id', id, `at most ${count - 1}, the last row of the model's embedding`);
    [tokens[id], types[id]] = [token, type];
  };
  for (const [token, id] of Object.entries(vocab)) place(token, id, BYTE_TOKEN.test(token) ? BYTE : NORMAL);
  for (const { id, content, special = false } of added) place(content, id, special ? CONTROL : USER_DEFINED);
  if (unknown && vocab[unknown] !== undefined) types[vocab[unknown]] = UNKNOWN;
  const known = new Set(tokens);
  for (let id = 0; id < count; id++)
    if (tokens[id] === '') tokens[id] = known.has(`[PAD${id}]`) ? `[PAD${id} unused]` : `[PAD${id}]`;
  return { tokens, types };
}

/** @param {readonly Json[]} added */
function checkAdded(added) {
  for (const [i, token] of added.entries())
    for (const field of ['lstrip', 'rstrip', 'single_word'])
      if (token[field]) throw refused(`added_tokens[${i}].${field}`, true, 'false');
}

/**
 * Returns the ids of the tokens that the post-processor adds to a text.
 * @param {Json | null | undefined} processor
 * @returns {{ begin?: number, end?: number }}
 */
function templateOf(processor) {
  const steps = stepsOf(processor, 'processors').filter(({ type }) => type !== 'ByteLevel');
  if (steps.length === 0) return {};
  const [{ type, single = [], special_tokens: specials = {} }] = steps;
  const at = single.findIndex((/** @type {Json} */ piece) => piece.Sequence);
  const before = single.slice(0, at);
  const after = single.slice(at + 1);
  const fits = type === 'TemplateProcessing' && steps.length === 1 && at >= 0 && before.length < 2 && after.length < 2;
  const idOf = (/** @type {Json[]} */ [piece]) => piece && specials[piece.SpecialToken?.id]?.ids;
  const ids = [idOf(before), idOf(after)];
  if (!fits || ids.some((list) => list && list.length !== 1))
    throw refused('post_processor', processor, 'at most one token before the text and one after it');
  return { begin: ids[0]?.[0], end: ids[1]?.[0] };
}

/**
 * Returns the metadata entries of the special tokens. If neither the post-processor nor `eos` defines an end token, one
 * is searched by its text, because llama.cpp would otherwise use token 11.
 * @param {Json} file tokenizer.json
 * @param {Specials} specials
 * @returns {Record<string, Value>}
 */
function specialKeys({ model, post_processor: processor, added_tokens: added = [] }, { bos, eos, pad }) {
  const { begin, end } = templateOf(processor);
  const named = /** @type {Added[]} */ (added).find(({ special, content }) => special && END.test(content))?.id;
  const ends = [...new Set([end, ...eos, ...(eos.length === 0 ? [named] : [])])].filter((id) => id !== undefined);
  const ids = {
    bos: begin ?? bos ?? ends[0],
    eos: ends[0],
    eot: ends[1],
    unknown: model.unk_token ? model.vocab[model.unk_token] : undefined,
    padding: pad,
  };
  /** @type {Record<string, Value>} */
  const keys = {
    add_bos_token: { kind: 'bool', value: begin !== undefined },
    add_eos_token: { kind: 'bool', value: end !== undefined },
  };
  for (const [name, id] of Object.entries(ids))
    if (id !== undefined) keys[`${name}_token_id`] = { kind: 'u32', value: id };
  return keys;
}

/**
 * Returns texts with runs of a character whose tokens have equal scores. The longest run exceeds twice the longest
 * token.
 * @param {string} token
 */
const probesOf = (token) =>
  Array.from({ length: 2 * token.length + 2 }, (_, i) => `a${token[0].replace('▁', ' ').repeat(i + 1)}b`);

/**
 * @param {Json} file tokenizer.json, valid for openTokenizer
 * @param {Specials} specials
 * @returns {Written}
 */
export function ggufVocabulary(file, specials) {
  const { model, added_tokens: added = [] } = file;
  if ((model.type ?? 'BPE') !== 'BPE' || !model.merges) throw refused('model.type', model.type, 'BPE');
  if (model.dropout) throw refused('model.dropout', model.dropout, 'none');
  checkAdded(added);
  const { tokens, types } = tokensOf(model, added, specials.vocab);
  const isByteLevel = stepsOf(file.pre_tokenizer, 'pretokenizers').some(({ type }) => type === 'ByteLevel');
  const { keys, probes } = isByteLevel ? byteLevel(file) : sentencePiece(file, tokens);
  return {
    keys: {
      ...keys,
      tokens: { kind: 'string', value: tokens },
      token_type: { kind: 'i32', value: types },
      ...specialKeys(file, specials),
    },
    probes: [...PROBES, ...probes],
  };
}
