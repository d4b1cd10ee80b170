// Files that are chosen one after the other: what was missing may be added later.

/** Problems of a model of which a part is missing. */
const INCOMPLETE = new Set(['noConfig', 'noWeights', 'shards']);
/** Files that a model consists of. */
const PARTS = /^[\w.-]+\.safetensors$|^(config|generation_config|.*\.index|preprocessor_config|.*token.*|vocab)\.json$/;

const baseOf = (/** @type {string} */ path) => path.slice(path.lastIndexOf('/') + 1);

/** Whether files may be completed by others. @param {string} code of the problem that they have */
export const isIncomplete = (code) => INCOMPLETE.has(code);

/**
 * New files together with those that were given before and are not whole; alone where they are another model, or none.
 * @template {{ path: string }} T
 * @param {readonly T[]} before
 * @param {readonly T[]} now
 * @returns {T[]}
 */
export function joined(before, now) {
  const names = now.map(({ path }) => baseOf(path));
  const whole = names.includes('config.json') && names.some((name) => name.endsWith('.safetensors'));
  if (whole || !names.every((name) => PARTS.test(name))) return [...now];
  return [...before.filter(({ path }) => !names.includes(baseOf(path))), ...now];
}
