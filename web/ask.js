// Asks the worker, one question at a time: while it computes, only the newest question waits.

/** The page that is one file carries its worker as text. */
function startWorker() {
  const text = document.getElementById('worker')?.textContent;
  if (text) return new Worker(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })));
  return new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
}

export function createCompute(onAnswer) {
  const worker = startWorker();
  let id = 0;
  let busy = false;
  /** @type {object | null} */
  let waiting = null;

  /** @param {{ state: object, given?: object }} question */
  function ask(question) {
    if (busy) {
      waiting = question;
      return;
    }
    busy = true;
    worker.postMessage({ id: ++id, ...question });
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
