// Asks the worker, one question at a time: while it computes, only the newest question waits.

export function createCompute(onAnswer) {
  const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
  let id = 0;
  let busy = false;
  /** @type {object | null} */
  let waiting = null;

  function ask(state) {
    if (busy) {
      waiting = state;
      return;
    }
    busy = true;
    worker.postMessage({ id: ++id, state });
  }
  worker.onmessage = ({ data }) => {
    busy = false;
    if (waiting) {
      const next = waiting;
      waiting = null;
      ask(next);
    }
    onAnswer(data);
  };
  worker.onerror = (event) => onAnswer({ error: event.message ?? 'the worker did not start' });
  return { ask };
}
