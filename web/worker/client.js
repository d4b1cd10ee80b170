// The one place where the page asks the worker. What is asked last counts: of questions with the same verb, parts of
// older ones are not handed on.

import { watch } from './crashDetection.js';

/** @typedef {{ verb: string } & Record<string, any>} Question */

/**
 * As much of a worker as is used here.
 * @typedef {Pick<Worker, 'onmessage' | 'onerror' | 'postMessage' | 'terminate'>} Answering
 */

/**
 * @param {object} listeners
 * @param {(part: any) => void} listeners.onPart every part of an answer that still counts: { verb, part, … },
 *   with the model that was asked about
 * @param {(verb: string) => void} listeners.onDone
 * @param {(error: { verb: string, message: string, code?: string, values?: any[] }) => void} listeners.onError
 * @param {() => void} [listeners.onEnd] the worker has died: nothing is open in it any more
 * @param {() => Answering} start
 */
export function createAsk({ onPart, onDone, onError, onEnd }, start) {
  let worker = start();
  let count = 0;
  let stopped = false;
  /** The newest question of each verb. @type {Map<string, { id: number, of: string | undefined }>} */
  const open = new Map();

  function listen() {
    const mine = worker;
    const held = watch(mine, () => mine === worker && !stopped && onEnd?.());
    worker.onmessage = ({ data }) => {
      if (data.verb === 'alive') return held();
      const question = open.get(data.verb);
      if (!question || question.id !== data.id) return;
      if (data.part) return onPart({ ...data, of: question.of });
      open.delete(data.verb);
      if (data.error !== undefined)
        onError({ verb: data.verb, message: data.error, code: data.code, values: data.values });
      else onDone(data.verb);
    };
    worker.onerror = (event) => {
      const verbs = [...open.keys()];
      open.clear();
      // A worker that is not let begin says nothing of why.
      const said = event.message ? {} : { code: 'noWorker', values: [] };
      for (const verb of verbs) onError({ verb, message: event.message || 'the worker did not start', ...said });
    };
  }
  listen();

  return {
    /** @param {Question} question @param {ArrayBuffer[]} [transfer] */
    ask(question, transfer = []) {
      open.set(question.verb, { id: ++count, of: question.state?.model });
      worker.postMessage({ ...question, id: count }, transfer);
    },
    /** @param {string} verb */
    cancel(verb) {
      if (!open.delete(verb)) return;
      worker.postMessage({ verb: 'cancel', of: verb, id: ++count });
      onDone(verb);
    },
    isBusy: (/** @type {string} */ verb) => open.has(verb),
    /** After a worker that has died. */
    restart() {
      worker.terminate();
      worker = start();
      open.clear();
      listen();
    },
    stop() {
      stopped = true;
      worker.terminate();
    },
  };
}
