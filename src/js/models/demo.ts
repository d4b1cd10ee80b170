// The model in the package: a small language model that was trained on Moby-Dick.

import { HeadlightError } from '../check/errors.ts';
import type { Memory } from '../memory/memory.ts';
import { type Folder, openFile, openFolder } from './checkpoint/files.ts';
import type { Environment } from './checkpoint/open.ts';
import type { Storage } from './checkpoint/readWeights.ts';
import { openSavedModel } from './checkpoint/savedModel.ts';

const BRACE = '{'.charCodeAt(0);
const [WEIGHTS, TOKENIZER] = ['whale.safetensors', 'whale.tokenizer.json'];

export async function openDemo(
  caller: string,
  memory: Memory,
  environment: Environment,
  {
    storage,
    layers,
    signal,
    onProgress,
  }: {
    storage: Storage;
    layers?: number;
    signal?: AbortSignal;
    onProgress?: (progress: { read: number; total: number; name: string }) => void;
  },
) {
  const [bytes, tokenizer] = await readDemoFiles(caller, environment, signal);
  signal?.throwIfAborted();
  const model = openSavedModel(memory, bytes, tokenizer, { storage, layers });
  onProgress?.({ read: bytes.length, total: bytes.length, name: WEIGHTS });
  return model;
}

async function readDemoFiles(caller: string, { module, openPath }: Environment, signal?: AbortSignal) {
  const bundled = openPath ? undefined : await readBundled(caller);
  if (bundled) return bundled;
  signal?.throwIfAborted();
  let folder: Folder | undefined;
  try {
    // A bundler may have replaced the address of the module by its path on the disk of the build machine.
    const base = openPath || /^https?:/.test(module ?? '') ? module : globalThis.location?.href;
    if (!base) throw new Error("import 'headlight-attention', which reads files");
    folder = await openFolder(caller, new URL('.', base), openPath, signal);
    return [await readWhole(folder, WEIGHTS), await readWhole(folder, TOKENIZER)];
  } catch (cause) {
    signal?.throwIfAborted();
    const advice = `copy ${WEIGHTS} and ${TOKENIZER} from headlight-attention/dist to the folder of the module`;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HeadlightError('LOAD', `${caller}: the demo is not in the folder of the module: ${advice} (${reason})`, {
      parameter: 'files',
      cause,
    });
  } finally {
    await folder?.close();
  }
}

/**
 * Reads the files where a bundler has put them, which looks for addresses of this form. Without a bundler they are
 * those of the package. Returns undefined if they are not there.
 */
async function readBundled(caller: string) {
  // The build of the view's worker, which is in another folder and reads these files itself, sets this to true.
  if ((globalThis as any).HEADLIGHT_WITHOUT_DEMO) return undefined;
  const urls = [new URL('../whale.safetensors', import.meta.url), new URL('../whale.tokenizer.json', import.meta.url)];
  if (!urls.every(({ protocol }) => /^https?:$/.test(protocol))) return undefined;
  try {
    const found = [];
    for (const url of urls) {
      const { folder, name } = await openFile(caller, url);
      found.push(await readWhole(folder, name));
    }
    const [weights, tokenizer] = found;
    // Many servers answer with a page if there is no such file. Both files have JSON: the weights after eight bytes.
    return weights[8] === BRACE && tokenizer[0] === BRACE ? found : undefined;
  } catch {
    return undefined;
  }
}

async function readWhole(folder: Folder, name: string) {
  const size = await folder.size(name, true);
  if (size === null) throw new Error(`there is no ${name}`);
  return folder.read(name, 0, size);
}
