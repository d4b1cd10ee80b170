// A worker, or an object that replaces a worker.

export type WorkerLike = Pick<Worker, 'onmessage' | 'onerror' | 'terminate'> & {
  postMessage(message: unknown, transfer?: Transferable[]): void;
};
