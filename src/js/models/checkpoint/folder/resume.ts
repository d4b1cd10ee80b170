// Reads optimizer.safetensors, which saveFolder() and train.py write, so that training continues.

import { HeadlightError } from '../../../check/errors.ts';
import { sameShape } from '../../../check/shape.ts';
import { parseJson } from '../../../io/json.ts';
import { readSafetensorsHeader, readSafetensorsHeaderEnd } from '../../../io/safetensors.ts';
import type { Memory } from '../../../memory/memory.ts';
import { Adam, Sgd } from '../../../ops/optimizer.ts';
import type { Transformer } from '../../transformer.ts';
import { freeWeight, type Weight } from '../../weights.ts';
import type { Folder } from '../files.ts';
import type { Plan } from '../plan.ts';
import { type Found, readWeights, type Stored } from '../readWeights.ts';

/**
 * parts: where each tensor of the optimizer's state is stored, by parameter; options: of the model, not in its files.
 */
export type Resumed = {
  settings: Record<string, any>;
  parts: Map<string, Found[]>;
  step: number;
  options: { dropout: number; seed: number };
};

export const FILE = 'optimizer.safetensors';
const CALLER = 'openModel';
const PARTS: Record<string, string[]> = { sgd: ['velocity'], adam: ['mean', 'square'], adamW: ['mean', 'square'] };

const fail = (message: string, cause?: unknown) =>
  new HeadlightError('FORMAT', `${CALLER}: ${FILE}: ${message}`, { parameter: FILE, cause });

/** Returns the state of a training, or undefined if the file was not written by Headlight. */
export async function readResumed(folder: Folder, { found, options }: Plan): Promise<Resumed | undefined> {
  const size = Number(await folder.size(FILE, true));
  const end = readSafetensorsHeaderEnd(await folder.read(FILE, 0, Math.min(9, size)), size);
  const { tensors, metadata } = readSafetensorsHeader(await folder.read(FILE, 0, end), size);
  if (metadata.headlight === undefined) return undefined;
  const settings = parseJson(metadata.headlight, (reason) => fail(`its metadata is not JSON: ${reason}`)) as Record<
    string,
    any
  >;
  const names = PARTS[settings.optimizer];
  if (!names) throw fail(`there is no optimizer ${JSON.stringify(settings.optimizer)}`);
  const partOf = (part: string) =>
    found.map((entry) => {
      const name = `${entry.names[0]}.${part}`;
      const range = tensors[name];
      const [{ shape }] = entry.stored;
      if (range?.dtype !== 'F32' || !sameShape(range.shape, shape))
        throw fail(`${name} is missing, or is not F32 of shape [${shape}]`);
      const stored = [{ ...range, file: FILE } as Stored];
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

export async function resume(
  memory: Memory,
  folder: Folder,
  model: Transformer,
  { settings, parts }: Resumed,
  signal?: AbortSignal,
): Promise<Adam | Sgd> {
  const optimizer = makeOptimizer(memory, model, settings);
  const read: Weight[] = [];
  try {
    const dict: Record<string, any> = {};
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

function makeOptimizer(
  memory: Memory,
  model: Transformer,
  { optimizer: name, lr, betas, eps, weightDecay, momentum, nesterov }: Record<string, any>,
) {
  try {
    if (name === 'sgd') return new Sgd(memory, [model], { lr, momentum, nesterov, weightDecay });
    return new Adam(memory, name, [model], { lr, betas, eps, weightDecay });
  } catch (error) {
    if ((error as any).code !== 'ARGUMENT') throw error;
    throw fail((error as Error).message, error);
  }
}
