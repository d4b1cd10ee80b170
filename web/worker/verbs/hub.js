// Requests about models of the Hugging Face Hub. Few visitors open such a model, so the first request loads the code.

/** @import { Handler } from '../types.js' */

const load = () => import('../sources/hubModels.js');

/** @type {Handler<'hubDescribe'>} */
export const hubDescribe = {
  answer: async (request, reply, worker) =>
    reply.send('hub', { described: await (await load()).describeModel(await worker.core(), request, reply) }),
};

/** @type {Handler<'hubOpen'>} */
export const hubOpen = {
  answer: async (request, reply, worker) => (await load()).openHubModel(request, reply, worker),
};

/** @type {Handler<'hubStored'>} */
export const hubStored = {
  answersEvery: true,
  answer: async ({ remove }, reply) => reply.send('hub', { stored: await (await load()).storedModels(remove) }),
};
