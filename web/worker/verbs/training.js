// The verbs of training: see trainer/training.js.

/** @import { Handler } from '../worker.js' */

/** @type {Handler<'train'>} */
export const train = {
  answersEvery: true,
  answer: async (request, reply, worker) => (await worker.training()).train(request, reply),
};

/** @type {Handler<'controlTraining'>} */
export const controlTraining = {
  answersEvery: true,
  answer: async (request, reply, worker) => (await worker.training()).control(request, reply),
};

/** @type {Handler<'acknowledgeReport'>} */
export const acknowledgeReport = {
  answersEvery: true,
  answer: async (_request, _reply, worker) => (await worker.training()).acknowledgeReport(),
};
