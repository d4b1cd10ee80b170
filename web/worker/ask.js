// Asks the worker, one question at a time: while it computes, only the newest look waits; files are asked for in turn.

/** A look that takes longer than this gives way to a newer one. */
const PATIENCE = 400;
/** Looks that follow each other within this are in a hurry: somebody drags. What they leave out is asked for after it. */
const HURRY = 120;

/**
 * The page that is one file carries its worker as text.
 * @param {'answer' | 'teach'} name what it does
 */
export function startWorker(name) {
  const text = document.getElementById('worker')?.textContent;
  if (!text) {
    const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name });
    return { worker, stop: () => worker.terminate() };
  }
  const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  const worker = new Worker(url, { name });
  return {
    worker,
    stop() {
      worker.terminate();
      URL.revokeObjectURL(url);
    },
  };
}

/** @param {{ onAnswer: (answer: object) => void, onProgress: (progress: { done: number, of: number }) => void }} listeners */
export function createAsk({ onAnswer, onProgress }) {
  const { worker, stop } = startWorker('answer');
  let count = 0;
  let running = null;
  /** @type {object | null} */
  let waiting = null;
  let lookedAt = -HURRY;
  let rest = 0;
  const queue = [];

  function next() {
    const question = queue.shift() ?? waiting;
    if (!question) return;
    if (question === waiting) waiting = null;
    running = { ...question, id: ++count, since: performance.now() };
    const { done, asked, transfer = [], ...message } = running;
    worker.postMessage(message, transfer);
  }
  const cancel = () => running && worker.postMessage({ verb: 'cancel' });

  worker.onmessage = ({ data }) => {
    if (data.id !== running?.id) return;
    if (data.progress) {
      if (waiting && performance.now() - running.since > PATIENCE) cancel();
      onProgress(data.progress);
      return;
    }
    const { done, asked } = running;
    running = null;
    next();
    if (done) return done(data);
    if (data.late && !waiting && running?.verb !== 'look') rest = setTimeout(look, HURRY, asked);
    onAnswer(data);
  };
  worker.onerror = (event) => onAnswer({ error: event.message ?? 'the worker did not start' });

  /** How the state looks; answers of older looks that were not begun are left out. */
  function look(asked) {
    clearTimeout(rest);
    rest = 0;
    const now = performance.now();
    waiting = { verb: 'look', hurry: now - lookedAt < HURRY, asked, ...asked };
    lookedAt = now;
    if (!running) next();
  }

  return {
    look,
    /** Anything else, with its answer. */
    request(verb, question, transfer) {
      return new Promise((done) => {
        queue.push({ verb, ...question, transfer, done });
        if (!running) next();
      });
    },
    cancel,
    busy: () => running !== null || waiting !== null,
    /** Whether what was left out in a hurry has yet to be asked for. */
    owing: () => rest !== 0,
    stop() {
      clearTimeout(rest);
      stop();
    },
  };
}
