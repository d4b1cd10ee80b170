// A tokenizer from a tokenizer.json of Hugging Face. It converts text to ids and back.
//   text → added tokens cut out → normalizer → pre-tokenizer (words) → model (pieces) → post-processor
// The settings for truncation and padding in the file are not applied. Some models require texts of one length.

import { argumentError } from '../check/errors.ts';
import { INSPECT } from '../check/inspect.ts';
import { formatError, readBytes } from '../io/bytes.ts';
import { parseJson } from '../io/json.ts';
import { type AddedToken, readAddedTokens, type Section, sectionsOf } from './added.ts';
import { AlignedText } from './aligned.ts';
import { readBpe } from './bpe.ts';
import { growthLimit, readDecoder } from './decoders.ts';
import { Fields } from './fields.ts';
import { type FixedLength, toLength } from './fixedLength.ts';
import { chain, lowercase, type Normalizer, readNormalizer } from './normalizers.ts';
import { type Encoding, type Part, type Processor, readProcessor } from './processors.ts';
import { readSplitter, type Splitter } from './splitters.ts';
import { readUnigram } from './unigram.ts';
import type { Model } from './vocabulary.ts';
import { readWordPiece } from './wordpiece.ts';

const CALLER = 'openTokenizer';
/** Maximum characters of the tokens in one call of decode. */
const MAX_DECODED_LENGTH = 2 ** 26;
const MODELS: Record<string, (fields: Fields) => Model> = {
  BPE: readBpe,
  Unigram: readUnigram,
  WordPiece: readWordPiece,
};

/** default true, so that special tokens are left out */
export type DecodeOptions = { skipSpecial?: boolean };
/** of a tokenizer, in the order of their use */
export type Parts = {
  model: Model;
  added: AddedToken[];
  normalize: Normalizer;
  split: Splitter;
  process: Processor;
  decode: (tokens: string[]) => string;
};

export class Tokenizer {
  /** The largest id + 1. */
  declare vocabSize: number;

  #model: Model;
  #tokens: string[];
  #special: Set<number>;
  #ids: Map<string, number>;
  #sections: (text: AlignedText) => Section[];
  #split: Splitter;
  #process: Processor;
  #decode: (tokens: string[]) => string;
  #fixed: FixedLength | undefined;

  /** @internal */
  constructor({ model, added, normalize, split, process, decode }: Parts, fixed?: FixedLength) {
    this.#model = model;
    /** Tokens by id, with gaps. */
    this.#tokens = model.texts.slice();
    for (const { content, id } of added) this.#tokens[id] = content;
    this.#special = new Set(added.filter(({ special }) => special).map(({ id }) => id));
    this.#ids = new Map(added.map(({ content, id }) => [content, id]));
    this.#sections = sectionsOf(added, normalize, (content) => normalize(new AlignedText(content)).text);
    this.#split = split;
    this.#process = process;
    this.#decode = decode;
    this.#fixed = fixed;
    this.vocabSize = this.#tokens.length;
  }

  toString() {
    let count = 0;
    this.#tokens.forEach(() => count++);
    return `Tokenizer: ${count} tokens, ${this.#special.size} of them special`;
  }

  /** Returns the line that console.log of Node shows. @internal */
  [INSPECT]() {
    return this.toString();
  }

  /** Returns the id of a token. */
  idOf(token: string): number | undefined {
    return this.#ids.get(token) ?? this.#model.ids.get(token);
  }

  /** Returns the token with an id. */
  tokenOf(id: number): string | undefined {
    return this.#tokens[id];
  }

