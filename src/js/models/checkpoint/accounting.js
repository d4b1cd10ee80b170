// Accounts for every tensor of a checkpoint. A tensor is read, or is a constant, or belongs to a part of the model that
// is not opened. The names of the tensors of unopened parts are returned. A checkpoint with an unknown tensor in the
// opened part is refused, because the results would be wrong without this tensor.

import { HeadlightError } from '../../check/errors.js';
import { quoteNames } from '../../check/quote.js';

/** @import { Family } from '../families/common.js' */

/**
 * Numbers of blocks of a stack, the encoder or the decoder. configured: in config.json; opened: blocks that are opened.
 * @typedef {{ configured: number, opened: number }} Blocks
 */
/**
 * name: the parameter; names: the tensors in the files that store its values, which may be several copies; stored: the
 * tensors that are read, which are the first ones in `names`.
 * @typedef {{ name: string, names: readonly string[], stored: readonly unknown[] }} Read
 */

const CALLER = 'openModel';
/** The names, after the last dot, of constants that many families save with their weights. */
const CONSTANTS = new Set([
  'inv_freq',
  'original_inv_freq',
  'cos_cached',
  'sin_cached',
  'masked_bias',
  'position_ids',
  'token_type_ids',
  'num_batches_tracked',
  'version',
]);

/** @param {string} name */
const parentOf = (name) => name.slice(0, Math.max(name.lastIndexOf('.'), 0));

/** Yields the parents of a name: a.b and a for a.b.c. @param {string} name */
function* parentsOf(name) {
  for (let at = parentOf(name); at !== ''; at = parentOf(at)) yield at;
}

/** @param {string} name */
const withoutNumber = (name) => name.replace(/\.\d+\./, '.L.');

/** Returns the names in a family's table that are relative to the base model. @param {Family} family */
const namesInside = ({ names }) =>
  Object.entries(names).flatMap(([key, source]) => {
    const { from, also = [] } = typeof source === 'string' ? { from: source } : source;
    return [from, also]
      .flat()
      .filter((name) => !name.startsWith('/'))
      .map((name) => ({ key, name }));
  });

/**
 * Returns a function that finds the block of a tensor by its name.
 * @param {Family} family
 * @returns {(name: string) => { stack: string, number: number } | undefined} stack: '' or 'encoder.'
 */
function blockFinder(family) {
  /** The stack, '' or 'encoder.', by the beginning of the names of its blocks. @type {Map<string, string>} */
  const stacks = new Map();
  for (const { key, name } of namesInside(family)) {
    const at = name.indexOf('.L.');
    if (at >= 0 && key.includes('blocks.')) stacks.set(name.slice(0, at), key.startsWith('encoder.') ? 'encoder.' : '');
  }
  return (name) => {
    for (const [begin, stack] of stacks) {
      const number = name.startsWith(`${begin}.`) ? /^\d+(?=\.)/.exec(name.slice(begin.length + 1)) : null;
      if (number) return { stack, number: Number(number[0]) };
    }
    return undefined;
  };
}

/**
 * Returns a function that returns true for the name of a tensor in the opened part of the model. This part is the base
 * model and each layer of which a tensor is read.
 * @param {Family} family
 * @param {string} prefix of the base model
 * @param {Iterable<string>} known tensors that are read, or that are read under another name
 */
function insideFinder(family, prefix, known) {
  const layers = new Set([...known].map(parentOf));
  const modules = [...new Set(namesInside(family).map(({ name }) => name.split('.')[0]))];
  const inBase = (/** @type {string} */ name) =>
    prefix !== '' || modules.some((module) => /^([._]|$)/.test(name.slice(module.length)) && name.startsWith(module));
  return (/** @type {string} */ name) =>
    (name.startsWith(prefix) && inBase(name.slice(prefix.length))) || [...parentsOf(name)].some((at) => layers.has(at));
}

/**
 * @param {Family} family
 * @param {string} prefix of the base model
 * @param {Read[]} found
 * @param {Iterable<string>} tensors names of all tensors
 * @param {ReadonlyMap<string, Blocks>} blocks by stack: '' and 'encoder.'
 * @returns {string[]} the tensors of parts that are not opened
 */
export function account(family, prefix, found, tensors, blocks) {
  // The embedding may be stored under several names. These tensors are copies of each other.
  const known = new Set(
    found.flatMap(({ name, names, stored }) => (name === 'embedding.table' ? names : names.slice(0, stored.length))),
  );
  const fullNames = (/** @type {readonly string[]} */ list = []) =>
    new Set(list.map((name) => (name.startsWith('/') ? name : `/${prefix}${name}`)));
  const [constants, others] = [fullNames(family.constants), fullNames(family.others)];
  const blockOf = blockFinder(family);
  const isInside = insideFinder(family, prefix, known);
  /** @type {string[]} */
  const unread = [];
  /** @type {string[]} */
  const unknown = [];
  for (const name of tensors) {
    if (known.has(name) || CONSTANTS.has(name.slice(name.lastIndexOf('.') + 1))) continue;
    if (constants.has(`/${name}`) || constants.has(`/${withoutNumber(name)}`)) continue;
    const block = name.startsWith(prefix) ? blockOf(name.slice(prefix.length)) : undefined;
    const { configured = 0, opened = 0 } = (block && blocks.get(block.stack)) ?? {};
    if (block && block.number >= configured) throw tooMany(family, name, configured);
    const isUnopened = block
      ? block.number >= opened
      : others.has(`/${name}`) || [...parentsOf(name)].some((at) => others.has(`/${at}`)) || !isInside(name);
    if (isUnopened) unread.push(name);
    else unknown.push(name);
  }
  if (unknown.length > 0) throw unknownTensors(family, unknown);
  return unread;
}

/** @param {Family} family @param {string} name @param {number} configured */
const tooMany = (family, name, configured) =>
  new HeadlightError(
    'FORMAT',
    `${CALLER}: ${quoteNames([name])} is in the file, but the ${family.name} that config.json describes has ` +
      `${configured} ${configured === 1 ? 'block' : 'blocks'}: without this tensor the results would be wrong`,
    { parameter: name, got: name, expected: configured },
  );

/** @param {Family} family @param {string[]} names */
function unknownTensors(family, names) {
  const [are, tensor, them] = names.length > 1 ? ['are', 'tensors', 'them'] : ['is', 'tensor', 'it'];
  return new HeadlightError(
    'FORMAT',
    `${CALLER}: ${quoteNames(names)} ${are} in the file, but the ${family.name} that config.json describes has no ` +
      `such ${tensor}: without ${them} the results would be wrong`,
    { parameter: names[0], got: names },
  );
}
