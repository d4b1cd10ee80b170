// Reads the files of HeadVis: the files about all heads in the root folder, and a file for each head in heads/.

import { parseJson } from '../../io/json.ts';
import { type Folder, type ModelFiles, type OpenPath, openFolder } from '../../models/checkpoint/files.ts';
import { wrongFile } from './headvisErrors.ts';

const CALLER = 'readHeadvis';
const MAX_BYTES = 2 ** 28;
/** Maximum items of a list in a file. It suffices for all attention weights of a sequence of up to 4096 tokens. */
const MAX_ITEMS = 2 ** 24;

/** Reads JSON files of a folder and its subfolder. No file or folder stays open between two calls. */
export class HeadvisFolder {
  #files: ModelFiles;
  #openPath: OpenPath | undefined;
  #signal: AbortSignal | undefined;

  constructor(files: ModelFiles, openPath?: OpenPath, signal?: AbortSignal) {
    this.#files = files;
    this.#openPath = openPath;
    this.#signal = signal;
  }

  async read(folder: '' | 'heads', names: readonly string[]): Promise<unknown[]> {
    const opened = await this.#open(folder, names[0]);
    try {
      return await Promise.all(names.map((name) => readJson(opened, name, folder ? `${folder}/${name}` : name)));
    } finally {
      await opened.close();
    }
  }

  async #open(folder: '' | 'heads', name: string) {
    const open = async () => openFolder(CALLER, await filesIn(this.#files, folder), this.#openPath, this.#signal);
    if (folder === '') return open();
    try {
      return await open();
    } catch (cause) {
      throw wrongFile(`${folder}/${name}`, 'is missing', cause);
    }
  }
}

async function readJson(folder: Folder, name: string, shown: string) {
  const size = await folder.size(name, true);
  if (size === null) throw wrongFile(shown, 'is missing');
  const bytes = await folder.read(name, 0, Math.min(size, MAX_BYTES + 1));
  if (bytes.length > MAX_BYTES) throw wrongFile(shown, `has more than ${MAX_BYTES} bytes`);
  // A copy, because TextDecoder refuses shared memory.
  const text = new TextDecoder().decode(bytes.slice());
  return parseJson(text, (reason) => wrongFile(shown, `is not JSON as expected: ${reason}`), { maxItems: MAX_ITEMS });
}

/** Returns the files of the root folder or of a subfolder, in one of the forms that openFolder accepts. */
async function filesIn(files: ModelFiles, folder: '' | 'heads'): Promise<ModelFiles> {
  if (typeof files === 'string' || files instanceof URL) return folder === '' ? files : join(String(files), folder);
  if (files === null || typeof files !== 'object' || files instanceof Blob) return files;
  if ('getDirectoryHandle' in files)
    return folder === '' ? files : (files as FileSystemDirectoryHandle).getDirectoryHandle(folder);
  const isList = Array.isArray(files) || (typeof FileList !== 'undefined' && files instanceof FileList);
  const entries = isList
    ? [...(files as File[])].map((file) => [file?.webkitRelativePath || file?.name, file])
    : Object.entries(files);
  return inFolder(entries as [string, Blob][], folder);
}

function join(address: string, folder: string) {
  const isUrl = /^(https?|blob|data):/i.test(address);
  const [, place, rest] = (isUrl ? /^([^?#]*)(.*)$/s : /^(.*)()$/s).exec(address) as RegExpExecArray;
  return `${place.replace(/[\\/]+$/, '')}/${folder}${rest}`;
}

/** Returns the files in the folder of config.json, which may be any, or in a subfolder of it. */
function inFolder(entries: [string, Blob][], folder: string) {
  const known = entries.filter(([path]) => typeof path === 'string');
  const configs = known.filter(([path]) => /(^|\/)config\.json$/.test(path)).map(([path]) => path);
  const root = configs.sort((a, b) => a.length - b.length)[0]?.slice(0, -'config.json'.length) ?? '';
  const start = folder === '' ? root : `${root}${folder}/`;
  return Object.fromEntries(
    known
      .filter(([path]) => path.startsWith(start) && !path.slice(start.length).includes('/'))
      .map(([path, file]) => [path.slice(start.length), file]),
  );
}
