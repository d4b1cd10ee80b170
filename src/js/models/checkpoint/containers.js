// Opens a checkpoint in the format that the names of the files in its folder indicate. The result, a container,
// describes the model and its tensors, which have names as in Hugging Face and types as in safetensors. For a format
// with other names, types or orders, the container has its own folder, whose `read` and `stream` convert the tensors.

import { HeadlightError } from '../../check/errors.js';
import { quoteNames } from '../../check/quote.js';
import { chooseGguf } from './ggufParts.js';
import { openSafetensors } from './safetensors.js';
import { INDEX } from './shards.js';
import { readJson } from './smallFiles.js';
import { chooseTorch } from './torchNames.js';

/** @import { ChatSource } from '../../text/chat/chatTemplate.js' */
/** @import { FixedLength } from '../../text/fixedLength.js' */
/** @import { GgufValue } from '../../io/ggufCursor.js' */
/** @import { Tokenizer } from '../../text/tokenizer.js' */
/** @import { Config, Family } from '../families/common.js' */
/** @import { Folder } from './files.js' */
/** @import { Storage, Stored } from './readWeights.js' */

/**
 * @typedef {object} Container
 * @property {'safetensors' | 'gguf' | 'torch'} format
 * @property {Folder} folder folder from which the tensors are read, by whole rows except when two tensors are compared
 * @property {Config} config in the form of config.json
 * @property {Config} [generationConfig] in the form of generation_config.json
 * @property {Map<string, Stored>} tensors by name
 * @property {string[]} files names of the files with the tensors
 * @property {(fixed?: FixedLength) => Promise<{ tokenizer?: Tokenizer, missing?: string, file?: Uint8Array,
 *   keys?: Record<string, GgufValue> } | undefined>} openTokenizer
 *   fixed: the length to which all texts are cut or padded; missing: the reason why the tokenizer cannot be opened;
 *   file: tokenizer.json; keys: entries of GGUF metadata
 * @property {ChatSource} [chat] the chat templates, if they are not in files of their own
 * @property {Family} [family] family that reads the tensors; default: the family of config.model_type
 * @property {string} [describedBy] origin of the config, for error messages; default: config.json
 * @property {(name: string) => string} [nameOf] returns the name of a tensor in the files, for error messages
 */

const CALLER = 'openModel';
/** Endings of the names of files whose formats cannot be read. */
const OTHERS = /\.(h5|onnx|msgpack)$/;

/** @param {Folder} folder @param {Storage} storage of the weights @returns {Promise<Container>} */
export async function openContainer(folder, storage) {
  for (const file of ['model.safetensors', INDEX])
    if ((await folder.size(file)) !== null) return openSafetensors(folder, file);
  const single = folder.names?.filter((name) => name.endsWith('.safetensors')) ?? [];
  if (single.length === 1) return openSafetensors(folder, single[0]);
  const torch = await chooseTorch(folder);
  if (torch !== undefined) {
    const { openTorch } = await import('./torch.js');
    return openTorch(folder, torch);
  }
  const gguf = chooseGguf(folder.names ?? []);
  if (gguf !== undefined) {
    const { openGguf } = await import('./gguf.js');
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
