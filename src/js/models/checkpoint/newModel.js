// Makes a transformer from weights that have been read, and adds everything else that its files contain.

import { configOfTower, PAIRS } from '../families/pairs.js';
import { encodePrompt } from '../results/encodePrompt.js';
import { Transformer } from '../transformer.js';
import { readChatSource } from './chatSource.js';
import { readGeneration } from './generationConfig.js';
import { readInner } from './innerFiles.js';
import { readSentence } from './sentenceTransformers.js';

/** @import { ChatTemplates } from '../../text/chat/chatTemplate.js' */
/** @import { FixedLength } from '../../text/fixedLength.js' */
/** @import { Memory } from '../../memory/memory.js' */
/** @import { Config } from '../families/common.js' */
/** @import { Folder } from './files.js' */
/** @import { Resolved } from '../options.js' */
/** @import { Weight } from '../weights.js' */
/** @import { Container } from './containers.js' */
/** @import { ModelSource } from './open.js' */
/** @import { Plan } from './plan.js' */
/** @import { Storage } from './readWeights.js' */

/**
 * @param {Memory} memory
 * @param {Plan} plan
 * @param {Map<string, Weight>} weights
 * @param {number} [step] number of learn() calls so far
 */
export function newModel(memory, { family, options, found, unread }, weights, step) {
  const model = new Transformer(memory, options, weights, step);
  model.family = family.name;
  model.unread = unread;
  model.storedNames = new Map(found.map(({ name, names }) => [name, names[0]]));
  model.storedShapes = new Map(found.map(({ names, stored }) => [names[0], stored[0].shape]));
  return model;
}

/**
 * Adds to a model its config, its tokenizer and its settings.
 * @param {Transformer} model
 * @param {Folder} folder
 * @param {Container} container
 * @param {Plan} plan
 * @param {Storage} storage
 */
export async function completeModel(model, folder, container, plan, storage) {
  const { generationConfig } = container;
  model.config = configOf(container, plan);
  model.generation = readGeneration(container.config, generationConfig);
  model.generationConfig = generationConfig;
  model.sentence = await readSentence(folder);
  model.chatTemplates = await openChat(model, container);
  const input = (plan.options.encoder ?? plan.options).input;
  if (input !== 'tokens') model.preprocessor = await readPreprocessor(folder, container, input);
  const letters = plan.options.input === 'sound' && (await openLettersOf(folder, container.config));
  await folder.complete?.();
  model.source = await describeSource(folder, container, storage);
  if (letters) model.tokenizer = letters;
  else if (PAIRS.get(container.config.model_type)?.vision !== plan.family)
    await addTokenizer(model, folder, container, plan);
}

/**
 * Returns the config of the model. If config.json describes two towers, it is the part for the opened tower.
 * @param {Container} container
 * @param {Plan} plan
 * @returns {Config}
 */
function configOf({ config }, { family, options }) {
  const pair = PAIRS.get(config.model_type);
  if (!pair) return config;
  return configOfTower(config, family === pair.vision ? 'vision' : 'text', options.pooler === 'linear');
}

/**
 * Reads preprocessor_config.json. Version 5 of the library transformers writes its fields into processor_config.json.
 * @param {Folder} folder
 * @param {Container} container
 * @param {Resolved['input']} input
 * @returns {Promise<Config | undefined>}
 */
async function readPreprocessor(folder, { config }, input) {
  const part = input === 'patches' ? 'image_processor' : 'feature_extractor';
  const given =
    (await readInner(folder, 'preprocessor_config.json')) ?? (await readInner(folder, 'processor_config.json'))?.[part];
  if (!given || input !== 'patches') return given;
  const { withDefaults } = await import('../../io/picture/pictureFields.js');
  return withDefaults(given, config.model_type);
}

/**
 * @param {Transformer} model
 * @param {Folder} folder
 * @param {Container} container
 * @param {Plan} plan
 */
async function addTokenizer(model, folder, container, { family, options }) {
  const config = /** @type {Config} */ (model.config);
  /** @type {FixedLength | undefined} */
  let fixed;
  if (family.fixedLength) {
    const { pad_token: pad } = (await readInner(folder, 'tokenizer_config.json')) ?? {};
    fixed = { length: options.context, pad: pad?.content ?? pad, padId: config.pad_token_id ?? 1 };
  }
  const text = await container.openTokenizer(fixed);
  model.tokenizer = text?.tokenizer;
  model.tokenizerProblem = text?.missing;
  model.tokenizerFile = text?.file;
  model.tokenizerKeys = text?.keys;
  const padId = fixed?.pad === undefined ? undefined : text?.tokenizer?.idOf(fixed.pad);
  if (padId !== undefined) model.config = { ...config, pad_token_id: padId };
}

/** Opens the letters of a speech model. @param {Folder} folder @param {Config} config */
async function openLettersOf(folder, config) {
  const { openLetters } = await import('./lettersFiles.js');
  return openLetters(folder, config);
}

/**
 * Opens the chat templates, if the files have any.
 * @param {Transformer} model
 * @param {Container} container
 * @returns {Promise<ChatTemplates | undefined>}
 */
async function openChat(model, { folder, chat }) {
  const source = chat ?? (await readChatSource(folder));
  if (!source) return undefined;
  const { ChatTemplates } = await import('../../text/chat/chatTemplate.js');
  const count = (/** @type {string} */ text) => encodePrompt(model, text).length;
  return new ChatTemplates(source, { context: model.options.context, count });
}

/**
 * @param {Folder} folder
 * @param {Container} container
 * @param {Storage} weights
 * @returns {Promise<ModelSource>}
 */
async function describeSource(folder, { format, files }, weights) {
  const sizes = await Promise.all(files.map(async (name) => ({ name, size: (await folder.size(name)) ?? 0 })));
  return { ...folder.origin, files: sizes, format, weights };
}
