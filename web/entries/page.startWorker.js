// The worker of the page, beside its script.

export const models = ['whale', 'sentence', 'constructed', 'patches'];

export const startWorker = () => new Worker(new URL('./page.worker.js', import.meta.url), { type: 'module' });
