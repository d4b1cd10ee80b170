// Makes a transformer from weights that have been read, and adds everything else that its files contain.

import type { Memory } from '../../memory/memory.ts';
import type { ChatTemplates } from '../../text/chat/chatTemplate.ts';
import type { FixedLength } from '../../text/fixedLength.ts';
import type { Config } from '../families/common.ts';
import { configOfTower, PAIRS } from '../families/pairs.ts';
import type { Resolved } from '../options.ts';
import { encodePrompt } from '../results/encodePrompt.ts';
import { Transformer } from '../transformer.ts';
import type { Weight } from '../weights.ts';
import type { Container } from './containers.ts';
import type { Folder } from './files.ts';
import { readChatSource } from './folder/chatSource.ts';
import { readGeneration } from './folder/generationConfig.ts';
import { readInner } from './folder/innerFiles.ts';
import { readSentence } from './folder/sentenceTransformers.ts';
import type { ModelSource } from './open.ts';
import type { Plan } from './plan.ts';
import type { Storage } from './readWeights.ts';

/** step: number of learn() calls so far */
export function newModel(
  memory: Memory,
  { family, options, found, unread }: Plan,
  weights: Map<string, Weight>,
  step?: number,
) {
  const model = new Transformer(memory, options, weights, step);
  model.family = family.name;
  model.unread = unread;
  model.storedNames = new Map(found.map(({ name, names }) => [name, names[0]]));
  model.storedShapes = new Map(found.map(({ names, stored }) => [names[0], stored[0].shape]));
  return model;
}

/** Adds to a model its config, its tokenizer and its settings. */
export async function completeModel(
  model: Transformer,
  folder: Folder,
  container: Container,
  plan: Plan,
  storage: Storage,
) {
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

/** Returns the config of the model. If config.json describes two towers, it is the part for the opened tower. */
function configOf({ config }: Container, { family, options }: Plan): Config {
  const pair = PAIRS.get(config.model_type);
  if (!pair) return config;
  return configOfTower(config, family === pair.vision ? 'vision' : 'text', options.pooler === 'linear');
}

/**
 * Reads preprocessor_config.json. Version 5 of the library transformers writes its fields into processor_config.json.
 */
async function readPreprocessor(
  folder: Folder,
  { config }: Container,
  input: Resolved['input'],
): Promise<Config | undefined> {
  const part = input === 'patches' ? 'image_processor' : 'feature_extractor';
  const given =
    (await readInner(folder, 'preprocessor_config.json')) ?? (await readInner(folder, 'processor_config.json'))?.[part];
  if (!given || input !== 'patches') return given;
  const { withDefaults } = await import('../../io/picture/pictureFields.ts');
  return withDefaults(given, config.model_type);
}

async function addTokenizer(model: Transformer, folder: Folder, container: Container, { family, options }: Plan) {
  const config = model.config as Config;
  let fixed: FixedLength | undefined;
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

async function openLettersOf(folder: Folder, config: Config) {
  const { openLetters } = await import('./folder/lettersFiles.ts');
  return openLetters(folder, config);
}

/** Opens the chat templates, if the files have any. */
async function openChat(model: Transformer, { folder, chat }: Container): Promise<ChatTemplates | undefined> {
  const source = chat ?? (await readChatSource(folder));
  if (!source) return undefined;
  const { ChatTemplates } = await import('../../text/chat/chatTemplate.ts');
  const count = (text: string) => encodePrompt(model, text).length;
  return new ChatTemplates(source, { context: model.options.context, count });
}

async function describeSource(folder: Folder, { format, files }: Container, weights: Storage): Promise<ModelSource> {
  const sizes = await Promise.all(files.map(async (name) => ({ name, size: (await folder.size(name)) ?? 0 })));
  return { ...folder.origin, files: sizes, format, weights };
}
