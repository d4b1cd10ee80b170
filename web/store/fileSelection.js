// Files that a visitor selects together: the model that they belong to and its title.

/** @typedef {{ path: string, file: Blob }} SelectedFile */

/** Selections of more files are refused: a model does not have so many files. */
export const MAX_FILES = 400;

const WEIGHTS = /\.(safetensors|gguf|bin|pth?|ckpt|onnx|h5|msgpack)$/i;
const SOUND = /\.(wav|mp3|flac|ogg|oga|opus|m4a|aac)$/i;
/** The path of a file without its name. @param {string} path */
const folderOf = (path) => path.slice(0, path.lastIndexOf('/') + 1);

/** The file in the fewest folders. @param {SelectedFile[]} files */
const topmost = (files) => files.reduce((a, b) => (a.path.split('/').length <= b.path.split('/').length ? a : b));

/** The folder that contains all files, or the name of the first file with an ending. @param {SelectedFile[]} files */
export function titleOf(files) {
  const { path } = topmost(files);
  const folder = path.split('/').slice(0, -1).pop();
  return folder ?? files.find(({ path }) => /\./.test(path))?.path ?? path;
}

/** The files of one model: of several in a folder, the one nearest to its top. @param {SelectedFile[]} files */
export function filesOfOneModel(files) {
  const configs = files.filter(({ path }) => /(^|\/)config\.json$/.test(path));
  if (configs.length < 2 || isFolderOfHeads(files)) return files;
  const folder = folderOf(topmost(configs).path);
  // A folder inside without weights has settings of this model, such as 1_Pooling.
  const others = new Set(files.filter(({ path }) => WEIGHTS.test(path)).map(({ path }) => folderOf(path)));
  return files.filter(({ path }) => {
    const inner = folderOf(path);
    return inner === folder || (inner.startsWith(folder) && !others.has(inner));
  });
}

/** A folder of HeadVis has a file for each head. @param {SelectedFile[]} files */
export const isFolderOfHeads = (files) => files.some(({ path }) => /(^|\/)scatter_data\.json$/.test(path));

/** @param {SelectedFile[]} files */
export const isSound = (files) =>
  files.length === 1 && (files[0].file.type.startsWith('audio/') || SOUND.test(files[0].path));

/** @param {SelectedFile[]} files */
export const isPicture = (files) => files.length === 1 && files[0].file.type.startsWith('image/');
