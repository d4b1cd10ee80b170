// Sends the visitor's files to the worker. Holds the reading in progress, the problem, and the panel that shows both.

import { signal } from '@preact/signals';
import { isIncomplete, joined } from '../../model/addedFiles.ts';
import type { ProblemValue } from '../../model/protocol/protocol.ts';
import { readOnly } from '../readOnly.ts';
import type { Requests } from '../requests.ts';
import { filesOfOneModel, isFolderOfHeads, MAX_FILES, type SelectedFile, titleOf } from './fileSelection.ts';
/** null is closed */
export type Panel = 'choose' | 'summary' | null;
export type Reading = { title: string; read: number; total: number; resumes?: boolean };
/** code: a key of words.problems */
export type FileProblem = { code: string; values: ProblemValue[]; message?: string };

export function createFileReader(requests: Requests) {
  const reading = signal(null as Reading | null);
  const problem = signal(null as FileProblem | null);
  const panel = signal(null as Panel);
  let count = 0;
  /** Files of the last attempt, and files of an incomplete model. */
  let [last, partial]: [SelectedFile[], SelectedFile[]] = [[], []];

  function begin(started: Omit<Reading, 'read'>) {
    problem.value = null;
    reading.value = { ...started, read: 0 };
  }
  function start(files: SelectedFile[], title: string, transposed = false) {
    begin({ title, total: files.reduce((sum, { file }) => sum + file.size, 0) });
    requests.send({ verb: 'open', name: `opened-${++count}`, title, files, transposed });
  }
  function report(found: FileProblem) {
    problem.value = found;
    panel.value = 'choose';
  }

  const actions = {
    /** The progress of reading the files; null if none are being read. */
    reading: readOnly(reading),
    problem: readOnly(problem),
    panel: readOnly(panel),
    setPanel(shown: Panel) {
      panel.value = shown;
    },
    /** Opens the files of the last attempt with the last two axes of their weights exchanged. */
    transpose: () => start(last, titleOf(last), true),
    cancel() {
      reading.value = null;
      requests.cancel('open');
      requests.cancel('hubOpen');
    },
    failed({ message, code = 'other', values = [] }: { message: string } & Partial<FileProblem>) {
      reading.value = null;
      if (isIncomplete(code)) partial = last;
      report({ code, values, message });
    },
  };

  return {
    actions,
    begin,
    report,
    clearProblem() {
      problem.value = null;
    },
    setProgress({ read, total }: { read: number; total: number }) {
      if (reading.value) reading.value = { ...reading.value, read, total };
    },
    /** Returns true if the number of files is allowed; otherwise shows the problem. */
    accepts(files: SelectedFile[]) {
      const { length } = files;
      if ((length > 0 && length <= MAX_FILES) || isFolderOfHeads(files)) return true;
      report(length === 0 ? { code: 'noFiles', values: [] } : { code: 'manyFiles', values: [length, MAX_FILES] });
      return false;
    },
    /** Opens files as one model, together with the files of the last attempt if these were an incomplete model. */
    open(files: SelectedFile[], title: string | undefined) {
      last = filesOfOneModel(joined(partial, files));
      start(last, title ?? titleOf(last));
    },
    /** Ends the reading, because the files have become a model. */
    finish() {
      reading.value = null;
      problem.value = null;
      partial = [];
    },
    stop() {
      reading.value = null;
    },
  };
}
export type FileReader = ReturnType<typeof createFileReader>;
