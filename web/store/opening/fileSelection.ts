// Finds the model and its title in files that a visitor selects together.

export type SelectedFile = { path: string; file: Blob };

export const MAX_FILES = 400;

const WEIGHTS = /\.(safetensors|gguf|bin|pth?|ckpt|onnx|h5|msgpack)$/i;
const SOUND = /\.(wav|mp3|flac|ogg|oga|opus|m4a|aac)$/i;
/** Returns the path of the folder of a file. */
const folderOf = (path: string) => path.slice(0, path.lastIndexOf('/') + 1);

/** Returns the file whose path has the fewest folders. */
const topmost = (files: SelectedFile[]) =>
  files.reduce((a, b) => (a.path.split('/').length <= b.path.split('/').length ? a : b));

/** Returns the folder of the topmost file, else the first file name with an extension. */
export function titleOf(files: SelectedFile[]) {
  const { path } = topmost(files);
  const folder = path.split('/').slice(0, -1).pop();
  return folder ?? files.find(({ path }) => /\./.test(path))?.path ?? path;
}

/** Returns the files of the model, or if there are several models, of the topmost. */
export function filesOfOneModel(files: SelectedFile[]) {
  const configs = files.filter(({ path }) => /(^|\/)config\.json$/.test(path));
  if (configs.length < 2 || isFolderOfHeads(files)) return files;
  const folder = folderOf(topmost(configs).path);
  // A subfolder without weights, such as 1_Pooling, contains settings of the model in the folder above.
  const others = new Set(files.filter(({ path }) => WEIGHTS.test(path)).map(({ path }) => folderOf(path)));
  return files.filter(({ path }) => {
    const inner = folderOf(path);
    return inner === folder || (inner.startsWith(folder) && !others.has(inner));
  });
}

/** Returns true for a HeadVis folder, which has a file for each head. */
export const isFolderOfHeads = (files: SelectedFile[]) =>
  files.some(({ path }) => /(^|\/)scatter_data\.json$/.test(path));

export const isSound = (files: SelectedFile[]) =>
  files.length === 1 && (files[0].file.type.startsWith('audio/') || SOUND.test(files[0].path));

export const isPicture = (files: SelectedFile[]) => files.length === 1 && files[0].file.type.startsWith('image/');
