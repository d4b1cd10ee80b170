// The C core, off the page's thread.

import { load } from '../../src/js/load/browser.js';
import { teach } from '../train/session.js';
import { answer } from './answer.js';
import { spareThreads } from './spare.js';

/** The trained model is fetched when it is first looked at. */
async function learnedModel() {
  const response = await fetch(new URL('./learned.safetensors', import.meta.url));
  if (!response.ok) throw new Error(`learned.safetensors gave status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

if (self.name === 'teach') teach(() => load({ threads: spareThreads() }));
else answer(load, learnedModel);
