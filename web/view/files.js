// Files of a visitor's own: chosen, dropped or pasted.

import { openFile } from '../model/session.js';

/** The bytes of a file, with a word on the way; null where it was stopped. */
async function readBytes(file, { onProgress, signal }) {
  const bytes = new Uint8Array(file.size);
  let at = 0;
  const reader = file.stream().getReader();
  // Ends a read that waits, too.
  signal.addEventListener('abort', () => reader.cancel(), { once: true });
  for (;;) {
    const { done, value } = await reader.read();
    if (signal.aborted) return null;
    if (done) return bytes;
    bytes.set(value, at);
    at += value.length;
    onProgress(at);
  }
}

export function createFiles({ $, host, store, strings, request, progress, signal }) {
  /** Hands files to the worker; what fits is shown. */
  async function open(sources, more = {}) {
    const answer = await request(
      'open',
      { sources, pinned: store.get().pinned },
      sources.map(({ bytes }) => bytes.buffer),
    );
    store.set(openFile(store.get(), answer, more));
  }

  async function read(files) {
    const stopped = new AbortController();
    const cancel = () => stopped.abort();
    const total = files.reduce((sum, { size }) => sum + size, 0);
    let before = 0;
    const sources = [];
    $('cancel').addEventListener('click', cancel, { once: true });
    store.set({ reading: true });
    progress.start();
    try {
      for (const file of files) {
        const bytes = await readBytes(file, {
          signal: AbortSignal.any([stopped.signal, signal]),
          onProgress: (at) => progress.say(strings().read(before + at, total), (before + at) / total),
        }).catch(({ message }) => {
          store.set({ fileProblem: { code: 'lost', values: [file.name, message] } });
        });
        if (!bytes) return store.set({ reading: false });
        before += file.size;
        sources.push({ name: file.name, bytes });
      }
    } finally {
      $('cancel').removeEventListener('click', cancel);
    }
    await open(sources);
  }

  $('file').onchange = () => {
    const files = [...$('file').files];
    // The same file may be chosen again.
    $('file').value = '';
    if (files.length > 0) read(files);
  };
  const carriesFiles = (event) => event.dataTransfer?.types.includes('Files');
  host.ondragover = (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    host.classList.add('dropping');
  };
  host.ondragleave = (event) => !host.contains(event.relatedTarget) && host.classList.remove('dropping');
  host.ondrop = (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    host.classList.remove('dropping');
    read([...event.dataTransfer.files]);
  };

  /** Files, or numbers as JSON, from the clipboard; what is pasted into a field is the field's. */
  host.addEventListener('paste', (event) => {
    const { clipboardData: given } = event;
    if (store.get().state.page !== 'explore' || event.composedPath()[0].matches?.('input, textarea')) return;
    const text = given.getData('text').trim();
    if (given.files.length > 0) read([...given.files]);
    else if (/^[[{]/.test(text)) read([new File([text], 'x.json')]);
  });

  return { open };
}
