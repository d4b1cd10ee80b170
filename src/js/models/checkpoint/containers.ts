// Opens a checkpoint in the format that the names of its files indicate. The result, a container, describes the model
// and its tensors, named as in Hugging Face and typed as in safetensors; if the format differs, its own folder converts
// them.

import { HeadlightError } from '../../check/errors.ts';
import { quoteNames } from '../../check/quote.ts';
import type { GgufValue } from '../../io/ggufCursor.ts';
import type { ChatSource } from '../../text/chat/chatTemplate.ts';
import type { FixedLength } from '../../text/fixedLength.ts';
import type { Tokenizer } from '../../text/tokenizer.ts';
import type { Config, Family } from '../families/common.ts';
import type { Folder } from './files.ts';
import { openSafetensors } from './folder/safetensors.ts';
import { INDEX } from './folder/shards.ts';
import { readJson } from './folder/smallFiles.ts';
import { chooseGguf } from './gguf/ggufParts.ts';
import type { Storage, Stored } from './readWeights.ts';
import { chooseTorch } from './torch/torchNames.ts';

export type Container = {
  format: 'safetensors' | 'gguf' | 'torch';
  /** folder from which the tensors are read, by whole rows except when two tensors are compared */
  folder: Folder;
  /** in the form of config.json */
  config: Config;
  /** in the form of generation_config.json */
  generationConfig?: Config | undefined;
  tensors: Map<string, Stored>;
  files: string[];
  /**
   * fixed: length to which all texts are cut or padded; missing: why there is no tokenizer; file: tokenizer.json; keys:
   * of GGUF
   */
  openTokenizer: (
    fixed?: FixedLength,
  ) => Promise<
    { tokenizer?: Tokenizer; missing?: string; file?: Uint8Array; keys?: Record<string, GgufValue> } | undefined
  >;
  /** the chat templates, if they are not in files of their own */
  chat?: ChatSource | undefined;
  /** family that reads the tensors; default: the family of config.model_type */
  family?: Family | undefined;
  /** origin of the config, for error messages; default: config.json */
  describedBy?: string | undefined;
  /** name in the files, for errors */
  nameOf?: ((name: string) => string) | undefined;
};

const CALLER = 'openModel';
const OTHERS = /\.(h5|onnx|msgpack)$/;

export async function openContainer(folder: Folder, storage: Storage): Promise<Container> {
  for (const file of ['model.safetensors', INDEX])
    if ((await folder.size(file)) !== null) return openSafetensors(folder, file);
  const single = folder.names?.filter((name) => name.endsWith('.safetensors')) ?? [];
  if (single.length === 1) return openSafetensors(folder, single[0]);
  const torch = await chooseTorch(folder);
  if (torch !== undefined) {
    const { openTorch } = await import('./torch/torch.ts');
    return openTorch(folder, torch);
  }
  const gguf = chooseGguf(folder.names ?? []);
  if (gguf !== undefined) {
    const { openGguf } = await import('./gguf/gguf.ts');
    return openGguf(folder, gguf, storage);
  }
  // readJson throws if config.json is missing as well, because then the address is not that of a model.
  await readJson(folder, 'config.json');
  const others = folder.names?.filter((name) => OTHERS.test(name)) ?? [];
  const hint = others.length > 0 ? `; ${quoteNames(others)} cannot be read: save the model as safetensors` : '';
  throw new HeadlightError('FORMAT', `${CALLER}: there is no model.safetensors and no ${INDEX}${hint}`, {
    parameter: 'model.safetensors',
  });
}
