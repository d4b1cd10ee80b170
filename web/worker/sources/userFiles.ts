// Opens a user's files as a source: a checkpoint in Hugging Face's layout, an attention layer, or attention weights.
// Throws a Problem with the reason if the files cannot be shown.

import { layersIn } from '../../../src/js/ops/foreign.ts';
import type { AttentionPart, Summary, UserFile } from '../../model/protocol/protocol.ts';
import { filesInArchive, isArchive, isSavedModel } from './archives.ts';
import { type Attentions, aboutWeights, checkSize, findAttentions } from './attentionWeights.ts';
import { openCheckpoint } from './checkpointFiles.ts';
import { baseOf, type Found, findIn, MODEL_WEIGHTS, PICKLES, reasonOf, type Stored } from './fileContents.ts';
import { Problem } from './problem.ts';
import { findTransposed, transpose } from './transposed.ts';
import type { Hl, OnProgress, Source } from './types.ts';
export type FoundFiles = Found & { problems: Problem[] };
export type OpenOptions = { title: string; signal: AbortSignal; onProgress: OnProgress };

/** Paths of index files, which list the files with the weights of a model. */
const INDEX = /(^|\/)(model\.safetensors|pytorch_model\.bin)\.index\.json$/;
const TORCH = /\.(bin|pth?|ckpt)$/i;
/** Files with both the weights and the sizes of a model: GGUF, and the checkpoints of nanoGPT. */
const DESCRIBED = /\.gguf$|(^|\/)ckpt[\w.-]*\.pt$/i;

/** `name`: of the source; transposed: the last two axes of weights are swapped. */
export async function openFiles(
  hl: Hl,
  name: string,
  files: UserFile[],
  { title, signal, transposed = false, onProgress }: OpenOptions & { transposed?: boolean },
): Promise<{ source: Source; summary: Summary }> {
  if (files.length === 0) throw new Problem('noFiles');
  if (isArchive(files))
    return openFiles(hl, name, await unpacked(files[0]), {
      ...{ signal, transposed, onProgress },
      title: title.replace(/\.zip$/i, ''),
    });
  // The code for HeadVis folders is loaded here, because few visitors have one.
  if (files.some(({ path }) => baseOf(path) === 'scatter_data.json'))
    return (await import('./headvisSource.ts')).openHeadvis(name, files, title);
  const config = files.some(({ path }) => baseOf(path) === 'config.json');
  const weights = files.some(({ path }) => MODEL_WEIGHTS.test(path));
  const index = files.some(({ path }) => INDEX.test(path));
  // These files need no config.json.
  const described = files.some(({ path }) => DESCRIBED.test(path));
  if ((config && (weights || index)) || described || (!config && (await isSavedModel(files))))
    return openCheckpoint(hl, name, files, { title, signal, onProgress });
  const torch = files.find(({ path }) => TORCH.test(path));
  if (torch && !config) throw new Problem('noConfig', baseOf(torch.path), 0);
  const found = await findIn(files);
  signal.throwIfAborted();
  if (transposed) found.tensors = found.tensors.map(transpose);
  const { attentions, others } = await findAttentions(found.tensors);
  const { isLayer, openLayer } = await import('./layerFiles.ts');
  if (isLayer(found.tensors, others)) return openLayer(hl, name, title, found);
  if (attentions.length > 0) return openWeights(name, title, attentions, found, others);
  throw await problemOf(files, title, found, others);
}

async function unpacked(archive: UserFile) {
  try {
    return await filesInArchive(archive);
  } catch (error) {
    throw new Problem('unreadable', baseOf(archive.path), reasonOf(error));
  }
}

/** Returns the reason why files without attention weights cannot be shown. */
async function problemOf(files: UserFile[], title: string, found: FoundFiles, others: Stored[]) {
  const weights = files.find(({ path }) => /\.safetensors$/.test(path));
  const layers = layersIn(Object.fromEntries(others.map(({ name, shape }) => [name, { shape }])));
  if (layers.length > 0) return new Problem('noConfig', weights ? baseOf(weights.path) : title, layers.length);
  const names = files.map(({ path }) => baseOf(path));
  const config = names.indexOf('config.json');
  if (config >= 0) {
    const pickled = found.problems.find(({ values: [name] }) => PICKLES.test(String(name)));
    const rest = names.filter((_, i) => i !== config).slice(0, 5);
    return pickled ?? new Problem('noWeights', rest.join(', '));
  }
  const swapped = await findTransposed(others);
  if (swapped) return new Problem('transposed', swapped.name, swapped.shape.join(' × '));
  if (others.length > 0) {
    const [{ name: first, shape }] = others;
    return new Problem('noAttention', first, shape.join(' × '), others.length);
  }
  if (Object.keys(found.tokens).length > 0) return new Problem('tokensAlone');
  if (files.length > 1 && found.problems.length === files.length)
    return new Problem('manyUnknown', files.length, names.slice(0, 3).join(', '));
  return found.problems[0] ?? new Problem('noArrays', Object.keys(found.json)[0] ?? names[0]);
}

function openWeights(
  name: string,
  title: string,
  parts: Attentions[],
  found: FoundFiles,
  others: Stored[],
): { source: Source; summary: Summary } {
  const order: AttentionPart[] = ['encoder', 'decoder', 'cross'];
  const known = parts.every(({ part }) => order.some((name) => name === part)) && parts.length > 1;
  const inOrder = order.flatMap((part) => parts.filter((one) => one.part === part).map((one) => ({ part, one })));
  const attentions = known ? inOrder.map(({ one }) => one) : parts.slice(0, 1);
  for (const one of attentions) checkSize(one);
  const partNames = known ? inOrder.map(({ part }) => part) : [];
  return {
    source: {
      about: aboutWeights(name, title, attentions[0], partNames, parts),
      attentions,
      tokens: found.tokens,
      version: 0,
    },
    summary: {
      kind: 'weights',
      sums: 'rows',
      parts: attentions.map(({ read: _read, part: _part, ...sizes }) => sizes),
      named: Object.keys(found.tokens).length > 0,
      unused: [...parts.filter((one) => !attentions.includes(one)), ...others].map(({ name }) => name).slice(0, 4),
      problems: found.problems.map(({ code, values }) => ({ code, values })).slice(0, 3),
    },
  };
}
