// Opens a checkpoint in Hugging Face's layout, from a user's files or from a folder on a server.

import { layersIn } from '../../../src/js/ops/foreign.js';
import { baseOf, findIn, MODEL_WEIGHTS } from './fileContents.js';
import { drawnPixels } from './pictures.js';
import { Problem } from './problem.js';
import { predictsTokens, transformerSource } from './sources.js';

/** @import { HubOptions } from '../../../src/js/hub/options.js' */
/** @import { OpenedModel } from '../../../src/js/models/checkpoint/open.js' */
/** @import { TextImageModel } from '../../../src/js/models/textImage/textImageModel.js' */
/** @import { WeightsForm } from '../../store/hubProtocol.js' */
/** @import { PatchOptions, Summary, UserFile } from '../../store/protocol.js' */
/** @import { Hl, OnProgress, Source, Transformer, TransformerSource } from './types.js' */
/** @import { OpenOptions } from './userFiles.js' */

/** Maximum bytes of a checkpoint whose weights become float32. The weights of larger checkpoints become int8. */
const MAX_FLOATS = 400 * 2 ** 20;
/** Maximum bytes of a GGUF file whose weights become float32, up to 8 times as large. Larger files stay packed. */
const MAX_PACKED = MAX_FLOATS / 8;
/** Maximum number of shards that is read from the name of a file. */
const MAX_SHARDS = 1000;
/** Maximum parameters of a model whose parameters are searched for NaN. */
const MAX_SEARCHED = 64e6;

/**
 * Opens a model from a folder on a server or from the Hub.
 * @param {Hl} hl
 * @param {string} name
 * @param {string} url
 * @param {{ title?: string, hub?: HubOptions, onProgress: OnProgress }} options
 * @returns {Promise<Source>}
 */
export async function openFolder(hl, name, url, { title = titleOf(url), hub, onProgress }) {
  let bytes = 0;
  const model = await hl.openModel(url, {
    ...(hub && { hub }),
    onProgress({ read, total }) {
      bytes = total;
      onProgress(read, total);
    },
  });
  if (isPair(model)) return (await import('./textImageSource.js')).textImageSource(name, model, { bytes, title });
  const source = transformerSource(name, { model, tokenizer: model.tokenizer, bytes, title });
  if (source.about.reads === 'sound') await setSound(source);
  if (source.about.reads === 'picture') setPicture(source);
  return source;
}

/** @param {OpenedModel | TextImageModel} model @returns {model is TextImageModel} */
const isPair = (model) => 'vision' in model;

