// Sends all requests of the page to the worker. If several requests have the same verb, only the last one counts, and
// parts of the answers to the others are dropped.

import type {
  ErrorMessage,
  MessageFromWorker,
  MessageToWorker,
  ReceivedPart,
  UnnumberedRequest,
  Verb,
} from '../model/protocol/protocol.ts';
import type { WorkerLike } from '../model/protocol/workerLike.ts';
import { watch } from './crashDetection.ts';
export type RequestError = { verb: Verb; message: string } & Pick<ErrorMessage, 'code' | 'values'>;
export type Client = ReturnType<typeof createAsk>;

export function createAsk(
  {
    onPart,
    onDone,
    onError,
    onEnd,
  }: {
    /** called with each part of the answer to the newest request of a verb */
    onPart: (part: ReceivedPart) => void;
    onDone: (verb: Verb) => void;
    onError: (error: RequestError) => void;
    /** called when the worker has died; all sources that were open in it are lost */
    onEnd?: () => void;
  },
  start: () => WorkerLike,
) {
  let worker = start();
  let count = 0;
  let stopped = false;
  /** The newest request of each verb. */
  const open: Map<Verb, { id: number; of: string | undefined }> = new Map();

  const post = (to: WorkerLike, message: MessageToWorker, transfer: ArrayBuffer[] = []) =>
    to.postMessage(message, transfer);

  function listen() {
    const mine = worker;
    const onHeld = watch(mine, () => mine === worker && !stopped && onEnd?.());
    worker.onmessage = (event) => {
      const data = event.data as MessageFromWorker;
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
    ask(request: UnnumberedRequest, transfer?: ArrayBuffer[]) {
      open.set(request.verb, { id: ++count, of: 'state' in request ? request.state.model : undefined });
      post(worker, { ...request, id: count }, transfer);
    },
    cancel(verb: Verb) {
      if (!open.delete(verb)) return;
      post(worker, { verb: 'cancel', of: verb, id: ++count });
      onDone(verb);
    },
    isBusy: (verb: Verb) => open.has(verb),
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
