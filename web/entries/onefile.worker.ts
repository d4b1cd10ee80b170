// The worker of the one-file page. It receives binaries and files in a message, because it cannot fetch them.

import { fetchBytes } from '../../src/js/load/fetch.ts';
import { type LoadOptions, loadOn } from '../../src/js/load/load.ts';
import { createAnswerer } from '../worker/requests.ts';

self.onmessage = ({ data: { binaries, files } }) => {
  const resolve = (path: string) => new URL(path, self.location.href);
  const answer = createAnswerer({
    load: (options?: LoadOptions) => loadOn({ binaries, read: fetchBytes, resolve }, options),
    async fetchBeside(name) {
      if (files[name]) return files[name];
      throw new Error(`${name} is not in this file`);
    },
    post: (message, transfer = []) => self.postMessage(message, { transfer }),
  });
  self.onmessage = ({ data }) => answer(data);
};
