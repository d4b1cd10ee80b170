// Converts a tokenizer.json to tokenizer.ggml.* of a GGUF file, the inverse of ggufTokenizer.ts. GGUF can represent
// only byte-level BPE with the splits of a published model, and SentencePiece's BPE; for others, the error names the
// step. As in llama.cpp's converter, three rules are omitted: the normalizer NFC; that Metaspace puts no space before a
// text that begins with one; and that, with prepend_scheme 'first', it puts none after a special token.

import { HeadlightError } from '../../check/errors.ts';
import { quote } from '../../check/quote.ts';
import type { Value } from '../../io/ggufWriter.ts';
import { DIGIT, GPT2, preTokenizerName } from './ggufPatterns.ts';

export type Json = Record<string, any>;
/** vocab: rows of the model's embedding */
export type Specials = { vocab: number; bos?: number; eos: readonly number[]; pad?: number };
export type Added = { id: number; content: string; special?: boolean };
/**
 * keys: entries without the prefix 'tokenizer.ggml.'; probes: texts that test if the written tokenizer gives the same
 * tokens.
 */
export type Written = { keys: Record<string, Value>; probes: string[] };

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

const refused = (path: string, got: unknown, expected: string) =>
  new HeadlightError(
    'ARGUMENT',
    `${CALLER}: tokenizer: ${path} is ${quote(got)}, expected ${expected}; tokenizer: null leaves it out`,
    { parameter: 'tokenizer', expected, got },
  );

/** Returns the steps of a normalizer or a pre-tokenizer. */
const stepsOf = (step: Json | null | undefined, name: string) =>
  !step ? [] : step.type === 'Sequence' ? (step[name] as Json[]) : [step];

const pairsOf = (merges: readonly (string | [string, string])[]): [string, string][] =>
  merges
    .filter((entry) => !(typeof entry === 'string' && entry.startsWith('#version')))
    .map((entry) => (typeof entry === 'string' ? (entry.split(' ') as [string, string]) : entry));

/** Returns the patterns of the splits before byte-level BPE, or undefined if there are other steps. */
function patternsOf(steps: Json[]) {
  const last = steps.at(-1);
  if (last?.type !== 'ByteLevel') return undefined;
  const patterns: string[] = [];
  for (const step of steps.slice(0, -1)) {
    const { type, pattern, behavior, invert = false } = step;
    // 'Removed' with invert removes what does not match, 'Isolated' keeps it as words. The result is the same if every
    // character matches.
    const isolates = behavior === 'Isolated' ? !invert : behavior === 'Removed' && invert;
    if (type === 'Split' && pattern?.Regex !== undefined && isolates) patterns.push(pattern.Regex);
    else if (type === 'Digits' && step.individual_digits) patterns.push(DIGIT);
    else return undefined;
  }
  return (last.use_regex ?? true) ? [...patterns, GPT2] : patterns;
}

