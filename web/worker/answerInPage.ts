// Replaces the worker on a page whose input is attention weights. Requests about the weights are answered on the page,
// without a worker. The first request about anything else starts a worker.

import type { AnswerMessage, CancelRequest, Request } from '../model/protocol/protocol.ts';
import type { WorkerLike } from '../model/protocol/workerLike.ts';
export type Answer = ReturnType<typeof import('./withoutWorker.ts').createLocalAnswerer>;

/** `input`: the name of the source whose requests are answered on the page. */
export function routed(start: () => WorkerLike, input: string): WorkerLike {
  let worker: WorkerLike | null = null;
  /** Set while the input is attention weights. */
  let local: Promise<Answer> | null = null;
  const router: WorkerLike = {
    onmessage: null,
    onerror: null,
    postMessage(request: Request | CancelRequest, transfer: Transferable[] | undefined) {
      const { verb, id } = request;
      const isLocal = verb === 'openInput' ? request.input.kind === 'weights' : local && modelOf(request) === input;
      if (isLocal && verb !== 'cancel') {
        local ??= import('./withoutWorker.ts').then(({ createLocalAnswerer }) =>
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
        worker.onerror = (event) => router.onerror?.call(worker as Worker, event);
      }
      worker.postMessage(request, transfer);
    },
    terminate: () => worker?.terminate(),
  };
  const deliver = (data: AnswerMessage) => router.onmessage?.call(worker as Worker, { data } as MessageEvent);
  return router;
}

function modelOf(request: Request | CancelRequest) {
  if ('name' in request) return request.name;
  return 'state' in request ? request.state.model : undefined;
}
