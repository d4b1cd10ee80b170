// Opens a checkpoint in Hugging Face's layout, from a user's files or from a folder on a server.

import type { HubOptions } from '../../../src/js/hub/options.ts';
import type { OpenedModel } from '../../../src/js/models/checkpoint/open.ts';
import type { TextImageModel } from '../../../src/js/models/textImage/textImageModel.ts';
import { layersIn } from '../../../src/js/ops/foreign.ts';
import type { WeightsForm } from '../../model/protocol/hubProtocol.ts';
import type { PatchOptions, Summary, UserFile } from '../../model/protocol/protocol.ts';
import { baseOf, findIn, MODEL_WEIGHTS } from './fileContents.ts';
import { drawnPixels } from './pictures.ts';
import { Problem } from './problem.ts';
import { predictsTokens, transformerSource } from './sources.ts';
import type { Hl, OnProgress, Source, Transformer, TransformerSource } from './types.ts';
import type { OpenOptions } from './userFiles.ts';

/** Maximum bytes of a checkpoint whose weights become float32. The weights of larger checkpoints become int8. */
const MAX_FLOATS = 400 * 2 ** 20;
/** Maximum bytes of a GGUF file whose weights become float32, up to 8 times as large. Larger files stay packed. */
const MAX_PACKED = MAX_FLOATS / 8;
/** Maximum number of shards that is read from the name of a file. */
const MAX_SHARDS = 1000;
/** Maximum parameters of a model whose parameters are searched for NaN. */
const MAX_SEARCHED = 64e6;

export async function openFolder(
  hl: Hl,
  name: string,
  url: string,
  { title = titleOf(url), hub, onProgress }: { title?: string; hub?: HubOptions; onProgress: OnProgress },
): Promise<Source> {
  let bytes = 0;
  const model = await hl.openModel(url, {
    ...(hub && { hub }),
    onProgress({ read, total }) {
      bytes = total;
      onProgress(read, total);
    },
  });
  if (isPair(model)) return (await import('./textImageSource.ts')).textImageSource(name, model, { bytes, title });
  const source = transformerSource(name, { model, tokenizer: model.tokenizer, bytes, title });
  if (source.about.reads === 'sound') await setSound(source);
  if (source.about.reads === 'picture') setPicture(source);
  return source;
}

const isPair = (model: OpenedModel | TextImageModel): model is TextImageModel => 'vision' in model;

