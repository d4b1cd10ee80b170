// Opens both towers of a model for texts and pictures. All tensors are read in one pass over the files.

import { HeadlightError } from '../../check/errors.ts';
import type { Memory } from '../../memory/memory.ts';
import type { Tensor } from '../../memory/tensor.ts';
import type { PairFamily } from '../families/pairs.ts';
import { pooledWidth } from '../parameters.ts';
import { TextImageModel } from '../textImage/textImageModel.ts';
import { freeWeight, type Weight } from '../weights.ts';
import type { Container } from './containers.ts';
import type { Folder } from './files.ts';
import { completeModel, newModel } from './newModel.ts';
import type { OpenedModel } from './open.ts';
import { type Plan, planModel } from './plan.ts';
import { type Found, readWeights, type Storage } from './readWeights.ts';

export type How = {
  storage: Storage;
  layers?: number;
  signal?: AbortSignal;
  onProgress?: (progress: { read: number; total: number; name: string }) => unknown;
};

const CALLER = 'openModel';
const TOWERS = ['text', 'vision'] as const;

const fail = (message: string, parameter: string) =>
  new HeadlightError('FORMAT', `${CALLER}: ${message}`, { parameter });

export async function openTextImage(
  memory: Memory,
  folder: Folder,
  container: Container,
  pair: PairFamily,
  options: How,
) {
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
    const [text, vision] = models as OpenedModel[];
    const how = { scale: Math.exp(logScale), bias, independent: pair.bias };
    return new TextImageModel(memory, { text, vision }, how, container.config);
  } catch (error) {
    for (const model of models) model.dispose();
    throw error;
  }
}

function checkWidths({ text, vision }: Record<'text' | 'vision', Plan>, { projected }: PairFamily) {
  for (const [{ options }, name] of [
    [text, 'text_projection.weight'],
    [vision, 'visual_projection.weight'],
  ] as const)
    if (projected && options.pooler === 'none') throw fail(`${name} is missing`, name);
  if (vision.options.pool === 'none') throw fail('vision_model.head.probe is missing', 'vision_model.head.probe');
  const widths = [text, vision].map(({ options }) => pooledWidth(options));
  if (widths[0] !== widths[1])
    throw fail(`vectors of texts have ${widths[0]} numbers, but those of pictures ${widths[1]}`, 'config.json');
}

/** Returns the tensor of a parameter that is a single number. */
function factorOf(name: string, { tensors }: Container): Found {
  const stored = tensors.get(name);
  if (!stored) throw fail(`${name} is missing`, name);
  if (stored.shape.some((size) => size !== 1)) throw fail(`${name} is expected to be one number`, name);
  return { name, shape: [1], source: { from: name }, stored: [stored], split: { headDim: 1, sizes: [1, 1, 1] } };
}

const named = (tower: string, { found }: Plan): Found[] =>
  found.map((entry) => ({ ...entry, name: `${tower}.${entry.name}` }));

function takeNumber(weights: Map<string, Weight>, name: string) {
  const weight = weights.get(name) as Weight;
  const [number] = (weight.tensor as Tensor).data;
  freeWeight(weight);
  weights.delete(name);
  return number;
}

const weightsOf = (weights: Map<string, Weight>, tower: string) =>
  new Map(
    [...weights]
      .filter(([name]) => name.startsWith(`${tower}.`))
      .map(([name, weight]) => [name.slice(tower.length + 1), weight]),
  );
