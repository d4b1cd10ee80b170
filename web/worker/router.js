// What stands for a worker where weights are handed over: questions about them are answered on the page, at once and
// without a worker. One begins when something else is asked.

/** @import { Answering } from './client.js' */
/** @typedef {(question: any) => void} Answer */

/**
 * @param {() => Answering} start
 * @param {string} given the model that is answered here
 * @returns {Answering}
 */
export function routed(start, given) {
  /** @type {Answering | null} */
  let worker = null;
  /** @type {Promise<Answer> | null} */
  let here = null;
  /** @type {Answering} */
  const all = {
    onmessage: null,
    onerror: null,
    postMessage(/** @type {any} */ question, /** @type {any} */ transfer) {
      const { verb, name, state } = question;
      const mine = verb === 'give' ? question.given.kind === 'weights' : (name ?? state?.model) === given && here;
      if (mine) {
        here ??= import('./withoutWorker.js').then(({ createHere }) => createHere((data) => hear({ data })));
        here.then(
          (answer) => answer(question),
          (error) => hear({ data: { id: question.id, verb, error: error.message } }),
        );
        return;
      }
      if (verb === 'give') here = null;
      // Nothing that a worker does not do has to be stopped.
      if (!worker && (verb === 'cancel' || verb === 'steer')) return;
      if (!worker) {
        worker = start();
        worker.onmessage = hear;
        worker.onerror = (event) => all.onerror?.call(/** @type {any} */ (worker), event);
      }
      worker.postMessage(question, transfer);
    },
    terminate: () => worker?.terminate(),
  };
  const hear = (/** @type {any} */ event) => all.onmessage?.call(/** @type {any} */ (worker), event);
  return all;
}