/** Returns the last part of an address without a revision. */
const titleOf = (url: string) =>
  decodeURIComponent(
    url
      .replace(/[?#].*$|\/+$/g, '')
      .replace(/^(hf:[^@]*)@.*/, '$1')
      .split('/')
      .pop() ?? '',
  );

/** Lets a model read the sound that the page makes. */
async function setSound(source: TransformerSource) {
  if (!source.model.preprocessor) {
    source.model.dispose();
    throw new Problem('sound', source.model.family ?? '');
  }
  const { readSoundOf } = await import('../sound/soundReader.ts');
  await readSoundOf(source);
}

/** Gives a model of pictures the picture that the page draws. */
function setPicture(source: TransformerSource) {
  source.preprocessor = source.model.preprocessor ?? {};
  source.pixels = drawnPixels(source.model.options.patch as PatchOptions, source.preprocessor);
}

export async function openCheckpoint(
  hl: Hl,
  name: string,
  files: UserFile[],
  options: OpenOptions,
): Promise<{ source: Source; summary: Summary }> {
  const bytes = files.filter(({ path }) => MODEL_WEIGHTS.test(path)).reduce((sum, { file }) => sum + file.size, 0);
  const packed = files.some(({ path }) => /\.gguf$/i.test(path));
  const reduced = packed ? 'stored' : 'int8';
  const weights = bytes > (packed ? MAX_PACKED : MAX_FLOATS) ? reduced : 'float32';
  const byName = filesByName(files);
  const model = await openModel(hl, files, byName, { ...options, weights });
  // Without a folder, the title is the name of the model in config.json.
  const modelName = String(model.config?._name_or_path || model.family || options.title)
    .split(/[\\/]/)
    .pop();
  const title = files.some(({ path }) => path.includes('/')) ? options.title : modelName;
  return describeOpened(name, model, {
    title,
    bytes,
    weights,
    openExact: (signal, onProgress) => openPaths(hl, files, { signal, onProgress, weights: 'float32' }),
  });
}

/** Returns files by name. If names are equal, the file inside fewer folders wins. */
const filesByName = (files: UserFile[]) =>
  Object.fromEntries(
    files
      .toSorted((a, b) => b.path.split('/').length - a.path.split('/').length)
      .map(({ path, file }) => [baseOf(path), file]),
  );

/** Makes a source of an opened model, and a summary of the model's files. */
export async function describeOpened(
  name: string,
  model: OpenedModel | TextImageModel,
  {
    title,
    bytes,
    weights,
    openExact,
  }: {
    title?: string;
    bytes: number;
    weights: WeightsForm;
    openExact: TransformerSource['openExact'];
  },
): Promise<{ source: TransformerSource; summary: Summary }> {
  if (isPair(model)) return describePair(name, model, { title, bytes, weights });
  const parameters = parametersOf(model);
  const source = transformerSource(name, { model, tokenizer: model.tokenizer, bytes, title });
  if (weights !== 'float32') source.openExact = openExact;
  const missing = [];
  const { reads } = source.about;
  if (reads === 'sound') await setSound(source);
  const { hears } = source.about;
  const isNamed = Boolean(model.tokenizer) || reads === 'picture' || (reads === 'sound' && !predictsTokens(model));
  if (!isNamed) missing.push(hears === 'letters' ? 'letters' : 'tokenizer');
  // A model that predicts tokens, but not the next one, predicts masked tokens. Its mask token is unknown.
  if (source.about.guess === null && reads !== 'sound' && predictsTokens(model)) missing.push('mask');
  if (reads === 'picture') {
    setPicture(source);
    if (!model.preprocessor) missing.push('preprocessor');
  }
  const nan = parameters < MAX_SEARCHED ? parametersWithNaN(model) : [];
  return { source, summary: { kind: 'transformer', weights, parameters, bytes, missing, nan } };
}

async function describePair(
  name: string,
  pair: TextImageModel,
  { title, bytes, weights }: { title?: string; bytes: number; weights: WeightsForm },
): Promise<{ source: TransformerSource; summary: Summary }> {
  const { textImageSource } = await import('./textImageSource.ts');
  const source = textImageSource(name, pair, { bytes, title });
  const towers = [pair.text, pair.vision];
  const parameters = towers.reduce((sum, tower) => sum + parametersOf(tower), 0);
  const missing = [...(pair.tokenizer ? [] : ['tokenizer']), ...(pair.vision.preprocessor ? [] : ['preprocessor'])];
  const nan = parameters < MAX_SEARCHED ? towers.flatMap(parametersWithNaN) : [];
  return { source, summary: { kind: 'transformer', weights, parameters, bytes, missing, nan } };
}

/** Opens the files by their paths, with the errors of the module. */
const openPaths = (
  hl: Hl,
  files: UserFile[],
  { weights, signal, onProgress }: { weights: WeightsForm; signal: AbortSignal; onProgress: OnProgress },
) =>
  hl.openModel(Object.fromEntries(files.map(({ path, file }) => [path, file])), {
    weights,
    signal,
    onProgress: ({ read, total }) => onProgress(read, total),
  });

async function openModel(
  hl: Hl,
  files: UserFile[],
  byName: Record<string, Blob>,
  { weights, signal, onProgress }: OpenOptions & { weights: WeightsForm },
) {
  const { all, missing } = await shardsOf(byName);
  if (missing.length > 0) throw new Problem('shards', missing.length, all.length, missing.slice(0, 3).join(', '));
  try {
    return await openPaths(hl, files, { weights, signal, onProgress });
  } catch (error) {
    throw await problemOf(error, byName);
  }
}

/** Lists the files with the weights, by the index or the names of files, and the missing ones. `files`: by name. */
async function shardsOf(files: Record<string, Blob>) {
  const index = files['model.safetensors.index.json'];
  const named = index ? Object.values(parsed(await index.text())?.weight_map ?? {}).map(String) : numbered(files);
  const all = [...new Set(named)];
  return { all, missing: all.filter((name) => !Object.hasOwn(files, name)) };
}

function parsed(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Lists the shards that model-00001-of-00003.safetensors implies. */
function numbered(files: Record<string, Blob>) {
  for (const name of Object.keys(files)) {
    const [, stem, digits] = /^(.+)-\d{5}-of-(\d{5})\.safetensors$/.exec(name) ?? [];
    if (stem && Number(digits) <= MAX_SHARDS)
      return Array.from(
        { length: Number(digits) },
        (_, i) => `${stem}-${String(i + 1).padStart(5, '0')}-of-${digits}.safetensors`,
      );
  }
  return [];
}

const countOf = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1);

const parametersOf = ({ weights }: Transformer) =>
  [...weights.values()].reduce((sum, { shape }) => sum + countOf(shape), 0);

/** Returns the names of parameters with NaN. */
const parametersWithNaN = ({ parameters }: Transformer) =>
  Object.entries(parameters)
    .filter(([, { data }]) => data.some(Number.isNaN))
    .map(([name]) => name);

async function problemOf(error: unknown, files: Record<string, Blob>) {
  if (!(error instanceof Error)) return new Problem('checkpoint', String(error));
  if (error.name === 'AbortError') return error;
  const { code, parameter, got } = error as Error & { code?: string; parameter?: string; got?: unknown };
  if (parameter === 'model_type' && files['config.json']) {
    const found = await findIn(Object.entries(files).map(([path, file]) => ({ path, file })));
    const config = JSON.parse(await files['config.json'].text());
    const layers = layersIn(Object.fromEntries(found.tensors.map((tensor) => [tensor.name, tensor])), config);
    if (layers.length > 0) {
      const [{ numHeads, embedDim }] = layers;
      return new Problem('unknownLayers', String(got), layers.length, numHeads, embedDim);
    }
    return new Problem('unknownFamily', String(got));
  }
  if (code === 'OUT_OF_MEMORY' || error instanceof RangeError) return new Problem('memory');
  return new Problem('checkpoint', error.message.replace(/^openModel: /, ''));
}
