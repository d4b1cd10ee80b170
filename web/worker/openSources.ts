// The open sources by name, as in state.model. The first request for a source opens it.

import { openSource } from './sources/sources.ts';

import type { FetchFile, Hl, OnProgress, Source } from './sources/types.ts';

export class OpenSources {
  #core: () => Promise<Hl>;
  #fetchFile: FetchFile;
  #sources: Map<string, Promise<Source>> = new Map();
  /** Abort controllers of the sources whose files are being read. */
  #readings: Map<string, AbortController> = new Map();

  constructor(core: () => Promise<Hl>, fetchFile: FetchFile) {
    this.#core = core;
    this.#fetchFile = fetchFile;
  }

  async get(name: string, onProgress: OnProgress): Promise<Source> {
    const opened = this.#sources.get(name) ?? this.#open(name, onProgress);
    try {
      return await opened;
    } catch (error) {
      // The next request tries to open the source again.
      this.#sources.delete(name);
      throw error;
    }
  }

  #open(name: string, onProgress: OnProgress) {
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

  set(name: string, source: Promise<Source>) {
    this.#sources.set(name, source);
  }

  replace(name: string, source: Promise<Source>) {
    const before = this.#sources.get(name);
    this.#sources.set(name, source);
    before?.then((old) => old.dispose?.()).catch(() => {});
  }

  async close(name: string) {
    this.#readings.get(name)?.abort();
    const source = await this.#sources.get(name)?.catch(() => undefined);
    this.#sources.delete(name);
    source?.dispose?.();
  }
}
