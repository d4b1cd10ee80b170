// What a visitor takes along: pictures, tables, arrays, a link, a program.

import { fileName } from '../model/export.js';
import { writeState } from '../model/url.js';
import { copyText, download, pngOf } from './download.js';

const TYPES = {
  csv: 'text/csv',
  npy: 'application/octet-stream',
  safetensors: 'application/octet-stream',
  svg: 'image/svg+xml',
};

export function createExports(page) {
  const { $ } = page;
  const nameOf = (extension) =>
    fileName(['headlight', page.strings.examples[page.state.example], page.headName(page.state.head)], extension);

  /** Asks the worker for something made of the whole state. */
  async function made(what, more) {
    if (!page.shown.picture) return null;
    const { state, before, strings } = page;
    const answer = await page.request('make', {
      state,
      before: what === 'svg' && page.differs() ? before : null,
      what,
      more: { head: state.head, kind: state.scale, ...more },
    });
    page.redraw();
    if (answer.error) $('shared').textContent = strings.failed(answer.error);
    return answer.made ?? null;
  }

  for (const [id, type] of Object.entries(TYPES)) {
    $(id).onclick = async () => {
      const content = await made(id, { title: $('head-name').textContent });
      if (content) download(nameOf(id), type, content);
    };
  }
  $('png').onclick = async () => page.shown.picture && download(nameOf('png'), 'image/png', await pngOf($('large')));

  async function give(kind, text) {
    const copied = await copyText(text);
    $('shared').textContent = copied ? page.strings.copied[kind] : page.strings.cannotCopy;
    $('copy').hidden = copied;
    $('copy').value = text;
    if (!copied) $('copy').select();
  }
  $('link').onclick = () => give('link', `${location.href.split('#')[0]}#${writeState(page.state)}`);
  $('code').onclick = async () => {
    const text = await made('code', {
      title: `${page.strings.examples[page.state.example]}: ${page.headName(page.state.head)}`,
    });
    if (text) give('code', text);
  };
}
