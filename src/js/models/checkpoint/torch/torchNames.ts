// Recognizes files of torch.save by their names, and finds the one with the weights.

import { HeadlightError } from '../../../check/errors.ts';
import { quoteNames } from '../../../check/quote.ts';

import type { Folder } from '../files.ts';

const TORCH_INDEX = 'pytorch_model.bin.index.json';
/** The usual names of files with weights, of Hugging Face and of nanoGPT. */
const USUAL = ['pytorch_model.bin', TORCH_INDEX, 'ckpt.pt'];
const TORCH = /\.(bin|pt|pth|ckpt)$/i;
const PART = /-\d{5}-of-\d{5}\.bin$/i;
/** Files with the state of a training run, not of the model. */
const STATE = /^(training_args|optimizer|scheduler|scaler|rng_state|random_states|trainer_state)/i;
const WEIGHTS = /\.(bin|pt|pth|ckpt|safetensors|gguf)(\.index\.json)?$/i;

export const isTorch = (name: string) => TORCH.test(name);

/** Returns the file with the weights, or the index of such files; undefined if there is none. */
export async function chooseTorch(folder: Folder) {
  for (const name of USUAL) if ((await folder.size(name)) !== null) return name;
  const files = folder.names?.filter((name) => isTorch(name) && !STATE.test(name)) ?? [];
  if (files.length < 2) return files[0];
  throw new HeadlightError(
    'FORMAT',
    `openModel: the folder has several files of PyTorch, ${quoteNames(files)}: open one of them by its own path`,
    { parameter: 'files', got: files },
  );
}

/** Returns the folder without the weights in other files. If the file is a part, the other parts remain. */
export function oneTorch(folder: Folder, file: string): Folder {
  const isPart = PART.test(file);
  const has = (name: string) =>
    name === file || !WEIGHTS.test(name) || (isPart && (name === TORCH_INDEX || PART.test(name)));
  const { hint, origin, stream, plan, complete } = folder;
  return {
    ...{ hint, origin },
    names: folder.names?.filter(has) ?? [file],
    size: async (name, required) => (has(name) ? folder.size(name, required) : null),
    read: (name, begin, end, buffer) => folder.read(name, begin, end, buffer),
    close: () => folder.close(),
    ...(stream && { stream }),
    ...(plan && { plan: (ranges) => plan.call(folder, ranges) }),
    ...(complete && { complete: () => complete.call(folder) }),
  };
}
