// Reads the defaults of generate() from a model's generation_config.json, or from its config.json if there is none.

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
 * @property {number} [noRepeatNgram] see the options of generate(), also for the next four
 * @property {number} [min]
 * @property {number} [minLength]
 * @property {readonly (readonly number[])[]} [badWords]
 * @property {readonly number[]} [forcedEnd]
 * @property {number} [start] first token of a decoder with an encoder
 * @property {readonly string[]} ignored names of fields of generation_config.json that have no effect here, although
 *   they change texts in the Python library transformers, or that are not known
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
    noRepeatNgram: reader.count('no_repeat_ngram_size'),
    min: reader.count('min_new_tokens'),
    minLength: reader.count('min_length'),
    badWords: reader.lists('bad_words_ids'),
    forcedEnd: reader.ids('forced_eos_token_id'),
    start: reader.id('decoder_start_token_id') ?? fallback.id('decoder_start_token_id'),
  };
  const present = Object.fromEntries(Object.entries(defaults).filter(([, value]) => value !== undefined));
  return Object.freeze({ ...present, ignored: Object.freeze(ignoredIn(config, generation)) });
}

/** Fields that are obeyed, here or by transcribe(). */
const OBEYED = new Set([
  ...['eos_token_id', 'do_sample', 'temperature', 'top_k', 'top_p', 'repetition_penalty', 'suppress_tokens'],
  ...['begin_suppress_tokens', 'forced_bos_token_id', 'forced_decoder_ids', 'no_repeat_ngram_size', 'min_new_tokens'],
  ...['min_length', 'bad_words_ids', 'forced_eos_token_id', 'decoder_start_token_id'],
  ...['lang_to_id', 'task_to_id', 'is_multilingual', 'no_timestamps_token_id'],
]);
/** Fields that do not change the text, or only the times of its words. */
const SILENT = new Set([
  ...['_from_model_config', 'transformers_version', 'bos_token_id', 'pad_token_id', 'use_cache', 'low_memory'],
  ...['return_dict_in_generate', 'output_attentions', 'output_hidden_states', 'output_scores', 'output_logits'],
  ...['cache_implementation', 'cache_config', 'return_legacy_cache', 'disable_compile', 'compile_config'],
  ...['prefill_chunk_size', 'torch_dtype', 'dtype', '_commit_hash', '_original_object_hash'],
  ...['alignment_heads', 'median_filter_width', 'max_initial_timestamp_index', 'prev_sot_token_id'],
]);
/** Values without effect in transformers. null is such a value for every field. @type {Record<string, unknown>} */
const NEUTRAL = {
  num_beams: 1,
  num_beam_groups: 1,
  num_return_sequences: 1,
  length_penalty: 1,
  early_stopping: false,
  diversity_penalty: 0,
  typical_p: 1,
  min_p: 0,
  epsilon_cutoff: 0,
  eta_cutoff: 0,
  encoder_repetition_penalty: 1,
  encoder_no_repeat_ngram_size: 0,
  renormalize_logits: false,
  remove_invalid_values: false,
  guidance_scale: 1,
  penalty_alpha: 0,
  token_healing: false,
  is_assistant: false,
  return_timestamps: false,
};

/**
 * Returns the names of the fields that have an effect in transformers and none here. Most fields of a config.json do
 * not concern generation.
 * @param {Fields} config
 * @param {Fields} [generation]
 */
function ignoredIn(config, generation) {
  const names = generation ? Object.keys(generation) : ['max_length', 'max_new_tokens', ...Object.keys(NEUTRAL)];
  return names.filter((name) => {
    const value = (generation ?? config)[name] ?? null;
    return !OBEYED.has(name) && !SILENT.has(name) && value !== null && value !== NEUTRAL[name];
  });
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
  count(name) {
    return this.number(name, (x) => Number.isSafeInteger(x) && x >= 0, 'an integer of at least 0');
  }

  /** @param {string} name @returns {number[][] | undefined} */
  lists(name) {
    const isList = (/** @type {unknown} */ list) => Array.isArray(list) && list.length > 0 && list.every(isId);
    const fits = (/** @type {unknown} */ value) => Array.isArray(value) && value.every(isList);
    return this.#read(name, fits, 'a list of lists of ids');
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
