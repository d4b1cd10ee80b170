// Starts the worker of the page, from the folder of its script.

export const models = ['whale', 'sentence', 'constructed', 'patches'];

export const startWorker = () => new Worker(new URL('./page.worker.js', import.meta.url), { type: 'module' });
