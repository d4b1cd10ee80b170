// Requests about the map of all heads. Few visitors open the map, so the first request loads the code.

import type { Atlas } from '../atlas/atlas.ts';

import type { Handler, WorkerContext } from '../types.ts';

const atlases: WeakMap<WorkerContext, Promise<Atlas>> = new WeakMap();

function atlasOf(worker: WorkerContext) {
  const made = atlases.get(worker) ?? import('../atlas/atlas.ts').then(({ Atlas }) => new Atlas(worker));
  atlases.set(worker, made);
  return made;
}

export const scan: Handler<'scan'> = {
  answer: async (request, reply, worker) => (await atlasOf(worker)).scan(request, reply),
};

export const storedScan: Handler<'storedScan'> = {
  answer: async (request, reply, worker) => (await atlasOf(worker)).stored(request, reply),
};

export const controlScan: Handler<'controlScan'> = {
  answersEvery: true,
  answer: async ({ action }, _reply, worker) => (await atlasOf(worker)).control(action),
};

export const scannedHead: Handler<'scannedHead'> = {
  answer: async (request, reply, worker) => (await atlasOf(worker)).head(request, reply),
};

export const headCost: Handler<'headCost'> = {
  answer: async (request, reply, worker) => (await atlasOf(worker)).headCost(request, reply),
};

export const saveHeadvis: Handler<'saveHeadvis'> = {
  answer: async (request, reply, worker) => (await atlasOf(worker)).save(request, reply),
};
