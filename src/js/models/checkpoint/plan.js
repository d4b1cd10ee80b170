// Plans how a checkpoint is read: finds its family, the options of the model, and the tensors of each parameter.
// Everything is checked before anything is allocated.

import { HeadlightError } from '../../check/errors.js';
import { quote, quoteNames } from '../../check/quote.js';
import { elementCount, formatShape, sameShape } from '../../check/shape.js';
import { isKnown, unknownDType } from '../../io/dtypes.js';
import { UnsupportedField } from '../families/common.js';
import { FAMILIES } from '../families/index.js';
import { loadRareParts } from '../loadRareParts.js';
import { resolveOptions } from '../options.js';
import { parameterShapes } from '../parameters.js';
import { account } from './accounting.js';
import { sourceOf, splitOf } from './naming.js';
import { storedShape } from './tensorLayout.js';
import { findOtherEmbedding, hasOwnHead, tiedHeads } from './tying.js';

/** @import { Family, TensorSource } from '../families/common.js' */
/** @import { Resolved, TransformerOptions } from '../options.js' */
/** @import { Container } from './containers.js' */
/** @import { Found, Stored } from './readWeights.js' */

/** The tensors of a parameter, with their names in the files. @typedef {Found & { names: string[] }} Located */
/**
 * How a checkpoint is read. unread: names of the tensors of parts that are not opened.
 * @typedef {{ family: Family, options: Resolved, found: Located[], unread: string[] }} Plan
 */

/** Number of missing tensors after which the search for missing tensors ends. */
const MAX_MISSING = 1000;
const FLOATS = new Set(['F64', 'F32', 'F16', 'BF16', 'F8_E4M3', 'F8_E5M2']);
const CALLER = 'openModel';

/** @param {string} message @param {string} [parameter] @param {object} [more] */
const fail = (message, parameter, more = {}) =>
  new HeadlightError('FORMAT', `${CALLER}: ${message}`, { parameter, ...more });

/**
 * @param {Container} container
 * @param {{ layers?: number, signal?: AbortSignal }} how layers: number of layers that are opened, from the first;
 *   default: all
 * @param {Family} [part] the family of a part of the model; default: the family of the container
 * @returns {Promise<Plan>}
 */
export async function planModel(container, { layers, signal }, part) {
  const { tensors } = container;
  const { family, prefix } = recognise(container, part);
  const described = readConfig(family, prefix, container);
  await loadRareParts(described);
  if (described.tied && (await hasOwnHead(family, prefix, tensors, container.folder, signal))) described.tied = false;
  const embeddings = await findOtherEmbedding(family, prefix, tensors, container.folder, signal);
  if (embeddings)
    throw fail(
      `${embeddings.join(' and ')} differ, but both stacks are expected to share one embedding`,
      embeddings[1],
    );
  const options = resolve(family, described, layers, container);
  const found = locate(family, prefix, options, container);
  const unread = account(family, prefix, found, tensors.keys(), blocksOf(described, options));
  return { family, options, found, unread };
}

/**
 * Returns the family, and the prefix of the tensors of its base model in these files.
 * @param {Container} container
 * @param {Family} [part]
 */
function recognise({ config, tensors, family: given }, part) {
  const type = config.model_type;
  let family = part ?? given ?? FAMILIES.get(type);
  if (!family) {
    const types = [...FAMILIES.keys()].join(', ');
    throw fail(
      `config.json says model_type ${quote(type)}, which is not one of ${types}; hl.layersIn() finds the attention ` +
        'layers of other models',
      'model_type',
      { got: type, expected: types },
    );
  }
  if (config.quantization_config)
    throw fail('quantized checkpoints, with a quantization_config, cannot be read', 'quantization_config');
  const { encoderOnly } = family;
  if (encoderOnly && !tensors.has(encoderOnly.without)) family = encoderOnly.family;
  const inside = Object.values(family.names)
    .map((source) => (typeof source === 'string' ? source : source.from))
    .filter((name) => !name.startsWith('/'));
  const known = inside.map((name) => name.replace('.L.', '.0.'));
  const count = (/** @type {string} */ prefix) =>
    known.filter((name) => tensors.has(prefix + name) || tensors.has(`${prefix}${name}.weight`)).length;
  const prefix = family.prefixes.reduce((best, other) => (count(other) > count(best) ? other : best));
  return { family, prefix };
}

/** @param {Family} family @param {string} prefix @param {Container} container */
function readConfig(family, prefix, container) {
  const { config, tensors } = container;
  const has = (/** @type {string} */ name) => tensors.has(name.startsWith('/') ? name.slice(1) : prefix + name);
  return checked(family, container, () => family.options(config, has));
}

