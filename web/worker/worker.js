// The C core, off the page's thread.

import { load } from '../../src/js/load/browser.js';
import { createSession } from '../train/session.js';
import { createAnswerer } from './answer.js';
import { spareThreads } from './spare.js';

/** The trained model is fetched when it is first looked at. */
async function learnedModel() {
  const response = await fetch(new URL('./learned.safetensors', import.meta.url));
  if (!response.ok) throw new Error(`learned.safetensors gave status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** @param {object} message @param {ArrayBuffer[]} [transfer] */
const post = (message, transfer = []) => self.postMessage(message, { transfer });
const hear =
  self.name === 'train'
    ? createSession(() => load({ threads: spareThreads() }), post)
    : createAnswerer(load, learnedModel, post);
self.onmessage = ({ data }) => hear(data);
