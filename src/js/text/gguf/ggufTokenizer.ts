// Makes a tokenizer from tokenizer.ggml.* of a GGUF file: vocabulary and special tokens; the values of model and pre
// determine the other steps.

import { quote } from '../../check/quote.ts';
import type { AddedToken } from '../added.ts';
import { readBpe } from '../bpe.ts';
import { clean, growthLimit, readDecoder } from '../decoders.ts';
import { Fields } from '../fields.ts';
import { chain, editing, type Normalizer, readNormalizer } from '../normalizers.ts';
import { fromRegExp } from '../pattern.ts';
import { precompiled } from '../precompiled.ts';
import { readProcessor } from '../processors.ts';
import { scoredModel } from '../scores.ts';
import { readSplitter, splitting } from '../splitters.ts';
import { type Parts, Tokenizer } from '../tokenizer.ts';
import { readUnigram } from '../unigram.ts';
import { readWordPiece } from '../wordpiece.ts';
import { GgufMetadata } from './ggufMetadata.ts';
import { PRE_TOKENIZERS } from './ggufPatterns.ts';

/** Values of tokenizer.ggml.token_type. */
const [UNKNOWN, CONTROL, USER_DEFINED] = [2, 3, 4];
const MODEL = 'tokenizer.ggml.model';
const PRE = 'tokenizer.ggml.pre';
/** Values of tokenizer.ggml.model in files without a tokenizer. */
const NONE = [null, 'none', 'no_vocab'];
/** The character with which a token begins in the vocabulary of BERT if it begins a word. */
const WORD_BEGIN = '▁';
/** Maximum length of a word of BERT. Longer words are unknown. */
const MAX_BERT_WORD = 100;

/** The parts of a tokenizer that depend on the kind of the vocabulary. */
export type Steps = Omit<Parts, 'added' | 'process'>;
/** Defaults of a kind of vocabulary, or of a pre-tokenizer. Special tokens are ids, or null if there is none. */
export type Defaults = {
  bos: number | null;
  eos: number | null;
  sep: number | null;
  unknown: number | null;
  addBos: boolean;
  addEos: boolean;
  addSep: boolean;
};

/** Returns a step in the form of a tokenizer.json. */
const step = (values: Record<string, unknown>) => new Fields(values, '');

const identity = <T>(value: T) => value;

/**
 * Decodes pieces with ▁ for spaces and tokens such as <0x41> for bytes. prefix: begins with a space that is not in the
 * input.
 */
