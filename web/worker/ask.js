// Asks the worker, one question at a time: while it computes, only the newest state waits; files are asked for in turn.

/** @import { Shown, State, Wanted } from '../model/types.js' */
/** @typedef {{ state: State, pinned: State | null, wanted: Wanted }} Asked what the page is to show */
/**
 * @typedef {object} Question
 * @property {'show' | 'make' | 'open'} verb
 * @property {boolean} [hurry]
 * @property {Asked} [asked]
 * @property {ArrayBuffer[]} [transfer]
 * @property {(answer: any) => void} [done]
 */

/** An answer that takes longer than this, in milliseconds, is cancelled when a newer question waits. */
const PATIENCE = 400;
/** While the visitor drags, states follow each other within this many milliseconds; slow parts are asked for later. */
const HURRY = 120;

/**
 * The page that is one file carries its worker as text.
 * @param {'explore' | 'train'} name what it does
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

/**
 * @param {object} listeners
 * @param {(shown: Shown) => void} listeners.onShown the parts of an answer, those that did not change included
 * @param {(error: { message: string } | { cancelled: true }) => void} listeners.onError
 * @param {(progress: { done: number, of: number }) => void} listeners.onProgress
 * @param {typeof startWorker} [start]
 */
export function createAsk({ onShown, onError, onProgress }, start = startWorker) {
  const { worker, stop } = start('explore');
  let count = 0;
  /** @type {Question & { id: number, since: number } | null} */
  let running = null;
  /** @type {Question | null} */
  let waiting = null;
  let shownAt = -HURRY;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let rest;
  /** @type {Question[]} */
  const queue = [];
  /** The parts of the newest answer, and what each depends on: the worker sends what is not among these. */
  /** @type {Shown & Record<string, unknown>} */
  let shown = {};
  /** @type {Record<string, string>} */
  let have = {};

  function next() {
    const question = queue.shift() ?? waiting;
    if (!question) return;
    if (question === waiting) waiting = null;
    running = { ...question, id: ++count, since: performance.now() };
    const { done, asked, transfer = [], ...message } = running;
    worker.postMessage(message.verb === 'show' ? { ...message, have } : message, transfer);
  }
  const isShowing = () => running?.verb === 'show';
  const cancel = () => running && worker.postMessage({ verb: 'cancel' });

  worker.onmessage = ({ data }) => {
    if (!running || data.id !== running.id) return;
    if (data.progress) {
      if (waiting && performance.now() - running.since > PATIENCE) cancel();
      onProgress(data.progress);
      return;
    }
    const { done, asked } = running;
    running = null;
    if (!done && data.parts) {
      have = data.keys;
      shown = Object.fromEntries(Object.keys(have).map((name) => [name, { ...shown, ...data.parts }[name]]));
    }
    next();
    if (done) return done(data);
    if (data.late && asked && !waiting && !isShowing()) rest = setTimeout(() => show(asked), HURRY);
    if (data.parts) onShown(shown);
    else onError(data.cancelled ? { cancelled: true } : { message: data.error });
  };
  worker.onerror = (event) => {
    const message = event.message ?? 'the worker did not start';
    for (const question of [running, ...queue.splice(0)]) question?.done?.({ error: message });
    running = waiting = null;
    onError({ message });
  };

  /**
   * What the page is to show; older questions of this kind that were not begun are left out.
   * @param {Asked} asked
   */
  function show(asked) {
    clearTimeout(rest);
    rest = undefined;
    const now = performance.now();
    waiting = { verb: 'show', hurry: now - shownAt < HURRY, asked, ...asked };
    shownAt = now;
    if (!running) next();
  }

  return {
    show,
    /**
     * Anything else, with its answer.
     * @param {'make' | 'open'} verb
     * @param {object} question
     * @param {ArrayBuffer[]} [transfer]
     * @returns {Promise<any>}
     */
    request(verb, question, transfer) {
      return new Promise((done) => {
        queue.push({ verb, ...question, transfer, done });
        if (!running) next();
      });
    },
    cancel,
    busy: () => running !== null || waiting !== null,
    /** Whether what was left out in a hurry has yet to be asked for. */
    owing: () => rest !== undefined,
    stop() {
      clearTimeout(rest);
      stop();
    },
  };
}
