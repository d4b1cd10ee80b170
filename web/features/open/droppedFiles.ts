// Reads files and texts that a visitor drops, pastes or chooses.

import type { Session } from '../../store/session.ts';
/** path: name of the file with its folders, if they are known */
export type PathFile = { path: string; file: File };

export const withPath = (file: File): PathFile => ({ path: file.webkitRelativePath || file.name, file });

/** Maximum number of files that are read from a folder. */
const MAX_FILES = 5000;

/** Returns all files of a dropped folder. */
export async function filesIn(entry: FileSystemEntry, path = ''): Promise<PathFile[]> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return [{ path: path + file.name, file }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const all = [];
  for (;;) {
    // Each call of readEntries returns some of the entries; the last call returns none.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) break;
    for (const one of some) all.push(...(await filesIn(one, `${path}${entry.name}/`)));
    if (all.length > MAX_FILES) break;
  }
  return all;
}

/** Opens a text as a file or, while weights are shown, a JSON list of texts as the names of their tokens. */
export function openText(session: Session, text: string) {
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
