// The open sources by name, as in state.model. The first request for a source opens it.

import { openSource } from './sources/sources.js';

/** @import { FetchFile, Hl, OnProgress, Source } from './sources/types.js' */

export class OpenSources {
  #core;
  #fetchFile;
  /** @type {Map<string, Promise<Source>>} */
  #sources = new Map();
  /** Abort controllers of the sources whose files are being read. @type {Map<string, AbortController>} */
  #readings = new Map();

  /** @param {() => Promise<Hl>} core @param {FetchFile} fetchFile */
  constructor(core, fetchFile) {
    this.#core = core;
    this.#fetchFile = fetchFile;
  }

  /** @param {string} name @param {OnProgress} onProgress @returns {Promise<Source>} */
  async get(name, onProgress) {
    const opened = this.#sources.get(name) ?? this.#open(name, onProgress);
    try {
      return await opened;
    } catch (error) {
      // The next request tries to open the source again.
      this.#sources.delete(name);
      throw error;
    }
  }

  /** @param {string} name @param {OnProgress} onProgress */
  #open(name, onProgress) {
    const reading = new AbortController();
    this.#readings.set(name, reading);
    const source = openSource(
      this.#core(),
      (file, onRead) => this.#fetchFile(file, onRead, reading.signal),
      name,
      onProgress,
    );
    this.#sources.set(name, source);
    return source;
  }

  /** @param {string} name @param {Promise<Source>} source */
  set(name, source) {
    this.#sources.set(name, source);
  }

  /** Sets a source and frees the one with the same name. @param {string} name @param {Promise<Source>} source */
  replace(name, source) {
    const before = this.#sources.get(name);
    this.#sources.set(name, source);
    before?.then((old) => old.dispose?.()).catch(() => {});
  }

  /** Frees a source, or stops reading it. @param {string} name */
  async close(name) {
    this.#readings.get(name)?.abort();
    const source = await this.#sources.get(name)?.catch(() => undefined);
    this.#sources.delete(name);
    source?.dispose?.();
  }
}