  /** @param pair a second text, such as the answer to a question */
  encode(text: string, pair?: string): Encoding {
    const parts = [this.#encodePart(text, 'text', 0)];
    if (pair !== undefined) parts.push(this.#encodePart(pair, 'pair', 1));
    const all = this.#process(parts);
    // Faster than flatMap. Templates have few parts, so there are few arguments.
    const concat: <K extends 'ids' | 'tokens' | 'offsets' | 'typeIds'>(name: K) => Encoding[K] = (name) =>
      ([] as any).concat(...all.map((part) => part[name]));
    const encoding: Encoding = {
      ...{ ids: concat('ids'), tokens: concat('tokens') },
      ...{ offsets: concat('offsets'), typeIds: concat('typeIds') },
    };
    return this.#fixed ? toLength(encoding, this.#fixed.length, this.#padding(this.#fixed)) : encoding;
  }

  #padding({ pad, padId }: FixedLength) {
    const id = (pad === undefined ? undefined : this.idOf(pad)) ?? padId;
    return { id, token: this.#tokens[id] ?? '' };
  }

  #encodePart(given: unknown, parameter: string, typeId: number): Part {
    if (typeof given !== 'string') throw argumentError('encode', parameter, given, 'a string');
    // A lone surrogate becomes U+FFFD, because it has no UTF-8 form.
    const text = given.replace(/\p{Surrogate}/gu, '\ufffd');
    const part: Part = { text, ids: [], tokens: [], offsets: [], typeIds: [] };
    const add = (id: number, token: string, offsets: [number, number]) => {
      part.ids.push(id);
      part.tokens.push(token);
      part.offsets.push(offsets);
      part.typeIds.push(typeId);
    };
    for (const { text: section, token } of this.#sections(new AlignedText(text))) {
      if (token) add(token.id, section.text, section.range(0, section.text.length));
      else if (section.text)
        for (const word of this.#split(section))
          this.#model.pieces(word.text, (id, begin, end, unknown) => {
            add(id, unknown ? word.text.slice(begin, end) : this.#tokens[id], word.range(begin, end));
          });
    }
    return part;
  }

  /** Ids without a token are skipped, because many vocabularies are padded to a round size. */
  decode(ids: ArrayLike<number>, options: DecodeOptions = {}): string {
    const skipSpecial = readDecodeOptions(options);
    if (ids === null || typeof ids !== 'object' || !Number.isSafeInteger(ids.length) || ids.length < 0)
      throw argumentError('decode', 'ids', ids, 'a list of integers');
    const tokens: string[] = [];
    let length = 0;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i];
      if (!Number.isSafeInteger(id) || id < 0) throw argumentError('decode', 'ids', ids, 'integers of at least 0');
      const token = this.#tokens[id];
      if (token === undefined || (skipSpecial && this.#special.has(id))) continue;
      tokens.push(token);
      length += token.length;
      if (length > MAX_DECODED_LENGTH)
        throw argumentError('decode', 'ids', ids, `a text of at most ${MAX_DECODED_LENGTH} characters`);
    }
    return this.#decode(tokens);
  }
}

function readDecodeOptions(options: DecodeOptions): boolean {
  if (options === null || typeof options !== 'object')
    throw argumentError('decode', 'options', options, 'an object of options');
  const { skipSpecial = true } = options;
  if (typeof skipSpecial !== 'boolean') throw argumentError('decode', 'skipSpecial', skipSpecial, 'true or false');
  return skipSpecial;
}

function readFile(file: Fields, fixed?: FixedLength): Parts {
  const model = file.object('model');
  const optional = <T>(name: string, read: (fields: Fields) => T, fallback: T) =>
    file.get(name) === null ? fallback : read(file.object(name));
  const decode = optional('decoder', readDecoder, null);
  return {
    model: (model.get('type') === null ? modelWithoutType(model) : model.choose('model', MODELS))(model),
    added: readAddedTokens(file),
    normalize: chain([
      ...(fixed ? [lowercase()] : []),
      optional('normalizer', readNormalizer, (text: AlignedText) => text),
    ]),
    split: optional('pre_tokenizer', readSplitter, (word) => [word]),
    process: optional('post_processor', readProcessor, (parts) => parts),
    decode: (tokens: string[]) => (decode ? decode(tokens, growthLimit(tokens)).join('') : tokens.join(' ')),
  };
}

/** Determines the model of an older file, which has no type. */
const modelWithoutType = (model: Fields) =>
  model.get('merges') !== null ? readBpe : Array.isArray(model.get('vocab')) ? readUnigram : readWordPiece;

/** source: the file: its bytes, its text or its JSON */
export function openTokenizer(source: ArrayBuffer | ArrayBufferView | string | object, fixed?: FixedLength): Tokenizer {
  const isFile = source instanceof Object && !ArrayBuffer.isView(source) && !isBuffer(source);
  return new Tokenizer(readFile(new Fields(isFile ? source : parseTokenizer(source), ''), fixed), fixed);
}

const isBuffer = (source: object) => /^\[object (Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(source));

/** Parses a tokenizer.json. Objects become Maps. source: its bytes or its text. */
export function parseTokenizer(source: unknown) {
  const fail = (reason: string) => formatError(CALLER, `not the JSON of a tokenizer: ${reason}`);
  if (typeof source === 'string') return parseJson(source, fail, { maps: true });
  let text;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(readBytes(CALLER, source));
  } catch (error) {
    if (error instanceof TypeError) throw fail('it is not UTF-8');
    throw error;
  }
  return parseJson(text, fail, { maps: true });
}
