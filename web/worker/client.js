// Sends all requests of the page to the worker. If several requests have the same verb, only the last one counts, and
// parts of the answers to the others are dropped.

import { watch } from './crashDetection.js';

/**
 * @import { ErrorMessage, MessageFromWorker, MessageToWorker, ReceivedPart, UnnumberedRequest, Verb }
 *   from '../store/protocol.js'
 */
/**
 * A worker, or an object that replaces a worker.
 * @typedef {Pick<Worker, 'onmessage' | 'onerror' | 'terminate'> & {
 *   postMessage(message: unknown, transfer?: Transferable[]): void }} WorkerLike
 */
/** @typedef {{ verb: Verb, message: string } & Pick<ErrorMessage, 'code' | 'values'>} RequestError */
/** @typedef {ReturnType<typeof createAsk>} Client */

/**
 * @param {object} listeners
 * @param {(part: ReceivedPart) => void} listeners.onPart called with each part of the answer to the newest request of a
 *   verb
 * @param {(verb: Verb) => void} listeners.onDone
 * @param {(error: RequestError) => void} listeners.onError
 * @param {() => void} [listeners.onEnd] called when the worker has died; all sources that were open in it are lost
 * @param {() => WorkerLike} start
 */
export function createAsk({ onPart, onDone, onError, onEnd }, start) {
  let worker = start();
  let count = 0;
  let stopped = false;
  /** The newest request of each verb. @type {Map<Verb, { id: number, of: string | undefined }>} */
  const open = new Map();

  /** @param {WorkerLike} to @param {MessageToWorker} message @param {ArrayBuffer[]} [transfer] */
  const post = (to, message, transfer = []) => to.postMessage(message, transfer);

  function listen() {
    const mine = worker;
    const onHeld = watch(mine, () => mine === worker && !stopped && onEnd?.());
    worker.onmessage = (event) => {
      const data = /** @type {MessageFromWorker} */ (event.data);
      if (data.verb === 'alive') return onHeld();
      const request = open.get(data.verb);
      if (!request || request.id !== data.id) return;
      if (data.part) return onPart({ ...data, of: request.of });
      open.delete(data.verb);
      if (data.error !== undefined)
        onError({ verb: data.verb, message: data.error, code: data.code, values: data.values });
      else onDone(data.verb);
    };
    worker.onerror = (event) => {
      const verbs = [...open.keys()];
      open.clear();
      // The event of a worker that could not be started has no message.
      const problem = event.message ? {} : { code: 'noWorker', values: [] };
      for (const verb of verbs) onError({ verb, message: event.message || 'the worker did not start', ...problem });
    };
  }
  listen();

  return {
    /** @param {UnnumberedRequest} request @param {ArrayBuffer[]} [transfer] */
    ask(request, transfer) {
      open.set(request.verb, { id: ++count, of: 'state' in request ? request.state.model : undefined });
      post(worker, { ...request, id: count }, transfer);
    },
    /** @param {Verb} verb */
    cancel(verb) {
      if (!open.delete(verb)) return;
      post(worker, { verb: 'cancel', of: verb, id: ++count });
      onDone(verb);
    },
    isBusy: (/** @type {Verb} */ verb) => open.has(verb),
    /** Starts a new worker in the place of one that has died. */
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
