// Replaces the worker on a page with attention weights as its input: requests about them are answered on the page,
// without a worker. A worker is started by the first request about anything else.

/** @import { AnswerMessage, CancelRequest, Request } from '../store/protocol.js' */
/** @import { WorkerLike } from './client.js' */
/** @typedef {ReturnType<typeof import('./withoutWorker.js').createLocalAnswerer>} Answer */

/**
 * @param {() => WorkerLike} start
 * @param {string} input name of the model that is answered here
 * @returns {WorkerLike}
 */
export function routed(start, input) {
  /** @type {WorkerLike | null} */
  let worker = null;
  /** Set while the input is attention weights. @type {Promise<Answer> | null} */
  let local = null;
  /** @type {WorkerLike} */
  const router = {
    onmessage: null,
    onerror: null,
    postMessage(/** @type {Request | CancelRequest} */ request, /** @type {Transferable[] | undefined} */ transfer) {
      const { verb, id } = request;
      const isLocal = verb === 'openInput' ? request.input.kind === 'weights' : local && modelOf(request) === input;
      if (isLocal && verb !== 'cancel') {
        local ??= import('./withoutWorker.js').then(({ createLocalAnswerer }) =>
          createLocalAnswerer((message) => deliver(message)),
        );
        local.then(
          (answer) => answer(request),
          (error) => deliver({ id, verb, error: error.message }),
        );
        return;
      }
      if (verb === 'openInput') local = null;
      // Without a worker there is nothing to cancel.
      if (!worker && (verb === 'cancel' || verb === 'controlTraining')) return;
      if (!worker) {
        worker = start();
        worker.onmessage = (event) => deliver(event.data);
        worker.onerror = (event) => router.onerror?.call(/** @type {Worker} */ (worker), event);
      }
      worker.postMessage(request, transfer);
    },
    terminate: () => worker?.terminate(),
  };
  const deliver = (/** @type {AnswerMessage} */ data) =>
    router.onmessage?.call(/** @type {Worker} */ (worker), /** @type {MessageEvent} */ ({ data }));
  return router;
}

/** The model that a request is about. @param {Request | CancelRequest} request */
function modelOf(request) {
  if ('name' in request) return request.name;
  return 'state' in request ? request.state.model : undefined;
}
