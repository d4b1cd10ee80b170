// Requests about models of the Hugging Face Hub. Few visitors open such a model, so the first request loads the code.

import type { Handler } from '../types.ts';

const load = () => import('../sources/hubModels.ts');

export const hubDescribe: Handler<'hubDescribe'> = {
  answer: async (request, reply, worker) =>
    reply.send('hub', { described: await (await load()).describeModel(await worker.core(), request, reply) }),
};

export const hubOpen: Handler<'hubOpen'> = {
  answer: async (request, reply, worker) => (await load()).openHubModel(request, reply, worker),
};

export const hubStored: Handler<'hubStored'> = {
  answersEvery: true,
  answer: async ({ remove }, reply) => reply.send('hub', { stored: await (await load()).storedModels(remove) }),
};
