// Reads the defaults of generate() from a model's generation_config.json, or from its config.json if there is none.
// Fields without an option of generate(), such as those of beam search, are ignored.

import { HeadlightError } from '../../check/errors.js';
import { quote } from '../../check/quote.js';

/**
 * @typedef {object} GenerationDefaults
 * @property {readonly number[]} [stop] end tokens
 * @property {number} [temperature] temperature, topK and topP are set only if the file has do_sample: true
 * @property {number} [topK]
 * @property {number} [topP]
 * @property {number} [repetitionPenalty]
 * @property {readonly number[]} [suppress] tokens that are never chosen
 * @property {readonly number[]} [suppressFirst] tokens that are not chosen as the first generated token
 * @property {readonly (readonly [index: number, id: number])[]} [forced] tokens that are chosen at an index of the
 *   sequence
 * @property {number} [start] first token of a decoder with an encoder
 */
/** @typedef {Record<string, any>} Fields */

/** topK of files with do_sample: true and no top_k, as in the Python library transformers. */
const DEFAULT_TOP_K = 50;

/**
 * @param {Fields} config config.json
 * @param {Fields} [generation] generation_config.json
 * @returns {GenerationDefaults}
 */
export function readGeneration(config, generation) {
  const text = config.text_config ?? {};
  const reader = new Reader(
    generation ?? { ...text, ...config },
    generation ? 'generation_config.json' : 'config.json',
  );
  // A hand-written generation_config.json often lacks the end tokens.
  const fallback = new Reader({ ...text, ...config }, 'config.json');
  const defaults = {
    stop: reader.ids('eos_token_id') ?? fallback.ids('eos_token_id'),
    ...(reader.flag('do_sample') && readSampling(reader)),
    repetitionPenalty: reader.number('repetition_penalty', (x) => x > 0, 'a number above 0'),
    suppress: reader.ids('suppress_tokens'),
    suppressFirst: reader.ids('begin_suppress_tokens'),
    forced: readForced(reader),
    start: reader.id('decoder_start_token_id') ?? fallback.id('decoder_start_token_id'),
  };
  return Object.freeze(Object.fromEntries(Object.entries(defaults).filter(([, value]) => value !== undefined)));
}

/** @param {Reader} reader */
function readSampling(reader) {
  const topK =
    reader.number('top_k', (x) => Number.isInteger(x) && x >= 0, 'an integer of at least 0') ?? DEFAULT_TOP_K;
  return {
    temperature: reader.number('temperature', (x) => x >= 0, 'a number of at least 0') ?? 1,
    // 0 means no limit.
    topK: topK === 0 ? undefined : topK,
    topP: reader.number('top_p', (x) => x >= 0 && x <= 1, 'a number from 0 to 1'),
  };
}

/** @param {Reader} reader @returns {[number, number][] | undefined} */
function readForced(reader) {
  const first = reader.id('forced_bos_token_id');
  const list = reader.pairs('forced_decoder_ids');
  return first === undefined ? list : [[1, first], ...(list ?? [])];
}

const isId = (/** @type {unknown} */ value) => Number.isSafeInteger(value) && Number(value) >= 0;

/** Reads fields of a file; null is the same as a missing field. */
class Reader {
  #fields;
  #file;

  /** @param {Fields} fields @param {string} file */
  constructor(fields, file) {
    this.#fields = fields;
    this.#file = file;
  }

  /**
   * @param {string} name
   * @param {(value: any) => boolean} fits
   * @param {string} expected
   */
  #read(name, fits, expected) {
    const value = this.#fields[name] ?? undefined;
    if (value === undefined || fits(value)) return value;
    throw new HeadlightError('FORMAT', `openModel: ${this.#file}: ${name} is ${quote(value)}, expected ${expected}`, {
      parameter: name,
      expected,
      got: value,
    });
  }

  /** @param {string} name @returns {boolean} */
  flag(name) {
    return this.#read(name, (value) => typeof value === 'boolean', 'true or false') ?? false;
  }

  /**
   * @param {string} name
   * @param {(x: number) => boolean} fits
   * @param {string} expected
   * @returns {number | undefined}
   */
  number(name, fits, expected) {
    return this.#read(name, (value) => typeof value === 'number' && fits(value), expected);
  }

  /** @param {string} name @returns {number | undefined} */
  id(name) {
    return this.#read(name, isId, 'the id of a token');
  }

  /** @param {string} name @returns {number[] | undefined} */
  ids(name) {
    const fits = (/** @type {unknown} */ value) => (Array.isArray(value) ? value.every(isId) : isId(value));
    const found = this.#read(name, fits, 'the id of a token, or a list of ids');
    return found === undefined ? undefined : [found].flat();
  }

  /**
   * Returns pairs of an index and a token, without pairs whose token is null, because these force nothing.
   * @param {string} name
   * @returns {[number, number][] | undefined}
   */
  pairs(name) {
    const isPair = (/** @type {unknown} */ pair) =>
      Array.isArray(pair) && pair.length === 2 && isId(pair[0]) && (pair[1] === null || isId(pair[1]));
    const fits = (/** @type {unknown} */ value) => Array.isArray(value) && value.every(isPair);
    const found = this.#read(name, fits, 'a list of pairs, of an index and the id of a token');
    return found?.filter((/** @type {[number, number | null]} */ [, id]) => id !== null);
  }
}
