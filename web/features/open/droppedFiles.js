// Reads files and texts that a visitor drops, pastes or chooses.

/** @import { Session } from '../../store/session.js' */
/** @typedef {{ path: string, file: File }} PathFile path: name of the file with its folders, if they are known */

/** @param {File} file @returns {PathFile} */
export const withPath = (file) => ({ path: file.webkitRelativePath || file.name, file });

/** Maximum number of files that are read from a folder. */
const MAX_FILES = 5000;

/** Returns all files of a dropped folder. @param {any} entry @returns {Promise<PathFile[]>} */
export async function filesIn(entry, path = '') {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ path: path + file.name, file }];
  }
  const reader = entry.createReader();
  const all = [];
  for (;;) {
    // Each call of readEntries returns some of the entries; the last call returns none.
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) break;
    for (const one of some) all.push(...(await filesIn(one, `${path}${entry.name}/`)));
    if (all.length > MAX_FILES) break;
  }
  return all;
}

/**
 * Opens a pasted text. If weights are shown, a JSON list of texts becomes the names of their tokens. Any other text is
 * opened as a file.
 * @param {Session} session
 * @param {string} text
 */
export function openText(session, text) {
  let json = null;
  try {
    json = JSON.parse(text);
  } catch {
    // A text that is not JSON is opened as a file, which reports the error.
  }
  const texts = Array.isArray(json) && json.length > 0 && json.every((x) => typeof x === 'string');
  if (texts && session.about.value?.kind === 'weights') {
    session.opening.setPanel(null);
    return session.opening.nameTokens(json);
  }
  const words = session.words.value;
  session.opening.open([{ path: 'pasted.json', file: new File([text], 'pasted.json') }], words.open.pasted);
}
