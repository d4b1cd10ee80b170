// Plans how a checkpoint is read: family, options, and tensors of each parameter. Everything is checked before anything
// is allocated.

import { HeadlightError } from '../../check/errors.ts';
import { quote, quoteNames } from '../../check/quote.ts';
import { elementCount, formatShape, sameShape } from '../../check/shape.ts';
import { isKnown, unknownDType } from '../../io/dtypes.ts';
import { type Family, type TensorSource, UnsupportedField } from '../families/common.ts';
import { FAMILIES } from '../families/index.ts';
import { loadRareParts } from '../loadRareParts.ts';
import { type Resolved, resolveOptions, type TransformerOptions } from '../options.ts';
import { parameterShapes } from '../parameters.ts';
import { account } from './accounting.ts';
import type { Container } from './containers.ts';
import { findOtherEmbedding, hasOwnHead, tiedHeads } from './folder/tying.ts';
import { sourceOf, splitOf } from './naming.ts';
import type { Found, Stored } from './readWeights.ts';
import { storedShape } from './tensorLayout.ts';

/** The tensors of a parameter, with their names in the files. */
export type Located = Found & { names: string[] };
/** How a checkpoint is read. unread: names of the tensors of parts that are not opened. */
export type Plan = { family: Family; options: Resolved; found: Located[]; unread: string[] };

/** Number of missing tensors after which the search for missing tensors ends. */
const MAX_MISSING = 1000;
const FLOATS = new Set(['F64', 'F32', 'F16', 'BF16', 'F8_E4M3', 'F8_E5M2']);
const CALLER = 'openModel';

const fail = (message: string, parameter?: string, more: object = {}) =>
  new HeadlightError('FORMAT', `${CALLER}: ${message}`, { parameter, ...more });

/** how: layers: from the first, default all; part: family of a part, default that of the container */
export async function planModel(
  container: Container,
  { layers, signal }: { layers?: number; signal?: AbortSignal },
  part?: Family,
): Promise<Plan> {
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

/** Returns the family, and the prefix of the tensors of its base model in these files. */
function recognise({ config, tensors, family: given }: Container, part?: Family) {
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
  const count = (prefix: string) =>
    known.filter((name) => tensors.has(prefix + name) || tensors.has(`${prefix}${name}.weight`)).length;
  const prefix = family.prefixes.reduce((best, other) => (count(other) > count(best) ? other : best));
  return { family, prefix };
}

function readConfig(family: Family, prefix: string, container: Container) {
  const { config, tensors } = container;
  const has = (name: string) => tensors.has(name.startsWith('/') ? name.slice(1) : prefix + name);
  return checked(family, container, () => family.options(config, has));
}

/** layers: number of layers that are opened, from the first */
function resolve(family: Family, options: TransformerOptions, layers: number | undefined, container: Container) {
  const some = layers !== undefined && layers < options.layers ? firstLayers(options, layers) : {};
  return checked(family, container, () => resolveOptions({ ...options, ...some }, CALLER));
}

/** Returns for both stacks the number of blocks in config.json and the number of opened blocks. */
const blocksOf = (described: TransformerOptions, opened: Resolved) =>
  new Map([
    ['', { configured: described.layers, opened: opened.layers }],
    ['encoder.', { configured: described.encoder?.layers ?? 0, opened: opened.encoder?.layers ?? 0 }],
  ]);

/** read: reads the config */
function checked<T>(family: Family, { describedBy = 'config.json' }: Container, read: () => T) {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnsupportedField) throw fail(`${describedBy}: ${error.message}`, error.field);
    const { message, parameter = 'config.json' } = error as HeadlightError;
    throw fail(`${describedBy} does not describe a ${family.name}: ${message}`, parameter, { cause: error });
  }
}

const firstLayers = ({ window, scale, rotary }: TransformerOptions, layers: number) => ({
  layers,
  ...(rotary?.layers && { rotary: { ...rotary, layers: rotary.layers.slice(0, layers) } }),
  ...(Array.isArray(window) && { window: window.slice(0, layers) }),
  ...(Array.isArray(scale) && { scale: scale.slice(0, layers) }),
});

/** Finds the tensors of each parameter. Refuses missing tensors, and tensors of another type or shape. */
function locate(
  family: Family,
  prefix: string,
  options: Resolved,
  { tensors, describedBy = 'its config.json', nameOf = (name) => name }: Container,
): Located[] {
  const missing: string[] = [];
  const found: Located[] = [];
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
      .map((other) => tensors.get(other) as Stored);
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

/** count: of tensors that store the parameter */
function checkStored(
  name: string,
  { shape: got, dtype }: Stored,
  source: TensorSource,
  shape: readonly number[],
  options: Resolved,
  parameter: string,
  count: number,
) {
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
