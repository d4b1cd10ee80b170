// Files and texts that a visitor gives.

/** A file, with the folders that it lies in. @param {any} file */
export const withPath = (file) => ({ path: file.webkitRelativePath || file.name, file });

/** All files of a dropped folder. */
export async function filesIn(entry, path = '') {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ path: path + file.name, file }];
  }
  const reader = entry.createReader();
  const all = [];
  for (;;) {
    // A reader hands out some entries at a time.
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) break;
    for (const one of some) all.push(...(await filesIn(one, `${path}${entry.name}/`)));
    if (all.length > 1000) break;
  }
  return all;
}

/** A list of texts names tokens; everything else is a file like any other. */
export function openText(session, text) {
  let json = null;
  try {
    json = JSON.parse(text);
  } catch {
    // It is said when the file is read.
  }
  const texts = Array.isArray(json) && json.length > 0 && json.every((x) => typeof x === 'string');
  if (texts && session.about.value?.kind === 'weights') {
    session.opening.setPanel(null);
    return session.opening.nameTokens(json);
  }
  const words = session.words.value;
  session.opening.open([{ path: 'pasted.json', file: new File([text], 'pasted.json') }], words.open.pasted);
}
