// A visitor's own files become a source: a checkpoint in Hugging Face's layout, or attention weights that were computed
// elsewhere. What cannot become one says why, and what to do.

import { fileUrl } from '../../../src/js/models/checkpoint/remote.js';
import { layersIn } from '../../../src/js/ops/foreign.js';
import { drawnPixels } from '../pixels.js';
import { aboutWeights, checkSize, findAttentions } from './attentionWeights.js';
import { baseOf, findIn, PICKLES } from './files.js';
import { Problem } from './problem.js';
import { saysTokens, transformerSource } from './sources.js';
import { findTransposed, transpose } from './transposed.js';

/** @import { Given } from './files.js' */
/** @import { Source } from './sources.js' */

/** Larger checkpoints keep a byte for a weight. */
const FLOATS = 400 * 2 ** 20;
/** More files than this are no checkpoint. */
const MOST_SHARDS = 1000;
/** Parameters that are looked through for NaN. */
const LOOKED = 64e6;

/**
 * @param {any} hl
 * @param {string} name of the source
 * @param {Given[]} files
 * @param {{ title: string, signal: AbortSignal, transposed?: boolean,
 *   onProgress: (read: number, total: number) => void }} how transposed: the last two axes of weights are swapped
 * @returns {Promise<{ source: Source, told: Record<string, any> }>}
 */
export async function openFiles(hl, name, files, { title, signal, transposed = false, onProgress }) {
  if (files.length === 0) throw new Problem('noFiles');
  const config = files.find(({ path }) => baseOf(path) === 'config.json');
  const weights = files.filter(({ path }) => /\.safetensors$/.test(path));
  const index = files.some(({ path }) => baseOf(path) === 'model.safetensors.index.json');
  if (config && (weights.length > 0 || index)) return openCheckpoint(hl, name, files, { title, signal, onProgress });
  const found = await findIn(files);
  signal.throwIfAborted();
  if (transposed) found.tensors = found.tensors.map(transpose);
  const { attentions, others } = await findAttentions(found.tensors);
  const { isLayer, openLayer } = await import('./layerFiles.js');
  if (isLayer(found.tensors, others)) return openLayer(hl, name, title, found);
  if (attentions.length > 0) return openWeights(name, title, attentions, found, others);
  const layers = layersIn(Object.fromEntries(others.map(({ name, shape }) => [name, { shape }])));
  if (layers.length > 0) throw new Problem('noConfig', weights[0] ? baseOf(weights[0].path) : title, layers.length);
  if (config) {
    const names = files.filter((one) => one !== config).map(({ path }) => baseOf(path));
    const pickled = found.problems.find(({ values: [name] }) => PICKLES.test(String(name)));
    throw pickled ?? new Problem('noWeights', names.slice(0, 5).join(', '));
  }
  const swapped = await findTransposed(others);
  if (swapped) throw new Problem('transposed', swapped.name, swapped.shape.join(' × '));
  if (others.length > 0) {
    const [{ name: first, shape }] = others;
    throw new Problem('noAttention', first, shape.join(' × '), others.length);
  }
  if (Object.keys(found.tokens).length > 0) throw new Problem('tokensAlone');
  if (files.length > 1 && found.problems.length === files.length)
    throw new Problem(
      'manyUnknown',
      files.length,
      files
        .map(({ path }) => baseOf(path))
        .slice(0, 3)
        .join(', '),
    );
  throw found.problems[0] ?? new Problem('noArrays', Object.keys(found.json)[0] ?? baseOf(files[0].path));
}

/** @param {string} name @param {string} title @param {any[]} parts @param {any} found @param {any[]} others */
function openWeights(name, title, parts, found, others) {
  const order = ['encoder', 'decoder', 'cross'];
  const known = parts.every(({ part }) => order.includes(part)) && parts.length > 1;
  const attentions = known ? order.flatMap((part) => parts.filter((one) => one.part === part)) : parts.slice(0, 1);
  for (const one of attentions) checkSize(one);
  const [first] = attentions;
  return {
    source: /** @type {Source} */ ({
      about: aboutWeights(name, title, first, known ? attentions.map(({ part }) => part) : [], parts),
      attentions,
      tokens: found.tokens,
      version: 0,
    }),
    told: {
      kind: 'weights',
      sums: 'rows',
      parts: attentions.map(({ name, layers, batch, heads, T, S, wholeT, wholeS, nan, causal }) => ({
        name,
        layers,
        batch,
        heads,
        T,
        S,
        wholeT,
        wholeS,
        nan,
        causal,
      })),
      named: Object.keys(found.tokens).length > 0,
      unused: [...parts.filter((one) => !attentions.includes(one)), ...others].map(({ name }) => name).slice(0, 4),
      problems: found.problems.map(({ code, values }) => ({ code, values })).slice(0, 3),
    },
  };
}

/**
 * A model in a folder of a server.
 * @param {any} hl
 * @param {string} name
 * @param {string} url
 * @param {{ title?: string, onProgress: (read: number, total: number) => void }} how
 * @returns {Promise<Source>}
 */
