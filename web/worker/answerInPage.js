// Replaces the worker on a page whose input is attention weights. Requests about the weights are answered on the page,
// without a worker. The first request about anything else starts a worker.

/** @import { AnswerMessage, CancelRequest, Request } from '../store/protocol.js' */
/** @import { WorkerLike } from './client.js' */
/** @typedef {ReturnType<typeof import('./withoutWorker.js').createLocalAnswerer>} Answer */

/**
 * @param {() => WorkerLike} start
 * @param {string} input the name of the source whose requests are answered on the page
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
      // If no worker was started, no request can be cancelled and no training can be controlled.
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

/** Returns the name of the model that a request is about. @param {Request | CancelRequest} request */
function modelOf(request) {
  if ('name' in request) return request.name;
  return 'state' in request ? request.state.model : undefined;
}
