// Names and addresses of models on the Hugging Face Hub. A model is not opened by its name: an error says how to open
// it.

import { HeadlightError } from '../check/errors.js';
import { cut } from '../check/quote.js';

const HOSTS = ['huggingface.co', 'www.huggingface.co', 'hf.co'];
/** A name of the Hub, with or without its owner. */
const NAME = /^(?:\w[\w.-]{0,95}\/)?\w[\w.-]{0,95}$/;
/** Parts of an address of the Hub after which files follow, and no pages. */
const FILES = ['resolve', 'raw'];

/** How to open a model of the Hub. @param {string} name */
const advice = (name) =>
  `models are not opened by their names yet. Open https://huggingface.co/${name}/resolve/main, or download it ` +
  `(hf download ${name} --local-dir FOLDER) and open the folder`;

/** What to add to an error if a path may be meant as a name of the Hub. @param {string} path */
export const hubHint = (path) =>
  NAME.test(path) ? `. If ${path} is a name on the Hugging Face Hub: ${advice(path)}` : '';

/**
 * Refuses the address of a page about a model: its files lie elsewhere.
 * @param {string} caller
 * @param {URL} url
 */
export function refuseHubPage(caller, { protocol, hostname, host, pathname }) {
  const isName = protocol === 'hf:';
  if (!isName && !HOSTS.includes(hostname)) return;
  const parts = `${isName ? host : ''}${pathname}`.replace(/@.*$/, '').split('/').filter(Boolean);
  if (!isName && parts.slice(1, 3).some((part) => FILES.includes(part))) return;
  const name = parts.slice(0, 2).join('/');
  const what = isName ? 'is a name on' : 'is a page of';
  const text = `${caller}: ${cut(`${protocol}//${host}${pathname}`, 120)} ${what} the Hugging Face Hub: `;
  throw new HeadlightError('ARGUMENT', text + advice(NAME.test(name) ? name : 'OWNER/NAME'), {
    parameter: 'files',
    expected: 'a folder: a path or a URL',
  });
}
