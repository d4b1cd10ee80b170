// Runs the program of a page in a frame of the documentation: sends its console output, its errors and its height to
// the page around it.

import { inspect } from './inspect.js';

const address = document.querySelector('script[data-program]').dataset.program;
const send = (message) => parent.postMessage({ headlight: message }, location.origin);

for (const kind of ['log', 'info', 'warn', 'error']) {
  const original = console[kind];
  console[kind] = (...values) => {
    original.apply(console, values);
    send({ kind: kind === 'info' ? 'log' : kind, text: inspect(values) });
  };
}
const fail = (error) => send({ kind: 'error', text: String(error?.stack?.includes(error) ? error : (error ?? '')) });
addEventListener('error', ({ error, message }) => fail(error ?? message));
addEventListener('unhandledrejection', ({ reason }) => fail(reason));
new ResizeObserver(() => send({ kind: 'height', height: document.body.scrollHeight })).observe(document.body);

try {
  await import(address);
} catch (error) {
  fail(error);
}
send({ kind: 'end' });
