// The same with the binaries inside, for the page that is one file.

import { load } from '../../src/js/load/inline.js';
import model from '../train/learned.safetensors';
import { createSession } from '../train/session.js';
import { createAnswerer } from './answer.js';
import { spareThreads } from './spare.js';

/** @param {object} message @param {ArrayBuffer[]} [transfer] */
const post = (message, transfer = []) => self.postMessage(message, { transfer });
const hear =
  self.name === 'train'
    ? createSession(() => load({ threads: spareThreads() }), post)
    : createAnswerer(load, async () => model, post);
self.onmessage = ({ data }) => hear(data);
