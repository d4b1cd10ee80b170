// Finds the model and its title in files that a visitor selects together.

/** @typedef {{ path: string, file: Blob }} SelectedFile */

/** Maximum files of a selection. No model has more files. */
export const MAX_FILES = 400;

const WEIGHTS = /\.(safetensors|gguf|bin|pth?|ckpt|onnx|h5|msgpack)$/i;
const SOUND = /\.(wav|mp3|flac|ogg|oga|opus|m4a|aac)$/i;
/** Returns the path of the folder of a file. @param {string} path */
const folderOf = (path) => path.slice(0, path.lastIndexOf('/') + 1);

/** Returns the file whose path has the fewest folders. @param {SelectedFile[]} files */
const topmost = (files) => files.reduce((a, b) => (a.path.split('/').length <= b.path.split('/').length ? a : b));

/** Returns the folder of the topmost file, else the first file name with an extension. @param {SelectedFile[]} files */
export function titleOf(files) {
  const { path } = topmost(files);
  const folder = path.split('/').slice(0, -1).pop();
  return folder ?? files.find(({ path }) => /\./.test(path))?.path ?? path;
}

/** Returns the files of the model, or if there are several models, of the topmost. @param {SelectedFile[]} files */
export function filesOfOneModel(files) {
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

/** Returns true for a HeadVis folder, which has a file for each head. @param {SelectedFile[]} files */
export const isFolderOfHeads = (files) => files.some(({ path }) => /(^|\/)scatter_data\.json$/.test(path));

/** @param {SelectedFile[]} files */
export const isSound = (files) =>
  files.length === 1 && (files[0].file.type.startsWith('audio/') || SOUND.test(files[0].path));

/** @param {SelectedFile[]} files */
export const isPicture = (files) => files.length === 1 && files[0].file.type.startsWith('image/');
