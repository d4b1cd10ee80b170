// Runs the worker of the page in this process.

import { readFileSync } from 'node:fs';
import { initialState } from '../../web/model/state.ts';
import { createAnswerer } from '../../web/worker/requests.ts';

/** Creates a worker, whose answers are objects with parts by name. `hl` is an instance of the module. */
export function createWorker(hl) {
  const waiting = new Map();
  const answer = createAnswerer({
    load: async () => hl,
    fetchBeside: async (name) => new Uint8Array(readFileSync(`web/demo/${name.replace('whale.t', 't')}`)),
    post(message) {
      const { parts, resolve, reject } = waiting.get(message.id);
      if (message.part) (parts[message.part] ??= []).push(message);
      else if (message.error !== undefined)
        reject(Object.assign(new Error(message.error), { code: message.code, values: message.values }));
      else resolve(parts);
    },
  });
  let count = 0;
  const ask = (request) =>
    new Promise((resolve, reject) => {
      waiting.set(++count, { parts: {}, resolve, reject });
      answer({ ...request, id: count });
    });
  return {
    ask,
    open: (files, name = 'opened-1') => ask({ verb: 'open', name, title: 'mine', files }),
    askOf: (verb, state) => ask({ verb, state: { ...initialState, model: 'opened-1', ...state } }),
    show: (state = {}) => ask({ verb: 'show', state: { ...initialState, model: 'opened-1', ...state } }),
  };
}
