// Makes the texts about model families in the documents from the files of the families: the table in
// web/docs/families.md and the names in README.md. As a program: writes them.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Family } from '../js/models/families/common.ts';
import { FAMILIES } from '../js/models/families/index.ts';
import type { Published } from '../js/models/families/published.ts';
import type { TransformerOptions } from '../js/models/options.ts';

const ROOT = new URL('../../', import.meta.url);
const FOLDER = new URL('src/js/models/families/', ROOT);
/** True for the only tensor whose presence selects a larger model: the decoder of T5. */
const HAS = (name: string) => name === 'decoder.final_layer_norm.weight';

/** The documentation's entries from the files of the families, by the name of the family. */
const published: Published = {};
for (const file of readdirSync(FOLDER))
  Object.assign(published, (await import(new URL(file, FOLDER).href)).published?.());

const POSITIONS = {
  learned: 'learned',
  sinusoidal: 'sinusoids',
  rotary: 'rotary',
  alibi: 'ALiBi',
  buckets: 'relative',
  none: 'none',
};
const PLACES = {
  before: 'before each part',
  after: 'after each sum',
  both: 'before and after each part',
  parallel: 'before both, which run side by side',
  stream: 'in the stream',
  outputs: 'after each part',
};

/** Lists the special features of a family's attention. */
function attentionOf(options: TransformerOptions) {
  const list = [options.causal === false && !options.encoder ? 'both directions' : 'causal'];
  if ((options.kvHeads ?? options.numHeads) < options.numHeads) list.push('grouped heads');
  if ([options.window].flat().some((width) => width)) list.push('windows');
  if (options.softcap) list.push('softcap');
  if (options.disentangled) list.push('products with positions');
  if (options.queryKeyNorm) list.push('norms of queries and keys');
  if (options.rotary?.layers?.includes(false)) list.push('layers without rotation');
  if (options.encoder) list.push('attention to an encoder');
  return list.join(', ');
}

const feedForwardOf = ({ activation = 'gelu-tanh', gated }: TransformerOptions) =>
  `${gated ? 'gated ' : ''}${activation}`;
const normOf = ({ norm = 'layer', normPlace = 'before' }: TransformerOptions) =>
  `${norm === 'rms' ? 'RMS' : 'layer'}, ${PLACES[normPlace]}`;

/** A family and the options of its models, one for each model_type. */
type Described = { family: Family; options: TransformerOptions[] };

/** The kinds of models in the order of the table. */
const KINDS = [
  ({ encoder, sound, patch, causal }: TransformerOptions) => !encoder && !sound && !patch && causal === false,
  ({ encoder, sound, patch }: TransformerOptions) => !encoder && !sound && !patch,
  ({ patch }: TransformerOptions) => patch,
  ({ encoder }: TransformerOptions) => encoder,
  () => true,
];

/** Returns the families by kind, and of each kind by name. */
function describeFamilies(): Described[] {
  const described = [...new Set(FAMILIES.values())].map((family) => ({
    family,
    options: family.types.map((type) => family.options({ ...publishedOf(family).config, model_type: type }, HAS)),
  }));
  const kindOf = ({ options }: Described) => KINDS.findIndex((fits) => fits(options[0]));
  return described.sort((a, b) => kindOf(a) - kindOf(b) || compare(a.family.name, b.family.name));
}

const compare = (a: string, b: string) => (a < b ? -1 : 1);

function publishedOf({ name }: Family) {
  const found = published[name];
  if (!found) throw new Error(`the file of the family ${name} has no entry ${name} in \`published\``);
  return found;
}

/** Returns the table in Markdown. */
export function makeFamilyTable() {
  const rows = describeFamilies().map(({ family, options: all }) => {
    // The last type has the most features. For example Mistral, which has windows, shares the table of Llama.
    const options = all[all.length - 1];
    const { models, heads } = publishedOf(family);
    const types = family.types.map((type) => `\`${type}\``).join(', ');
    const kind = options.disentangled
      ? POSITIONS.buckets
      : options.sound
        ? 'a convolution'
        : POSITIONS[options.positions ?? 'learned'];
    const positions = options.buckets && kind !== POSITIONS.buckets ? `${kind} and relative` : kind;
    const feedForwards = [...new Set(all.map(feedForwardOf))].join(' or ');
    const cells = [models.join(', '), types, positions, attentionOf(options), normOf(options), feedForwards, heads];
    return `| ${cells.join(' | ')} |`;
  });
  const head = ['family', '`model_type`', 'positions', 'attention', 'norms', 'feed-forward', 'heads'];
  return [`| ${head.join(' | ')} |`, `| ${head.map(() => '---').join(' | ')} |`, ...rows].join('\n');
}

/** Models that the README names: the best known of each kind. */
const BEST_KNOWN = ['GPT-2', 'Llama', 'BERT', 'ViT', 'T5', 'Whisper'];

/** Returns the best known models, and the number of families without them. */
export function nameModels() {
  const families = describeFamilies().map(({ family }) =>
    publishedOf(family).models.map((name) => name.replace(/ \(.*/, '')),
  );
  for (const name of BEST_KNOWN)
    if (!families.some((models) => models.includes(name))) throw new Error(`no family has the model ${name}`);
  const others = families.filter((models) => !models.some((name) => BEST_KNOWN.includes(name)));
  return `${BEST_KNOWN.join(', ')} and ${others.length} other families`;
}

/** Returns the fields of the files of families that a contributor may have to fill in. */
export const familyFields = () => [
  ...new Set([...[...FAMILIES.values()].flatMap((family) => Object.keys(family)), 'published']),
];

/** The texts in the documents: the file, what is replaced, and how it is made. */
export const TEXTS: { file: string; at: RegExp; make: () => string }[] = [
  { file: 'web/docs/families.md', at: /(?<=\n\n)\| family +\|[^]*?(?=\n\n)/, make: makeFamilyTable },
  { file: 'README.md', at: /(?<=\[Model families\]\([^)]*\) that open: ).*(?=, from safetensors)/, make: nameModels },
];

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const { file, at, make } of TEXTS) {
    const path = new URL(file, ROOT);
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(at, () => make()),
    );
  }
