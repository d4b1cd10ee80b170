// Accounts for every tensor of a checkpoint. Each is read; or holds no weight of its own; or belongs to a part that is
// not opened, which is listed. One that lies in the opened part, and that nothing reads, would make the results wrong:
// the checkpoint is refused.

import { HeadlightError } from '../../check/errors.js';
import { quoteNames } from '../../check/quote.js';

/** @import { Family } from '../families/common.js' */

/**
 * The blocks of a stack: as many as config.json says, and how many of them are opened.
 * @typedef {{ said: number, opened: number }} Blocks
 */
/**
 * The tensors of a parameter, by their names in the files: the first `stored` of them are read.
 * @typedef {{ name: string, names: readonly string[], stored: readonly unknown[] }} Read
 */

const CALLER = 'openModel';
/** The last parts of names of constants that the modules of many families save beside their weights. */
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

/** All that a name lies in: of a.b.c, a.b and a. @param {string} name */
function* parentsOf(name) {
  for (let at = parentOf(name); at !== ''; at = parentOf(at)) yield at;
}

/** @param {string} name */
const withoutNumber = (name) => name.replace(/\.\d+\./, '.L.');

/** The names of a family's table, as they lie in the base model. @param {Family} family */
const namesInside = ({ names }) =>
  Object.entries(names).flatMap(([key, source]) => {
    const { from, also = [] } = typeof source === 'string' ? { from: source } : source;
    return [from, also]
      .flat()
      .filter((name) => !name.startsWith('/'))
      .map((name) => ({ key, name }));
  });

/**
 * Finds the block that a name lies in.
 * @param {Family} family
 * @returns {(name: string) => { stack: string, number: number } | undefined} stack: '' or 'encoder.'
 */
function blockFinder(family) {
  /** Stacks by what the names of their blocks begin with. @type {Map<string, string>} */
  const stacks = new Map();
  for (const { key, name } of namesInside(family)) {
    const at = name.indexOf('.L.');
    if (at >= 0) stacks.set(name.slice(0, at), key.startsWith('encoder.') ? 'encoder.' : '');
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
 * Tells whether a tensor lies in what is opened: in the base model, or in a layer that is read.
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
 * @param {Iterable<string>} tensors the names of all
 * @param {ReadonlyMap<string, Blocks>} blocks by stack: '' and 'encoder.'
 * @returns {string[]} those that belong to parts that are not opened
 */
export function account(family, prefix, found, tensors, blocks) {
  // Other names of the embedding are copies of it.
  const known = new Set(
    found.flatMap(({ name, names, stored }) => (name === 'embedding.table' ? names : names.slice(0, stored.length))),
  );
  const stored = (/** @type {readonly string[]} */ list = []) =>
    new Set(list.map((name) => (name.startsWith('/') ? name : `/${prefix}${name}`)));
  const [constants, others] = [stored(family.constants), stored(family.others)];
  const blockOf = blockFinder(family);
  const isInside = insideFinder(family, prefix, known);
  /** @type {string[]} */
  const unread = [];
  /** @type {string[]} */
  const strange = [];
  for (const name of tensors) {
    if (known.has(name) || CONSTANTS.has(name.slice(name.lastIndexOf('.') + 1))) continue;
    if (constants.has(`/${name}`) || constants.has(`/${withoutNumber(name)}`)) continue;
    const block = name.startsWith(prefix) ? blockOf(name.slice(prefix.length)) : undefined;
    const { said = 0, opened = 0 } = (block && blocks.get(block.stack)) ?? {};
    if (block && block.number >= said) throw tooMany(family, name, said);
    const apart = block
      ? block.number >= opened
      : others.has(`/${name}`) || [...parentsOf(name)].some((at) => others.has(`/${at}`)) || !isInside(name);
    if (apart) unread.push(name);
    else strange.push(name);
  }
  if (strange.length > 0) throw unknownTensors(family, strange);
  return unread;
}

/** @param {Family} family @param {string} name @param {number} said */
const tooMany = (family, name, said) =>
  new HeadlightError(
    'FORMAT',
    `${CALLER}: ${quoteNames([name])} is in the file, but the ${family.name} that config.json describes has ${said} ` +
      `${said === 1 ? 'block' : 'blocks'}: without this one the results would be wrong`,
    { parameter: name, got: name, expected: said },
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
