// What a visitor takes along: pictures, tables, arrays, a link, a program.

import { fileName } from '../model/export.js';
import { differs, headName } from '../model/session.js';
import { writeState } from '../model/url.js';
import { copyText, download, pngOf } from './download.js';

const TYPES = {
  csv: 'text/csv',
  npy: 'application/octet-stream',
  safetensors: 'application/octet-stream',
  svg: 'image/svg+xml',
};

export function createExports({ $, store, strings, redraw, request }) {
  const nameOf = (state) => headName(strings(), state, state.head);
  const fileOf = (extension) => {
    const { state } = store.get();
    return fileName(['headlight', strings().examples[state.example], nameOf(state)], extension);
  };

  /** Asks the worker for something made of the whole state. */
  async function made(what, more) {
    const { state, pinned, shown } = store.get();
    if (!shown.picture) return null;
    const answer = await request('make', {
      state,
      pinned: what === 'svg' && differs(store.get()) ? pinned : null,
      what,
      more: { head: state.head, kind: state.scale, ...more },
    });
    redraw();
    if (answer.error) $('shared').textContent = strings().failed(answer.error);
    return answer.made ?? null;
  }

  for (const [id, type] of Object.entries(TYPES)) {
    $(id).onclick = async () => {
      const content = await made(id, { title: $('head-name').textContent });
      if (content) download(fileOf(id), type, content);
    };
  }
  $('png').onclick = async () => {
    if (store.get().shown.picture) download(fileOf('png'), 'image/png', await pngOf($('large')));
  };

  async function copy(kind, text) {
    const copied = await copyText(text);
    $('shared').textContent = copied ? strings().copied[kind] : strings().cannotCopy;
    $('copy').hidden = copied;
    $('copy').value = text;
    if (!copied) $('copy').select();
  }
  $('link').onclick = () => copy('link', `${location.href.split('#')[0]}#${writeState(store.get().state)}`);
  $('code').onclick = async () => {
    const { state } = store.get();
    const text = await made('code', { title: `${strings().examples[state.example]}: ${nameOf(state)}` });
    if (text) copy('code', text);
  };
}
