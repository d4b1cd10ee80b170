// Requests about the map of all heads. Few visitors open the map, so the first request loads the code.

/** @import { Handler, WorkerContext } from '../types.js' */

/** The atlas of each worker. @type {WeakMap<WorkerContext, Promise<import('../atlas/atlas.js').Atlas>>} */
const atlases = new WeakMap();

/** @param {WorkerContext} worker */
function atlasOf(worker) {
  const made = atlases.get(worker) ?? import('../atlas/atlas.js').then(({ Atlas }) => new Atlas(worker));
  atlases.set(worker, made);
  return made;
}

/** @type {Handler<'scan'>} */
export const scan = { answer: async (request, reply, worker) => (await atlasOf(worker)).scan(request, reply) };

/** @type {Handler<'storedScan'>} */
export const storedScan = { answer: async (request, reply, worker) => (await atlasOf(worker)).stored(request, reply) };

/** @type {Handler<'controlScan'>} */
export const controlScan = {
  answersEvery: true,
  answer: async ({ action }, _reply, worker) => (await atlasOf(worker)).control(action),
};

/** @type {Handler<'scannedHead'>} */
export const scannedHead = { answer: async (request, reply, worker) => (await atlasOf(worker)).head(request, reply) };

/** @type {Handler<'headCost'>} */
export const headCost = {
  answer: async (request, reply, worker) => (await atlasOf(worker)).headCost(request, reply),
};

/** @type {Handler<'saveHeadvis'>} */
export const saveHeadvis = { answer: async (request, reply, worker) => (await atlasOf(worker)).save(request, reply) };
