// Sends the visitor's files to the worker. Holds the reading in progress, the problem, and the panel that shows both.

import { signal } from '@preact/signals';
import { isIncomplete, joined } from '../features/open/addedFiles.js';
import { filesOfOneModel, isFolderOfHeads, MAX_FILES, titleOf } from './fileSelection.js';
import { readOnly } from './readOnly.js';

/** @import { SelectedFile } from './fileSelection.js' */
/** @import { ProblemValue } from './protocol.js' */
/** @typedef {'choose' | 'summary' | null} Panel null is closed */
/**
 * A reading in progress; sizes in bytes. resumes: true if the next attempt continues a cancelled one.
 * @typedef {{ title: string, read: number, total: number, resumes?: boolean }} Reading
 */
/** @typedef {{ code: string, values: ProblemValue[], message?: string }} FileProblem code: a key of words.problems */

/** @param {import('./requests.js').Requests} requests */
export function createFileReader(requests) {
  const reading = signal(/** @type {Reading | null} */ (null));
  const problem = signal(/** @type {FileProblem | null} */ (null));
  const panel = signal(/** @type {Panel} */ (null));
  let count = 0;
  /** Files of the last attempt, and files of an incomplete model. @type {[SelectedFile[], SelectedFile[]]} */
  let [last, partial] = [[], []];

  /** @param {Omit<Reading, 'read'>} started */
  function begin(started) {
    problem.value = null;
    reading.value = { ...started, read: 0 };
  }
  /** @param {SelectedFile[]} files @param {string} title @param {boolean} [transposed] */
  function start(files, title, transposed = false) {
    begin({ title, total: files.reduce((sum, { file }) => sum + file.size, 0) });
    requests.send({ verb: 'open', name: `opened-${++count}`, title, files, transposed });
  }
  /** @param {FileProblem} found */
  function report(found) {
    problem.value = found;
    panel.value = 'choose';
  }

  const actions = {
    /** The progress of reading the files; null if none are being read. */
    reading: readOnly(reading),
    problem: readOnly(problem),
    panel: readOnly(panel),
    /** @param {Panel} shown */
    setPanel(shown) {
      panel.value = shown;
    },
    /** Opens the files of the last attempt with the last two axes of their weights exchanged. */
    transpose: () => start(last, titleOf(last), true),
    cancel() {
      reading.value = null;
      requests.cancel('open');
      requests.cancel('hubOpen');
    },
    /** @param {{ message: string } & Partial<FileProblem>} error */
    failed({ message, code = 'other', values = [] }) {
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
    /** @param {{ read: number, total: number }} progress */
    setProgress({ read, total }) {
      if (reading.value) reading.value = { ...reading.value, read, total };
    },
    /** Returns true if the number of files is allowed; otherwise shows the problem. @param {SelectedFile[]} files */
    accepts(files) {
      const { length } = files;
      if ((length > 0 && length <= MAX_FILES) || isFolderOfHeads(files)) return true;
      report(length === 0 ? { code: 'noFiles', values: [] } : { code: 'manyFiles', values: [length, MAX_FILES] });
      return false;
    },
    /** Opens files as one model, together with the files of the last attempt if these were an incomplete model. */
    open(/** @type {SelectedFile[]} */ files, /** @type {string | undefined} */ title) {
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
/** @typedef {ReturnType<typeof createFileReader>} FileReader */