/** file: tokenizer.json */
function byteLevel({ model, normalizer, pre_tokenizer: split }: Json): Written {
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

/** A token that merges make, the ranks of its first and last merge, and the number of its merges. */
export type Made = { token: string; first: number; last: number; count: number };

/** Returns the tokens that merges make in the order of their first merges. */
function madeTokens({ vocab, merges }: Json, added: ReadonlySet<string>): Made[] {
  const made: Map<string, Made> = new Map();
  for (const [rank, pair] of pairsOf(merges).entries()) {
    const token = pair.join('');
    const entry = made.get(token) ?? { token, first: rank, last: rank, count: 0 };
    made.set(token, { ...entry, last: rank, count: entry.count + 1 });
  }
  const has = (piece: string) => Object.hasOwn(vocab, piece);
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
 * Scores made tokens by the order of the merges, as in SentencePiece. Tokens whose merges alternate have equal scores,
 * which is supported only for runs of one character, such as Llama 2's tokens for spaces. returns runs: the longest
 * such token of each character.
 */
function scoresOf(model: Json, added: ReadonlySet<string>): { scores: Map<string, number>; runs: string[] } {
  const scores: Map<string, number> = new Map();
  const runs: Map<string, string> = new Map();
  let [end, score] = [-1, 0];
  let before: Made | undefined;
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

/** file: tokenizer.json */
function sentencePiece(
  { model, normalizer, pre_tokenizer: split, added_tokens: added = [] }: Json,
  tokens: readonly string[],
): Written {
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
  const { scores, runs } = scoresOf(model, new Set(added.map(({ content }: Added) => content)));
  const keys = {
    model: { kind: 'string', value: 'llama' },
    pre: { kind: 'string', value: 'default' },
    scores: { kind: 'f32', value: tokens.map((token) => scores.get(token) ?? NO_SCORE) },
    add_space_prefix: { kind: 'bool', value: prepends || (meta !== undefined && scheme !== 'never') },
  };
  return {
    keys: keys as Written['keys'],
    probes: [...(meta ? [] : [LEADING]), ...runs.flatMap(probesOf)],
  };
}

/** Tokens by id. An id without one gets a placeholder such as [PAD7], as in llama.cpp's converter. count: of ids. */
function tokensOf({ vocab, unk_token: unknown }: Json, added: readonly Added[], count: number) {
  const tokens: string[] = new Array(count).fill('');
  const types = new Array(count).fill(UNUSED);
  const place = (token: string, id: number, type: number) => {
    if (id >= count) throw refused('the id', id, `at most ${count - 1}, the last row of the model's embedding`);
    [tokens[id], types[id]] = [token, type];
  };
  for (const [token, id] of Object.entries<number>(vocab)) place(token, id, BYTE_TOKEN.test(token) ? BYTE : NORMAL);
  for (const { id, content, special = false } of added) place(content, id, special ? CONTROL : USER_DEFINED);
  if (unknown && vocab[unknown] !== undefined) types[vocab[unknown]] = UNKNOWN;
  const known = new Set(tokens);
  for (let id = 0; id < count; id++)
    if (tokens[id] === '') tokens[id] = known.has(`[PAD${id}]`) ? `[PAD${id} unused]` : `[PAD${id}]`;
  return { tokens, types };
}

function checkAdded(added: readonly Json[]) {
  for (const [i, token] of added.entries())
    for (const field of ['lstrip', 'rstrip', 'single_word'])
      if (token[field]) throw refused(`added_tokens[${i}].${field}`, true, 'false');
}

/** Returns the ids of the tokens that the post-processor adds to a text. */
function templateOf(processor: Json | null | undefined): { begin?: number; end?: number } {
  const steps = stepsOf(processor, 'processors').filter(({ type }) => type !== 'ByteLevel');
  if (steps.length === 0) return {};
  const [{ type, single = [], special_tokens: specials = {} }] = steps;
  const at = single.findIndex((piece: Json) => piece.Sequence);
  const before = single.slice(0, at);
  const after = single.slice(at + 1);
  const fits = type === 'TemplateProcessing' && steps.length === 1 && at >= 0 && before.length < 2 && after.length < 2;
  const idOf = ([piece]: Json[]) => piece && specials[piece.SpecialToken?.id]?.ids;
  const ids = [idOf(before), idOf(after)];
  if (!fits || ids.some((list) => list && list.length !== 1))
    throw refused('post_processor', processor, 'at most one token before the text and one after it');
  return { begin: ids[0]?.[0], end: ids[1]?.[0] };
}

/**
 * Searches the end token by its text if neither the post-processor nor `eos` tells it: llama.cpp would use token 11.
 * file: tokenizer.json.
 */
function specialKeys(
  { model, post_processor: processor, added_tokens: added = [] }: Json,
  { bos, eos, pad }: Specials,
): Record<string, Value> {
  const { begin, end } = templateOf(processor);
  const named = (added as Added[]).find(({ special, content }) => special && END.test(content))?.id;
  const ends = [...new Set([end, ...eos, ...(eos.length === 0 ? [named] : [])])].filter((id) => id !== undefined);
  const ids = {
    bos: begin ?? bos ?? ends[0],
    eos: ends[0],
    eot: ends[1],
    unknown: model.unk_token ? model.vocab[model.unk_token] : undefined,
    padding: pad,
  };
  const keys: Record<string, Value> = {
    add_bos_token: { kind: 'bool', value: begin !== undefined },
    add_eos_token: { kind: 'bool', value: end !== undefined },
  };
  for (const [name, id] of Object.entries(ids))
    if (id !== undefined) keys[`${name}_token_id`] = { kind: 'u32', value: id };
  return keys;
}

/** Runs of a character whose tokens have equal scores, up to more than twice the longest token. */
const probesOf = (token: string) =>
  Array.from({ length: 2 * token.length + 2 }, (_, i) => `a${token[0].replace('▁', ' ').repeat(i + 1)}b`);

/** file: tokenizer.json, valid for openTokenizer */
export function ggufVocabulary(file: Json, specials: Specials): Written {
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
