// Reads optimizer.safetensors, which saveFolder() and train.py write next to a model, so that training continues.

import { HeadlightError } from '../../check/errors.js';
import { sameShape } from '../../check/shape.js';
import { parseJson } from '../../io/json.js';
import { readSafetensorsHeader, readSafetensorsHeaderEnd } from '../../io/safetensors.js';
import { Adam, Sgd } from '../../ops/optimizer.js';
import { freeWeight } from '../weights.js';
import { readWeights } from './readWeights.js';

/** @import { Memory } from '../../memory/memory.js' */
/** @import { Transformer } from '../transformer.js' */
/** @import { Folder } from './files.js' */
/** @import { Plan } from './plan.js' */
/** @import { Found, Stored } from './readWeights.js' */

/**
 * The state of a training. parts: for each tensor of the optimizer's state, where it is stored for each parameter;
 * options: those of the model that its files do not contain.
 * @typedef {{ settings: Record<string, any>, parts: Map<string, Found[]>, step: number,
 *   options: { dropout: number, seed: number } }} Resumed
 */

export const FILE = 'optimizer.safetensors';
const CALLER = 'openModel';
/** @type {Record<string, string[]>} */
const PARTS = { sgd: ['velocity'], adam: ['mean', 'square'], adamW: ['mean', 'square'] };

/** @param {string} message @param {unknown} [cause] */
const fail = (message, cause) =>
  new HeadlightError('FORMAT', `${CALLER}: ${FILE}: ${message}`, { parameter: FILE, cause });

/**
 * Returns the state of a training, or undefined if the file was not written by Headlight.
 * @param {Folder} folder
 * @param {Plan} plan
 * @returns {Promise<Resumed | undefined>}
 */
export async function readResumed(folder, { found, options }) {
  const size = Number(await folder.size(FILE, true));
  const end = readSafetensorsHeaderEnd(await folder.read(FILE, 0, Math.min(9, size)), size);
  const { tensors, metadata } = readSafetensorsHeader(await folder.read(FILE, 0, end), size);
  if (metadata.headlight === undefined) return undefined;
  const settings = /** @type {Record<string, any>} */ (
    parseJson(metadata.headlight, (reason) => fail(`its metadata is not JSON: ${reason}`))
  );
  const names = PARTS[settings.optimizer];
  if (!names) throw fail(`there is no optimizer ${JSON.stringify(settings.optimizer)}`);
  const partOf = (/** @type {string} */ part) =>
    found.map((entry) => {
      const name = `${entry.names[0]}.${part}`;
      const range = tensors[name];
      const [{ shape }] = entry.stored;
      if (range?.dtype !== 'F32' || !sameShape(range.shape, shape))
        throw fail(`${name} is missing, or is not F32 of shape [${shape}]`);
      const stored = [/** @type {Stored} */ ({ ...range, file: FILE })];
      return { ...entry, stored, source: { ...entry.source, offset: 0 } };
    });
  const { steps = 0, learned = steps, dropout = options.dropout, seed = options.seed } = settings;
  return {
    settings: { ...settings, steps },
    parts: new Map(names.map((part) => [part, partOf(part)])),
    step: learned,
    options: { dropout, seed },
  };
}

/**
 * Makes the optimizer of a model with its state.
 * @param {Memory} memory
 * @param {Folder} folder
 * @param {Transformer} model
 * @param {Resumed} resumed
 * @param {AbortSignal} [signal]
 * @returns {Promise<Adam | Sgd>}
 */
export async function resume(memory, folder, model, { settings, parts }, signal) {
  const optimizer = makeOptimizer(memory, model, settings);
  /** @type {import('../weights.js').Weight[]} */
  const read = [];
  try {
    /** @type {Record<string, any>} */
    const dict = {};
    for (const [part, found] of parts)
      for (const [name, weight] of await readWeights(memory, folder, found, { storage: 'float32', signal })) {
        read.push(weight);
        dict[`layers[0].parameters.${name}.${part}`] = weight.tensor;
        dict[`layers[0].parameters.${name}.steps`] = settings.steps;
      }
    return optimizer.loadStateDict(dict);
  } catch (error) {
    optimizer.dispose();
    throw error;
  } finally {
    for (const weight of read) freeWeight(weight);
  }
}

/** @param {Memory} memory @param {Transformer} model @param {Record<string, any>} settings */
function makeOptimizer(memory, model, { optimizer: name, lr, betas, eps, weightDecay, momentum, nesterov }) {
  try {
    if (name === 'sgd') return new Sgd(memory, [model], { lr, momentum, nesterov, weightDecay });
    return new Adam(memory, name, [model], { lr, betas, eps, weightDecay });
  } catch (error) {
    if (/** @type {any} */ (error).code !== 'ARGUMENT') throw error;
    throw fail(/** @type {Error} */ (error).message, error);
  }
}
