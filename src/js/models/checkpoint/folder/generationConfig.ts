// Reads the defaults of generate() from generation_config.json, or else from config.json.

import { HeadlightError } from '../../../check/errors.ts';
import { quote } from '../../../check/quote.ts';

export type GenerationDefaults = {
  /** end tokens */
  stop?: readonly number[] | undefined;
  /** temperature, topK and topP are set only if the file has do_sample: true */
  temperature?: number | undefined;
  topK?: number | undefined;
  topP?: number | undefined;
  repetitionPenalty?: number | undefined;
  /** tokens that are never chosen */
  suppress?: readonly number[] | undefined;
  /** tokens that are not chosen as the first generated token */
  suppressFirst?: readonly number[] | undefined;
  /** tokens that are chosen at an index of the sequence */
  forced?: readonly (readonly [index: number, id: number])[] | undefined;
  /** see the options of generate(), also for the next four */
  noRepeatNgram?: number | undefined;
  min?: number | undefined;
  minLength?: number | undefined;
  badWords?: readonly (readonly number[])[] | undefined;
  forcedEnd?: readonly number[] | undefined;
  /** first token of a decoder with an encoder */
  start?: number | undefined;
  /** fields of generation_config.json without effect here that change texts in transformers, or that are unknown */
  ignored: readonly string[];
};
export type Fields = Record<string, any>;

/** topK of files with do_sample: true and no top_k, as in the Python library transformers. */
const DEFAULT_TOP_K = 50;

/** config: config.json; generation: generation_config.json */
export function readGeneration(config: Fields, generation?: Fields): GenerationDefaults {
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
/** Values without effect in transformers. null is such a value for every field. */
const NEUTRAL: Record<string, unknown> = {
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

/** Fields with an effect in transformers and none here. Most fields of a config.json do not concern generation. */
function ignoredIn(config: Fields, generation?: Fields) {
  const names = generation ? Object.keys(generation) : ['max_length', 'max_new_tokens', ...Object.keys(NEUTRAL)];
  return names.filter((name) => {
    const value = (generation ?? config)[name] ?? null;
    return !OBEYED.has(name) && !SILENT.has(name) && value !== null && value !== NEUTRAL[name];
  });
}

function readSampling(reader: Reader) {
  const topK =
    reader.number('top_k', (x) => Number.isInteger(x) && x >= 0, 'an integer of at least 0') ?? DEFAULT_TOP_K;
  return {
    temperature: reader.number('temperature', (x) => x >= 0, 'a number of at least 0') ?? 1,
    // 0 means no limit.
    topK: topK === 0 ? undefined : topK,
    topP: reader.number('top_p', (x) => x >= 0 && x <= 1, 'a number from 0 to 1'),
  };
}

function readForced(reader: Reader): [number, number][] | undefined {
  const first = reader.id('forced_bos_token_id');
  const list = reader.pairs('forced_decoder_ids');
  return first === undefined ? list : [[1, first], ...(list ?? [])];
}

const isId = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;

/** Reads fields of a file; null is the same as a missing field. */
class Reader {
  #fields: Fields;
  #file: string;

  constructor(fields: Fields, file: string) {
    this.#fields = fields;
    this.#file = file;
  }

  #read(name: string, fits: (value: any) => boolean, expected: string) {
    const value = this.#fields[name] ?? undefined;
    if (value === undefined || fits(value)) return value;
    throw new HeadlightError('FORMAT', `openModel: ${this.#file}: ${name} is ${quote(value)}, expected ${expected}`, {
      parameter: name,
      expected,
      got: value,
    });
  }

  flag(name: string): boolean {
    return this.#read(name, (value) => typeof value === 'boolean', 'true or false') ?? false;
  }

  number(name: string, fits: (x: number) => boolean, expected: string): number | undefined {
    return this.#read(name, (value) => typeof value === 'number' && fits(value), expected);
  }

  count(name: string): number | undefined {
    return this.number(name, (x) => Number.isSafeInteger(x) && x >= 0, 'an integer of at least 0');
  }

  lists(name: string): number[][] | undefined {
    const isList = (list: unknown) => Array.isArray(list) && list.length > 0 && list.every(isId);
    const fits = (value: unknown) => Array.isArray(value) && value.every(isList);
    return this.#read(name, fits, 'a list of lists of ids');
  }

  id(name: string): number | undefined {
    return this.#read(name, isId, 'the id of a token');
  }

  ids(name: string): number[] | undefined {
    const fits = (value: unknown) => (Array.isArray(value) ? value.every(isId) : isId(value));
    const found = this.#read(name, fits, 'the id of a token, or a list of ids');
    return found === undefined ? undefined : [found].flat();
  }

  /** Returns pairs of an index and a token, without pairs whose token is null, because these force nothing. */
  pairs(name: string): [number, number][] | undefined {
    const isPair = (pair: unknown) =>
      Array.isArray(pair) && pair.length === 2 && isId(pair[0]) && (pair[1] === null || isId(pair[1]));
    const fits = (value: unknown) => Array.isArray(value) && value.every(isPair);
    const found = this.#read(name, fits, 'a list of pairs, of an index and the id of a token');
    return found?.filter(([, id]: [number, number | null]) => id !== null);
  }
}
