// Joins files of one model that are chosen in several steps.

/** Codes of problems that mean that a part of a model is missing. */
const INCOMPLETE = new Set(['noConfig', 'noWeights', 'shards', 'sound']);
/** Names of files with the weights of a model. GGUF is missing, because a GGUF file needs no other file. */
const WEIGHTS = /\.(safetensors|bin|pth?|ckpt)$/i;
/** Beginnings of the names of other files that openModel reads. */
const BESIDE = [
  ...['config', 'generation_config', '.*\\.index', '.*token.*', 'vocab', 'preprocessor_config', 'processor_config'],
  ...['modules', 'sentence_bert_config', 'config_sentence_transformers'],
].join('|');
/** Names of files that belong to a model. */
const PARTS = new RegExp(`^[\\w.-]+${WEIGHTS.source}|^(${BESIDE})\\.json$|^chat_template\\.jinja$`);

const baseOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);

/** Returns true if more files could solve a problem with this code. */
export const isIncomplete = (code: string) => INCOMPLETE.has(code);

/** Returns the new files with the earlier ones of an incomplete model; only the new if complete or not of a model. */
export function joined<T extends { path: string }>(before: readonly T[], now: readonly T[]): T[] {
  const names = now.map(({ path }) => baseOf(path));
  const whole = names.includes('config.json') && names.some((name) => WEIGHTS.test(name));
  if (whole || !names.every((name) => PARTS.test(name))) return [...now];
  return [...before.filter(({ path }) => !names.includes(baseOf(path))), ...now];
}