/** Returns the last part of an address without a revision. @param {string} url */
const titleOf = (url) =>
  decodeURIComponent(
    url
      .replace(/[?#].*$|\/+$/g, '')
      .replace(/^(hf:[^@]*)@.*/, '$1')
      .split('/')
      .pop() ?? '',
  );

/** Lets a model read the sound that the page makes. @param {TransformerSource} source */
async function setSound(source) {
  if (!source.model.preprocessor) {
    source.model.dispose();
    throw new Problem('sound', source.model.family ?? '');
  }
  const { readSoundOf } = await import('../sound/soundReader.js');
  await readSoundOf(source);
}

/** Gives a model of pictures the picture that the page draws. @param {TransformerSource} source */
function setPicture(source) {
  source.preprocessor = source.model.preprocessor ?? {};
  source.pixels = drawnPixels(/** @type {PatchOptions} */ (source.model.options.patch), source.preprocessor);
}

/**
 * @param {Hl} hl
 * @param {string} name
 * @param {UserFile[]} files
 * @param {OpenOptions} options
 * @returns {Promise<{ source: Source, summary: Summary }>}
 */
export async function openCheckpoint(hl, name, files, options) {
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

/** Returns files by name. If names are equal, the file inside fewer folders wins. @param {UserFile[]} files */
const filesByName = (files) =>
  Object.fromEntries(
    files
      .toSorted((a, b) => b.path.split('/').length - a.path.split('/').length)
      .map(({ path, file }) => [baseOf(path), file]),
  );

/**
 * Makes a source of an opened model, and a summary of the model's files.
 * @param {string} name
 * @param {OpenedModel | TextImageModel} model
 * @param {object} files
 * @param {string} [files.title]
 * @param {number} files.bytes of the weights
 * @param {WeightsForm} files.weights
 * @param {TransformerSource['openExact']} files.openExact
 * @returns {Promise<{ source: TransformerSource, summary: Summary }>}
 */
export async function describeOpened(name, model, { title, bytes, weights, openExact }) {
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

/**
 * Makes a source and a summary of a model for texts and pictures.
 * @param {string} name
 * @param {TextImageModel} pair
 * @param {{ title?: string, bytes: number, weights: WeightsForm }} files
 * @returns {Promise<{ source: TransformerSource, summary: Summary }>}
 */
async function describePair(name, pair, { title, bytes, weights }) {
  const { textImageSource } = await import('./textImageSource.js');
  const source = textImageSource(name, pair, { bytes, title });
  const towers = [pair.text, pair.vision];
  const parameters = towers.reduce((sum, tower) => sum + parametersOf(tower), 0);
  const missing = [...(pair.tokenizer ? [] : ['tokenizer']), ...(pair.vision.preprocessor ? [] : ['preprocessor'])];
  const nan = parameters < MAX_SEARCHED ? towers.flatMap(parametersWithNaN) : [];
  return { source, summary: { kind: 'transformer', weights, parameters, bytes, missing, nan } };
}

/**
 * Opens the files by their paths, with the errors of the module.
 * @param {Hl} hl
 * @param {UserFile[]} files
 * @param {{ weights: WeightsForm, signal: AbortSignal, onProgress: OnProgress }} options
 */
const openPaths = (hl, files, { weights, signal, onProgress }) =>
  hl.openModel(Object.fromEntries(files.map(({ path, file }) => [path, file])), {
    weights,
    signal,
    onProgress: ({ read, total }) => onProgress(read, total),
  });

/**
 * @param {Hl} hl
 * @param {UserFile[]} files
 * @param {Record<string, Blob>} byName
 * @param {OpenOptions & { weights: WeightsForm }} options
 */
async function openModel(hl, files, byName, { weights, signal, onProgress }) {
  const { all, missing } = await shardsOf(byName);
  if (missing.length > 0) throw new Problem('shards', missing.length, all.length, missing.slice(0, 3).join(', '));
  try {
    return await openPaths(hl, files, { weights, signal, onProgress });
  } catch (error) {
    throw await problemOf(error, byName);
  }
}

/**
 * Lists the files with the weights, according to the index or to the names of the files, and which of them are missing.
 * @param {Record<string, Blob>} files by name
 */
async function shardsOf(files) {
  const index = files['model.safetensors.index.json'];
  const named = index ? Object.values(parsed(await index.text())?.weight_map ?? {}).map(String) : numbered(files);
  const all = [...new Set(named)];
  return { all, missing: all.filter((name) => !Object.hasOwn(files, name)) };
}

/** Parses JSON; null for other text, for which openModel throws an error later. @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Lists the shards that model-00001-of-00003.safetensors implies. @param {Record<string, Blob>} files */
function numbered(files) {
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

const countOf = (/** @type {readonly number[]} */ shape) => shape.reduce((a, b) => a * b, 1);

/** @param {Transformer} model */
const parametersOf = ({ weights }) => [...weights.values()].reduce((sum, { shape }) => sum + countOf(shape), 0);

/** Returns the names of parameters with NaN. @param {Transformer} model */
const parametersWithNaN = ({ parameters }) =>
  Object.entries(parameters)
    .filter(([, { data }]) => data.some(Number.isNaN))
    .map(([name]) => name);

/** Converts an error of openModel to a problem. @param {unknown} error @param {Record<string, Blob>} files */
async function problemOf(error, files) {
  if (!(error instanceof Error)) return new Problem('checkpoint', String(error));
  if (error.name === 'AbortError') return error;
  const { code, parameter, got } = /** @type {Error & { code?: string, parameter?: string, got?: unknown }} */ (error);
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
