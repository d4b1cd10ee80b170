// A tokenizer from a tokenizer.json of Hugging Face. It converts text to ids and back.
//   text → added tokens cut out → normalizer → pre-tokenizer (words) → model (pieces) → post-processor
// The settings for truncation and padding in the file are not applied. Some models require texts of one length.

import { argumentError } from '../check/errors.js';
import { INSPECT } from '../check/inspect.js';
import { formatError, readBytes } from '../io/bytes.js';
import { parseJson } from '../io/json.js';
import { readAddedTokens, sectionsOf } from './added.js';
import { AlignedText } from './aligned.js';
import { readBpe } from './bpe.js';
import { growthLimit, readDecoder } from './decoders.js';
import { Fields } from './fields.js';
import { toLength } from './fixedLength.js';
import { chain, lowercase, readNormalizer } from './normalizers.js';
import { readProcessor } from './processors.js';
import { readSplitter } from './splitters.js';
import { readUnigram } from './unigram.js';
import { readWordPiece } from './wordpiece.js';

/** @import { AddedToken } from './added.js' */
/** @import { FixedLength } from './fixedLength.js' */
/** @import { Normalizer } from './normalizers.js' */
/** @import { Encoding, Part, Processor } from './processors.js' */
/** @import { Splitter } from './splitters.js' */
/** @import { Model } from './vocabulary.js' */

const CALLER = 'openTokenizer';
/** Maximum characters of the tokens in one call of decode. */
const MAX_DECODED_LENGTH = 2 ** 26;
/** @type {Record<string, (fields: Fields) => Model>} */
const MODELS = { BPE: readBpe, Unigram: readUnigram, WordPiece: readWordPiece };

/** @typedef {{ skipSpecial?: boolean }} DecodeOptions default true, so that special tokens are left out */
/**
 * @typedef {{ model: Model, added: AddedToken[], normalize: Normalizer, split: Splitter, process: Processor,
 *   decode: (tokens: string[]) => string }} Parts of a tokenizer, in the order of their use
 */

export class Tokenizer {
  #model;
  #tokens;
  #special;
  #ids;
  #sections;
  #split;
  #process;
  #decode;
  #fixed;

  /** @internal @param {Parts} parts @param {FixedLength} [fixed] */
  constructor({ model, added, normalize, split, process, decode }, fixed) {
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
    /** The largest id + 1. */
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

  /** Returns the id of a token. @param {string} token @returns {number | undefined} */
  idOf(token) {
    return this.#ids.get(token) ?? this.#model.ids.get(token);
  }

  /** Returns the token with an id. @param {number} id @returns {string | undefined} */
  tokenOf(id) {
    return this.#tokens[id];
  }

  /**
   * @param {string} text
   * @param {string} [pair] a second text, such as the answer to a question
   * @returns {Encoding}
   */
  encode(text, pair) {
    const parts = [this.#encodePart(text, 'text', 0)];
    if (pair !== undefined) parts.push(this.#encodePart(pair, 'pair', 1));
    const all = this.#process(parts);
    // concat is faster than flatMap. The number of its arguments is small, because templates have few parts.
    /** @type {<K extends 'ids' | 'tokens' | 'offsets' | 'typeIds'>(name: K) => Encoding[K]} */
    const concat = (name) => /** @type {any} */ ([]).concat(...all.map((part) => part[name]));
    /** @type {Encoding} */
    const encoding = {
      ...{ ids: concat('ids'), tokens: concat('tokens') },
      ...{ offsets: concat('offsets'), typeIds: concat('typeIds') },
    };
    return this.#fixed ? toLength(encoding, this.#fixed.length, this.#padding(this.#fixed)) : encoding;
  }

  /** @param {FixedLength} fixed */
  #padding({ pad, padId }) {
    const id = (pad === undefined ? undefined : this.idOf(pad)) ?? padId;
    return { id, token: this.#tokens[id] ?? '' };
  }

  /** @param {unknown} given @param {string} parameter @param {number} typeId @returns {Part} */
  #encodePart(given, parameter, typeId) {
    if (typeof given !== 'string') throw argumentError('encode', parameter, given, 'a string');
    // A lone surrogate becomes U+FFFD, because it has no UTF-8 form.
    const text = given.replace(/\p{Surrogate}/gu, '\ufffd');
    /** @type {Part} */
    const part = { text, ids: [], tokens: [], offsets: [], typeIds: [] };
    const add = (/** @type {number} */ id, /** @type {string} */ token, /** @type {[number, number]} */ offsets) => {
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

  /**
   * Converts ids to text. Ids without a token are skipped, because the vocabulary of many models is padded to a round
   * size.
   * @param {ArrayLike<number>} ids
   * @param {DecodeOptions} [options]
   * @returns {string}
   */
  decode(ids, options = {}) {
    const skipSpecial = readDecodeOptions(options);
    if (ids === null || typeof ids !== 'object' || !Number.isSafeInteger(ids.length) || ids.length < 0)
      throw argumentError('decode', 'ids', ids, 'a list of integers');
    /** @type {string[]} */
    const tokens = [];
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

/** @param {DecodeOptions} options @returns {boolean} skipSpecial */
function readDecodeOptions(options) {
  if (options === null || typeof options !== 'object')
    throw argumentError('decode', 'options', options, 'an object of options');
  const { skipSpecial = true } = options;
  if (typeof skipSpecial !== 'boolean') throw argumentError('decode', 'skipSpecial', skipSpecial, 'true or false');
  return skipSpecial;
}

/** @param {Fields} file @param {FixedLength} [fixed] @returns {Parts} */
function readFile(file, fixed) {
  const model = file.object('model');
  /** @template T @param {string} name @param {(fields: Fields) => T} read @param {T} fallback */
  const optional = (name, read, fallback) => (file.get(name) === null ? fallback : read(file.object(name)));
  const decode = optional('decoder', readDecoder, null);
  return {
    model: (model.get('type') === null ? modelWithoutType(model) : model.choose('model', MODELS))(model),
    added: readAddedTokens(file),
    normalize: chain([
      ...(fixed ? [lowercase()] : []),
      optional('normalizer', readNormalizer, (/** @type {AlignedText} */ text) => text),
    ]),
    split: optional('pre_tokenizer', readSplitter, (word) => [word]),
    process: optional('post_processor', readProcessor, (parts) => parts),
    decode: (/** @type {string[]} */ tokens) =>
      decode ? decode(tokens, growthLimit(tokens)).join('') : tokens.join(' '),
  };
}

/** Determines the model of an older file, which has no type. @param {Fields} model */
const modelWithoutType = (model) =>
  model.get('merges') !== null ? readBpe : Array.isArray(model.get('vocab')) ? readUnigram : readWordPiece;

/**
 * @param {ArrayBuffer | ArrayBufferView | string | object} source the file: its bytes, its text or its JSON
 * @param {FixedLength} [fixed]
 * @returns {Tokenizer}
 */
export function openTokenizer(source, fixed) {
  const isFile = source instanceof Object && !ArrayBuffer.isView(source) && !isBuffer(source);
  return new Tokenizer(readFile(new Fields(isFile ? source : parseTokenizer(source), ''), fixed), fixed);
}

/** @param {object} source */
const isBuffer = (source) => /^\[object (Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(source));

/**
 * Parses a tokenizer.json. Objects become Maps.
 * @param {unknown} source its bytes or its text
 */
export function parseTokenizer(source) {
  const fail = (/** @type {string} */ reason) => formatError(CALLER, `not the JSON of a tokenizer: ${reason}`);
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