/**
 * @param {Family} family
 * @param {TransformerOptions} options
 * @param {number | undefined} layers number of layers that are opened, from the first
 * @param {Container} container
 */
function resolve(family, options, layers, container) {
  const some = layers !== undefined && layers < options.layers ? firstLayers(options, layers) : {};
  return checked(family, container, () => resolveOptions({ ...options, ...some }, CALLER));
}

/**
 * Returns for both stacks the number of blocks in config.json and the number of opened blocks.
 * @param {TransformerOptions} described
 * @param {Resolved} opened
 */
const blocksOf = (described, opened) =>
  new Map([
    ['', { configured: described.layers, opened: opened.layers }],
    ['encoder.', { configured: described.encoder?.layers ?? 0, opened: opened.encoder?.layers ?? 0 }],
  ]);

/**
 * @template T
 * @param {Family} family
 * @param {Container} container
 * @param {() => T} read reads the config
 */
function checked(family, { describedBy = 'config.json' }, read) {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnsupportedField) throw fail(`${describedBy}: ${error.message}`, error.field);
    const { message, parameter = 'config.json' } = /** @type {HeadlightError} */ (error);
    throw fail(`${describedBy} does not describe a ${family.name}: ${message}`, parameter, { cause: error });
  }
}

/** @param {TransformerOptions} options @param {number} layers */
const firstLayers = ({ window, scale, rotary }, layers) => ({
  layers,
  ...(rotary?.layers && { rotary: { ...rotary, layers: rotary.layers.slice(0, layers) } }),
  ...(Array.isArray(window) && { window: window.slice(0, layers) }),
  ...(Array.isArray(scale) && { scale: scale.slice(0, layers) }),
});

/**
 * Finds the tensors of each parameter. Refuses missing tensors, and tensors of another type or shape.
 * @param {Family} family
 * @param {string} prefix
 * @param {Resolved} options
 * @param {Container} container
 * @returns {Located[]}
 */
function locate(family, prefix, options, { tensors, describedBy = 'its config.json', nameOf = (name) => name }) {
  /** @type {string[]} */
  const missing = [];
  /** @type {Located[]} */
  const found = [];
  for (const [name, shape] of parameterShapes(options)) {
    // A config.json may specify a million layers, so the loop ends after the first missing tensors.
    if (missing.length > MAX_MISSING) break;
    const { source = { from: '' }, names } = sourceOf(family, prefix, name);
    // A tied embedding may be stored under the name of the head.
    const head = options.tied && name === 'embedding.table' ? tiedHeads(family, prefix, tensors, shape) : [];
    const present = [...names.filter((other) => tensors.has(other)), ...head];
    if (present.length === 0) missing.push(nameOf(names[0] ?? name));
    const stored = present
      .slice(0, source.form === 'stacked' ? undefined : 1)
      .map((other) => /** @type {Stored} */ (tensors.get(other)));
    for (const [i, tensor] of stored.entries())
      checkStored(nameOf(present[i]), tensor, source, shape, options, name, stored.length);
    found.push({ name, names: present, shape, source, stored, split: splitOf(options, name) });
  }
  if (missing.length > 0) {
    const text = `${quoteNames(missing)} ${missing.length > 1 ? 'are' : 'is'} missing`;
    const details = { expected: missing, got: [...tensors.keys()] };
    throw fail(`this is a ${family.name} according to ${describedBy}, but ${text}`, missing[0], details);
  }
  return found;
}

/**
 * @param {string} name
 * @param {Stored} stored
 * @param {TensorSource} source
 * @param {readonly number[]} shape
 * @param {Resolved} options
 * @param {string} parameter
 * @param {number} count of tensors that store the parameter
 */
function checkStored(name, { shape: got, dtype }, source, shape, options, parameter, count) {
  if (!isKnown(dtype)) throw unknownDType(CALLER, name, dtype);
  if (!FLOATS.has(dtype))
    throw fail(`${name} has the type ${dtype}, expected one of ${[...FLOATS].join(', ')}`, name, { got: dtype });
  const expected = storedShape(source, shape, splitOf(options, parameter));
  const plain = !source.part && !source.transposed && source.form !== 'convolution';
  const stacked = source.form === 'stacked';
  // The axes of a patch, or leading axes of length 1, do not change the order of the numbers.
  const same =
    stacked || (plain && got.length !== expected.length)
      ? elementCount(got) * count === elementCount(shape)
      : sameShape(got, expected);
  if (!same) throw fail(`${name} is ${formatShape(got)}, expected ${formatShape(expected)}`, name, { got, expected });
}
