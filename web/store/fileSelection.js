// Files that a visitor selects together: the model that they belong to and its title.

/** @typedef {{ path: string, file: Blob }} SelectedFile */

/** Selections of more files are refused: a model does not have so many files. */
export const MAX_FILES = 400;

/** The folder that contains all files, or the name of the first file with an ending. @param {SelectedFile[]} files */
export function titleOf(files) {
  const [{ path }] = files;
  const folder = path.split('/').slice(0, -1).pop();
  return folder ?? files.find(({ path }) => /\./.test(path))?.path ?? path;
}

/** The files of one model: of several in a folder, the one nearest to its top. @param {SelectedFile[]} files */
export function filesOfOneModel(files) {
  const configs = files.filter(({ path }) => /(^|\/)config\.json$/.test(path));
  if (configs.length < 2 || isFolderOfHeads(files)) return files;
  const shortest = configs.reduce((a, b) => (a.path.split('/').length <= b.path.split('/').length ? a : b));
  const folder = shortest.path.slice(0, -'config.json'.length);
  return files.filter(({ path }) => path.startsWith(folder) && !path.slice(folder.length).includes('/'));
}

/** A folder of HeadVis has a file for each head. @param {SelectedFile[]} files */
export const isFolderOfHeads = (files) => files.some(({ path }) => /(^|\/)scatter_data\.json$/.test(path));

/** @param {SelectedFile[]} files */
export const isPicture = (files) => files.length === 1 && files[0].file.type.startsWith('image/');
