// Errors about names and addresses of the Hugging Face Hub. A model cannot be opened by its name: the error says how to
// open it.

import { HeadlightError } from '../../check/errors.js';
import { cut } from '../../check/quote.js';

const HOSTS = ['huggingface.co', 'www.huggingface.co', 'hf.co'];
/** A name of the Hub, with or without its owner. */
const NAME = /^(?:\w[\w.-]{0,95}\/)?\w[\w.-]{0,95}$/;
/** Parts of the Hub's addresses of files, and of pages. */
const FILES = ['resolve', 'raw'];
const PAGES = ['tree', 'blob', 'blame', 'commits', 'commit', 'discussions', 'edit'];

/** How to open a model of the Hub. @param {string} name */
const advice = (name) =>
  `models are not opened by their names yet. Open https://huggingface.co/${name}/resolve/main, or download it ` +
  `(hf download ${name} --local-dir FOLDER) and open the folder`;

/** A sentence for the error about a path that may be meant as a name of the Hub. @param {string} path */
export const hubHint = (path) =>
  NAME.test(path) ? `. If ${path} is a name on the Hugging Face Hub: ${advice(path)}` : '';

/**
 * Refuses the address of a page about a model: the files have other addresses.
 * @param {string} caller
 * @param {URL} url
 */
export function refuseHubPage(caller, url) {
  const isName = url.protocol === 'hf:';
  if (!isName && !HOSTS.includes(url.hostname)) return;
  const path = isName ? url.href.slice(3).replace(/[@?#].*$/, '') : url.pathname;
  const parts = path.split('/').filter(Boolean);
  if (!isName && parts.slice(1, 3).some((part) => FILES.includes(part))) return;
  const name = parts.slice(0, PAGES.includes(parts[1]) ? 1 : 2).join('/');
  const text = `${caller}: ${cut(`${isName ? 'hf:' : url.origin}${path}`, 120)}`;
  const kind = isName ? 'a name on' : 'a page of';
  const how = advice(NAME.test(name) ? name : 'OWNER/NAME');
  throw new HeadlightError('ARGUMENT', `${text} is ${kind} the Hugging Face Hub: ${how}`, {
    parameter: 'files',
    expected: 'a folder: a path or a URL',
  });
}
