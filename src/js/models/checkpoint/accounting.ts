// Accounts for every tensor of a checkpoint: it is read, or a constant, or of a part that is not opened, which is
// listed. A file with an unknown tensor in the opened part is refused, because the results would be wrong without it.

import { HeadlightError } from '../../check/errors.ts';
import { quoteNames } from '../../check/quote.ts';

import type { Family } from '../families/common.ts';

/**
 * Numbers of blocks of a stack, the encoder or the decoder. configured: in config.json; opened: blocks that are opened.
 */
export type Blocks = { configured: number; opened: number };
/**
 * name: of the parameter; names: of tensors that store its values, maybe several copies; stored: the first, which are
 * read.
 */
export type Read = { name: string; names: readonly string[]; stored: readonly unknown[] };

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

const parentOf = (name: string) => name.slice(0, Math.max(name.lastIndexOf('.'), 0));

/** Yields the parents of a name: a.b and a for a.b.c. */
function* parentsOf(name: string) {
  for (let at = parentOf(name); at !== ''; at = parentOf(at)) yield at;
}

const withoutNumber = (name: string) => name.replace(/\.\d+\./, '.L.');

/** Returns the names in a family's table that are relative to the base model. */
const namesInside = ({ names }: Family) =>
  Object.entries(names).flatMap(([key, source]) => {
    const { from, also = [] } = typeof source === 'string' ? { from: source } : source;
    return [from, also]
      .flat()
      .filter((name) => !name.startsWith('/'))
      .map((name) => ({ key, name }));
  });

/** Returns a function that finds the block of a tensor by its name. returns stack: '' or 'encoder.'. */
function blockFinder(family: Family): (name: string) => { stack: string; number: number } | undefined {
  /** The stack, '' or 'encoder.', by the beginning of the names of its blocks. */
  const stacks: Map<string, string> = new Map();
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
 * Tells by name if a tensor is in the opened part: the base model and each layer of which a tensor is read. prefix: of
 * the base model; known: tensors that are read, under any name.
 */
function insideFinder(family: Family, prefix: string, known: Iterable<string>) {
  const layers = new Set([...known].map(parentOf));
  const modules = [...new Set(namesInside(family).map(({ name }) => name.split('.')[0]))];
  const inBase = (name: string) =>
    prefix !== '' || modules.some((module) => /^([._]|$)/.test(name.slice(module.length)) && name.startsWith(module));
  return (name: string) =>
    (name.startsWith(prefix) && inBase(name.slice(prefix.length))) || [...parentsOf(name)].some((at) => layers.has(at));
}

/**
 * prefix: of the base model; tensors: all names; blocks: by stack: '' and 'encoder.'; returns tensors that are not
 * opened
 */
export function account(
  family: Family,
  prefix: string,
  found: Read[],
  tensors: Iterable<string>,
  blocks: ReadonlyMap<string, Blocks>,
): string[] {
  // The embedding may be stored under several names. These tensors are copies of each other.
  const known = new Set(
    found.flatMap(({ name, names, stored }) => (name === 'embedding.table' ? names : names.slice(0, stored.length))),
  );
  const fullNames = (list: readonly string[] = []) =>
    new Set(list.map((name) => (name.startsWith('/') ? name : `/${prefix}${name}`)));
  const [constants, others] = [fullNames(family.constants), fullNames(family.others)];
  const blockOf = blockFinder(family);
  const isInside = insideFinder(family, prefix, known);
  const unread: string[] = [];
  const unknown: string[] = [];
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

const tooMany = (family: Family, name: string, configured: number) =>
  new HeadlightError(
    'FORMAT',
    `${CALLER}: ${quoteNames([name])} is in the file, but the ${family.name} that config.json describes has ` +
      `${configured} ${configured === 1 ? 'block' : 'blocks'}: without this tensor the results would be wrong`,
    { parameter: name, got: name, expected: configured },
  );

function unknownTensors(family: Family, names: string[]) {
  const [are, tensor, them] = names.length > 1 ? ['are', 'tensors', 'them'] : ['is', 'tensor', 'it'];
  return new HeadlightError(
    'FORMAT',
    `${CALLER}: ${quoteNames(names)} ${are} in the file, but the ${family.name} that config.json describes has no ` +
      `such ${tensor}: without ${them} the results would be wrong`,
    { parameter: names[0], got: names },
  );
}
