// Opens both towers of a model for texts and pictures. All tensors are read in one pass over the files.

import { HeadlightError } from '../../check/errors.js';
import { pooledWidth } from '../parameters.js';
import { TextImageModel } from '../textImage/textImageModel.js';
import { freeWeight } from '../weights.js';
import { completeModel, newModel } from './newModel.js';
import { planModel } from './plan.js';
import { readWeights } from './readWeights.js';

/** @import { Memory } from '../../memory/memory.js' */
/** @import { Tensor } from '../../memory/tensor.js' */
/** @import { PairFamily } from '../families/pairs.js' */
/** @import { Weight } from '../weights.js' */
/** @import { Container } from './containers.js' */
/** @import { Folder } from './files.js' */
/** @import { OpenedModel } from './open.js' */
/** @import { Plan } from './plan.js' */
/** @import { Found, Storage, Stored } from './readWeights.js' */

/**
 * @typedef {{ storage: Storage, layers?: number, signal?: AbortSignal,
 *   onProgress?: (progress: { read: number, total: number, name: string }) => unknown }} How
 */

const CALLER = 'openModel';
const TOWERS = /** @type {const} */ (['text', 'vision']);

/** @param {string} message @param {string} parameter */
const fail = (message, parameter) => new HeadlightError('FORMAT', `${CALLER}: ${message}`, { parameter });

/**
 * @param {Memory} memory
 * @param {Folder} folder
 * @param {Container} container
 * @param {PairFamily} pair
 * @param {How} options
 */
export async function openTextImage(memory, folder, container, pair, options) {
  const plans = {
    text: await planModel(container, options, pair.text),
    vision: await planModel(container, options, pair.vision),
  };
  checkWidths(plans, pair);
  const factors = ['logit_scale', ...(pair.bias ? ['logit_bias'] : [])];
  const unread = plans.text.unread.filter((name) => plans.vision.unread.includes(name) && !factors.includes(name));
  const found = [
    ...factors.map((name) => factorOf(name, container)),
    ...TOWERS.flatMap((name) => named(name, plans[name])),
  ];
  const weights = await readWeights(memory, container.folder, found, options);
  const [logScale, bias = 0] = factors.map((name) => takeNumber(weights, name));
  const models = TOWERS.map((name) => newModel(memory, { ...plans[name], unread }, weightsOf(weights, name)));
  try {
    for (const [i, name] of TOWERS.entries())
      await completeModel(models[i], folder, container, plans[name], options.storage);
    options.signal?.throwIfAborted();
    const [text, vision] = /** @type {OpenedModel[]} */ (models);
    const how = { scale: Math.exp(logScale), bias, independent: pair.bias };
    return new TextImageModel(memory, { text, vision }, how, container.config);
  } catch (error) {
    for (const model of models) model.dispose();
    throw error;
  }
}

/** @param {Record<'text' | 'vision', Plan>} plans @param {PairFamily} pair */
function checkWidths({ text, vision }, { projected }) {
  for (const [{ options }, name] of /** @type {const} */ ([
    [text, 'text_projection.weight'],
    [vision, 'visual_projection.weight'],
  ]))
    if (projected && options.pooler === 'none') throw fail(`${name} is missing`, name);
  if (vision.options.pool === 'none') throw fail('vision_model.head.probe is missing', 'vision_model.head.probe');
  const widths = [text, vision].map(({ options }) => pooledWidth(options));
  if (widths[0] !== widths[1])
    throw fail(`vectors of texts have ${widths[0]} numbers, but those of pictures ${widths[1]}`, 'config.json');
}

/**
 * Returns the tensor of a parameter that is a single number.
 * @param {string} name
 * @param {Container} container
 * @returns {Found}
 */
function factorOf(name, { tensors }) {
  const stored = tensors.get(name);
  if (!stored) throw fail(`${name} is missing`, name);
  if (stored.shape.some((size) => size !== 1)) throw fail(`${name} is expected to be one number`, name);
  return { name, shape: [1], source: { from: name }, stored: [stored], split: { headDim: 1, sizes: [1, 1, 1] } };
}

/** @param {string} tower @param {Plan} plan @returns {Found[]} */
const named = (tower, { found }) => found.map((entry) => ({ ...entry, name: `${tower}.${entry.name}` }));

/** @param {Map<string, Weight>} weights @param {string} name */
function takeNumber(weights, name) {
  const weight = /** @type {Weight} */ (weights.get(name));
  const [number] = /** @type {Tensor} */ (weight.tensor).data;
  freeWeight(weight);
  weights.delete(name);
  return number;
}

/** @param {Map<string, Weight>} weights @param {string} tower */
const weightsOf = (weights, tower) =>
  new Map(
    [...weights]
      .filter(([name]) => name.startsWith(`${tower}.`))
      .map(([name, weight]) => [name.slice(tower.length + 1), weight]),
  );