export async function openFolder(hl, name, url, { title, onProgress }) {
  let bytes = 0;
  const model = await hl.openModel(url, {
    onProgress({ read, total }) {
      bytes = total;
      onProgress(read, total);
    },
  });
  const called = decodeURIComponent(new URL(url).pathname.replace(/\/+$/, '').split('/').pop() ?? '');
  const source = transformerSource(name, { model, tokenizer: model.tokenizer, bytes, title: title ?? called });
  if (source.about.reads === 'picture') {
    const look = await fetch(fileUrl(url, 'preprocessor_config.json'));
    source.look = look.ok ? await look.json() : {};
    source.pixels = drawnPixels(model.options.patch, source.look);
  }
  return source;
}

/** @param {any} hl @param {string} name @param {Given[]} files @param {any} how */
async function openCheckpoint(hl, name, files, { title, signal, onProgress }) {
  const bytes = files.filter(({ path }) => /\.safetensors$/.test(path)).reduce((sum, { file }) => sum + file.size, 0);
  const weights = bytes > FLOATS ? 'int8' : 'float32';
  const byName = Object.fromEntries(files.map(({ path, file }) => [baseOf(path), file]));
  const { all, missing: shards } = await shardsOf(byName);
  if (shards.length > 0) throw new Problem('shards', shards.length, all.length, shards.slice(0, 3).join(', '));
  let model;
  try {
    model = await hl.openModel(byName, {
      weights,
      signal,
      onProgress: ({ read, total }) => onProgress(read, total),
    });
  } catch (error) {
    throw await told(error, byName);
  }
  const parameters = [...model.weights.values()].reduce((sum, { shape }) => sum + countOf(shape), 0);
  if (model.options.input === 'audio' || model.options.encoder?.input === 'audio') {
    model.dispose();
    throw new Problem('sound', model.family);
  }
  // Files without a folder are called what config.json calls the model.
  const called = String(model.config._name_or_path || model.family)
    .split(/[\\/]/)
    .pop();
  const source = transformerSource(name, {
    model,
    tokenizer: model.tokenizer,
    bytes,
    title: files.some(({ path }) => path.includes('/')) ? title : called,
  });
  const missing = [];
  if (source.about.reads !== 'picture' && !model.tokenizer) missing.push('tokenizer');
  // A model that could fill a covered place, if it were known what covers it.
  if (source.about.guess === null && saysTokens(model)) missing.push('mask');
  if (source.about.reads === 'picture') {
    const given = byName['preprocessor_config.json'];
    source.look = given ? JSON.parse(await given.text()) : {};
    source.pixels = drawnPixels(model.options.patch, source.look);
    if (!given) missing.push('preprocessor');
  }
  return {
    source,
    told: { kind: 'transformer', weights, parameters, bytes, missing, nan: parameters < LOOKED ? nanIn(model) : [] },
  };
}

/**
 * The files that hold the weights, as the index or their own names say, and which of them are not there.
 * @param {Record<string, Blob>} files by name
 */
async function shardsOf(files) {
  const index = files['model.safetensors.index.json'];
  const named = index ? Object.values(parsed(await index.text())?.weight_map ?? {}).map(String) : numbered(files);
  const all = [...new Set(named)];
  return { all, missing: all.filter((name) => !Object.hasOwn(files, name)) };
}

/** What is wrong with a file is said by what reads it. @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** model-00001-of-00003.safetensors says how many there are. @param {Record<string, Blob>} files */
function numbered(files) {
  for (const name of Object.keys(files)) {
    const [, stem, digits] = /^(.+)-\d{5}-of-(\d{5})\.safetensors$/.exec(name) ?? [];
    if (stem && Number(digits) <= MOST_SHARDS)
      return Array.from(
        { length: Number(digits) },
        (_, i) => `${stem}-${String(i + 1).padStart(5, '0')}-of-${digits}.safetensors`,
      );
  }
  return [];
}

const countOf = (/** @type {readonly number[]} */ shape) => shape.reduce((a, b) => a * b, 1);

/** Names of parameters that hold NaN. @param {any} model */
const nanIn = ({ parameters }) =>
  Object.entries(parameters)
    .filter(([, { data }]) => data.some(Number.isNaN))
    .map(([name]) => name);

/** An error of openModel in words of the page. @param {any} error @param {Record<string, Blob>} files */
async function told(error, files) {
  if (error?.name === 'AbortError') return error;
  const { code, parameter, got } = error ?? {};
  if (parameter === 'model_type') {
    const found = await findIn(Object.entries(files).map(([path, file]) => ({ path, file })));
    const config = JSON.parse(await files['config.json'].text());
    const layers = layersIn(Object.fromEntries(found.tensors.map((tensor) => [tensor.name, tensor])), config);
    if (layers.length > 0) {
      const [{ numHeads, embedDim }] = layers;
      return new Problem('unknownLayers', String(got), layers.length, numHeads, embedDim);
    }
    return new Problem('unknownFamily', String(got));
  }
  if (code === 'MEMORY' || error instanceof RangeError) return new Problem('memory');
  return new Problem('checkpoint', String(error?.message ?? error).replace(/^openModel: /, ''));
}
