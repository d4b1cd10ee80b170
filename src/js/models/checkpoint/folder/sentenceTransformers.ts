// Reads the settings of sentence-transformers. modules.json lists the steps after the model.

import { quote } from '../../../check/quote.ts';
import type { Pooling, SentenceSettings } from '../../results/embedTexts.ts';

import type { Folder } from '../files.ts';
import { readInner } from './innerFiles.ts';

export type Fields = Record<string, any>;

/** The ways of pooling, by the fields of 1_Pooling/config.json. */
const POOLINGS: Record<string, Pooling> = {
  pooling_mode_mean_tokens: 'mean',
  pooling_mode_cls_token: 'first',
  pooling_mode_lasttoken: 'last',
  pooling_mode_max_tokens: 'max',
};
/** The ways of pooling, by the value of pooling_mode, the only field in newer files. */
const POOLING_MODES: Record<string, Pooling> = { mean: 'mean', cls: 'first', lasttoken: 'last', max: 'max' };

export async function readSentence(folder: Folder): Promise<SentenceSettings | undefined> {
  const modules = await readInner(folder, 'modules.json');
  if (!Array.isArray(modules)) return undefined;
  const encoder = (await readInner(folder, 'sentence_bert_config.json')) ?? {};
  const prompts = (await readInner(folder, 'config_sentence_transformers.json')) ?? {};
  const settings: SentenceSettings = {
    normalize: false,
    prompt: prompts.prompts?.[prompts.default_prompt_name] ?? '',
    ...(Number.isInteger(encoder.max_seq_length) && { maxLength: encoder.max_seq_length }),
  };
  for (const module of modules) {
    const kind = String(module?.type).split('.').at(-1);
    if (kind === 'Normalize') settings.normalize = true;
    else if (kind === 'Pooling') readPooling(settings, (await readInner(folder, `${module.path}/config.json`)) ?? {});
    else if (kind !== 'Transformer') settings.unsupported ??= `a module ${quote(module?.type)}`;
  }
  return settings;
}

function readPooling(settings: SentenceSettings, config: Fields) {
  const modes = Object.keys(config).filter((name) => name.startsWith('pooling_mode_') && config[name] === true);
  const pooling = config.pooling_mode ? POOLING_MODES[config.pooling_mode] : POOLINGS[modes[0]];
  const mode = config.pooling_mode ?? modes.join(' and ');
  if (modes.length > 1 || !pooling) settings.unsupported ??= `the pooling ${quote(mode)}`;
  else settings.pooling = pooling;
  if (config.include_prompt === false && settings.prompt) settings.unsupported ??= 'a pooling without the prompt';
}
