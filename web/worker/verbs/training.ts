// The verbs of training: see trainer/training.ts.

import type { Handler } from '../types.ts';

export const train: Handler<'train'> = {
  answersEvery: true,
  answer: async (request, reply, worker) => (await worker.training()).train(request, reply),
};

export const controlTraining: Handler<'controlTraining'> = {
  answersEvery: true,
  answer: async (request, reply, worker) => (await worker.training()).control(request, reply),
};

export const acknowledgeReport: Handler<'acknowledgeReport'> = {
  answersEvery: true,
  answer: async (_request, _reply, worker) => (await worker.training()).acknowledgeReport(),
};