function sentencePieceDecoder(prefix: boolean) {
  const decoders = [
    { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
    { type: 'ByteFallback' },
    { type: 'Fuse' },
    ...(prefix ? [{ type: 'Strip', content: ' ', start: 1, stop: 0 }] : []),
  ];
  const decode = readDecoder(step({ type: 'Sequence', decoders }));
  return (tokens: string[]) => decode(tokens, growthLimit(tokens)).join('');
}

/** Returns a normalizer that replaces spaces by ▁. prefix: true to add ▁ before the text. */
function marking(prefix: boolean) {
  const spaces = { type: 'Replace', pattern: { String: ' ' }, content: '▁' };
  const normalizers = prefix ? [{ type: 'Prepend', prepend: '▁' }, spaces] : [spaces];
  return readNormalizer(step({ type: 'Sequence', normalizers }));
}

/** Makes the steps of SentencePiece's BPE. */
function scored(file: GgufMetadata, { unknown }: Defaults): Steps {
  const { tokens, ids } = file;
  const prefix = file.flag('add_space_prefix', true);
  // Pairs are merged in the whole text, unless no token extends beyond a word.
  const independent = !tokens.some((token) => /[^▁]▁/u.test(token));
  return {
    model: scoredModel({ ids, texts: tokens, scores: file.scores(), unknown: file.special('unknown', unknown) }),
    normalize: marking(prefix),
    split: independent ? splitting(fromRegExp(/▁*[^▁]+|▁+/gu), 'Isolated') : (text) => [text],
    decode: sentencePieceDecoder(prefix),
  };
}

function byteLevel(file: GgufMetadata): Steps {
  const { patterns, whole = false } = file.preTokenizer();
  const splits = patterns.map((pattern) => ({ type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated' }));
  const bytes = { type: 'ByteLevel', add_prefix_space: false, use_regex: false };
  const decode = readDecoder(step({ type: 'ByteLevel' }));
  return {
    model: {
      ...readBpe(file.fields({ vocab: file.ids, merges: file.merges(), ignore_merges: whole })),
      texts: file.tokens,
    },
    normalize: identity,
    split: readSplitter(step({ type: 'Sequence', pretokenizers: [...splits, bytes] })),
    decode: (tokens) => decode(tokens, growthLimit(tokens)).join(''),
  };
}

/** Makes the steps of WordPiece. Tokens that begin a word begin with ▁. Other tokens continue a word. */
function wordPiece(file: GgufMetadata, defaults: Defaults): Steps {
  const unknown = file.special('unknown', defaults.unknown);
  if (unknown === null) throw file.error('unknown_token_id', 'the id of a token');
  const lowercase = file.flag('normalizer.lowercase', true);
  const strip_accents = file.flag('normalizer.strip_accents', lowercase);
  const words = readSplitter(step({ type: 'BertPreTokenizer' }));
  return {
    model: {
      ...readWordPiece(
        file.fields({
          vocab: file.ids,
          unk_token: file.tokens[unknown],
          continuing_subword_prefix: '',
          max_input_chars_per_word: MAX_BERT_WORD + WORD_BEGIN.length,
        }),
      ),
      texts: file.tokens,
    },
    normalize: readNormalizer(step({ type: 'BertNormalizer', lowercase, strip_accents })),
    split: (text) => words(text).map((word) => word.edit([[0, 0, WORD_BEGIN]])),
    decode: (tokens) =>
      tokens
        .map((token, i) => clean(token.startsWith(WORD_BEGIN) ? `${i > 0 ? ' ' : ''}${token.slice(1)}` : token))
        .join(''),
  };
}

function unigram(file: GgufMetadata, { unknown }: Defaults): Steps {
  const scores = file.scores();
  const merged = file.flag('remove_extra_whitespaces', false);
  const prefix = merged || file.flag('add_space_prefix', false);
  const map = file.charsmap();
  const normalizers: Normalizer[] = map
    ? [editing(precompiled(file.fields({ precompiled_charsmap: 'its bytes' }), map))]
    : [];
  if (!merged) normalizers.push(marking(prefix));
  const pretokenizers = [{ type: 'WhitespaceSplit' }, { type: 'Metaspace', prepend_scheme: 'always' }];
  const vocab = file.tokens.map((token, id) => [token, file.types[id] === USER_DEFINED ? 0 : scores[id]]);
  const unk_id = file.special('unknown', unknown);
  return {
    model: readUnigram(file.fields({ vocab, unk_id, byte_fallback: file.ids.has('<0x00>') })),
    normalize: chain(normalizers),
    split: merged ? readSplitter(step({ type: 'Sequence', pretokenizers })) : (text) => [text],
    decode: sentencePieceDecoder(prefix),
  };
}

const KINDS: Record<string, { read: (file: GgufMetadata, defaults: Defaults) => Steps; defaults: Defaults }> = {
  llama: {
    read: scored,
    defaults: { bos: 1, eos: 2, sep: null, unknown: 0, addBos: true, addEos: false, addSep: false },
  },
  gpt2: {
    read: byteLevel,
    defaults: { bos: null, eos: null, sep: null, unknown: null, addBos: false, addEos: false, addSep: false },
  },
  bert: {
    read: wordPiece,
    defaults: { bos: 101, eos: null, sep: 102, unknown: 100, addBos: true, addEos: false, addSep: true },
  },
  t5: {
    read: unigram,
    defaults: { bos: null, eos: 1, sep: null, unknown: 2, addBos: false, addEos: true, addSep: false },
  },
};

/** Pre-tokenizers of models that have a separator between the texts of a pair. */
const WITH_SEPARATOR = ['jina-v1-en', 'jina-v2-code', 'roberta-bpe'];

/** Special tokens of Phi-3 that do not include the spaces after them. */
const NOT_STRIPPED = ['<unk>', '<s>', '<|endoftext|>'];

/**
 * Returns the tokens that are cut out of a text, which are marked in the file or have a metadata entry of their own.
 */
function addedTokens(file: GgufMetadata, isBert: boolean): AddedToken[] {
  const mask = file.special('mask');
  const isPhi3 = file.isNamed('phi-3') || file.isNamed('phi3');
  const ids = new Set(['bos', 'eos', 'cls', 'seperator', 'mask', 'eot'].map((name) => file.special(name)));
  const added: AddedToken[] = [];
  for (const [id, content] of file.tokens.entries()) {
    const type = file.types[id];
    const special = type === CONTROL || type === UNKNOWN || ids.has(id);
    if (content === '' || (!special && type !== USER_DEFINED)) continue;
    // GGUF does not store this. The mask tokens of all families except BERT include the spaces before them.
    const [left, right] = [id === mask && !isBert, isPhi3 && !NOT_STRIPPED.includes(content)];
    added.push({ id, content, special, normalized: false, single: false, left, right });
  }
  return added;
}

/** Returns the post-processor, which adds special tokens to a text or to a pair of texts. */
function specialTokens(file: GgufMetadata, defaults: Defaults, isBert: boolean): Parts['process'] {
  const bos = (isBert ? file.special('cls') : null) ?? file.special('bos', defaults.bos);
  const eos = file.special('eos', defaults.eos);
  const sep = file.special('seperator', defaults.sep);
  const wanted: (flag: string, fallback: boolean, id: number | null, key: string) => number | null = (
    flag,
    fallback,
    id,
    key,
  ) => {
    if (!isBert && !file.flag(flag, fallback)) return null;
    if (id === null) throw file.error(`${key}_token_id`, 'the id of a token');
    return id;
  };
  const begin = wanted('add_bos_token', defaults.addBos, bos, 'bos');
  const end = isBert ? wanted('', true, sep, 'seperator') : wanted('add_eos_token', defaults.addEos, eos, 'eos');
  const between = !isBert && file.flag('add_sep_token', defaults.addSep) ? (sep ?? eos) : null;

  const token = (id: number | null, type_id = 0) =>
    id === null ? [] : [{ SpecialToken: { id: String(id), type_id } }];
  const text = (id: string, type_id = 0) => ({ Sequence: { id, type_id } });
  const single = [...token(begin), text('A'), ...token(end)];
  const second = isBert ? [text('B', 1), ...token(end, 1)] : [...token(between ?? begin), text('B'), ...token(end)];
  const special_tokens = Object.fromEntries(
    [begin, end, between]
      .filter((id) => id !== null)
      .map((id) => [id, { id: String(id), ids: [id], tokens: [file.tokens[id]] }]),
  );
  return readProcessor(step({ type: 'TemplateProcessing', single, pair: [...single, ...second], special_tokens }));
}

/**
 * Returns the reason why a tokenizer is of a kind that is not supported, or undefined if it is supported or missing.
 */
export function whyUnknown(metadata: object) {
  const fields = new Fields(metadata, '');
  const model = fields.get(MODEL);
  if (typeof model !== 'string' || NONE.includes(model)) return undefined;
  if (!Object.hasOwn(KINDS, model)) return `${MODEL} is ${quote(model)}, which is not supported`;
  const pre = fields.get(PRE);
  if (model !== 'gpt2' || typeof pre !== 'string' || PRE_TOKENIZERS.has(pre)) return undefined;
  return `${PRE} is ${quote(pre)}, which is not supported`;
}

/** undefined without a tokenizer. metadata: as returned by readGguf. */
export function openGgufTokenizer(metadata: object): Tokenizer | undefined {
  const fields = new Fields(metadata, '');
  const model = fields.get(MODEL);
  if (NONE.includes(model as string | null)) return undefined;
  const { read, defaults } = KINDS[fields.word(MODEL, Object.keys(KINDS))];
  const file = new GgufMetadata(fields);
  const isBert = model === 'bert';
  const all = model === 'gpt2' ? byteLevelDefaults(file, defaults) : defaults;
  return new Tokenizer({
    ...read(file, all),
    added: addedTokens(file, isBert),
    process: specialTokens(file, all, isBert),
  });
}

function byteLevelDefaults(file: GgufMetadata, defaults: Defaults): Defaults {
  const { name, bos = false } = file.preTokenizer();
  return { ...defaults, addBos: bos, addSep: WITH_SEPARATOR.includes(name) };
}
