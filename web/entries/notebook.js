// Shows the data that headlight.py wrote into the one-file page: a safetensors file with the numbers, whose metadata
// contains the texts of the tokens and the options of the view.

import { readSafetensors } from '../../src/js/io/formats.js';
import { createView } from './createView.js';
import { unfold } from './embeddedFiles.js';
import { models, startWorker } from './onefile.startWorker.js';

/** Views that fill the window. All other views are as high as their content. */
const WHOLE = ['instrument', 'story', 'lines', 'flow'];

export async function show() {
  const { tensors, metadata } = readSafetensors(await unfold('given'));
  const { tokens, keys, options } = JSON.parse(metadata.headlight);
  const { attentions, ...qkv } = tensors;
  const { view = 'instrument' } = options;
  const whole = WHOLE.includes(view);
  const element = document.createElement('div');
  Object.assign(document.body.style, { margin: whole ? '0' : '8px' });
  if (whole) element.style.height = '100vh';
  document.body.append(element);
  const numbers = attentions ? { attentions: attentions.dtype === 'U8' ? fromBytes(attentions) : attentions } : qkv;
  const given = { ...numbers, ...(tokens && { tokens }), ...(keys && { keys }) };
  try {
    createView('show', element, { ...given, ...options }, { start: startWorker, models, onTheme: paper });
  } catch (error) {
    element.textContent = /** @type {Error} */ (error).message;
  }
  if (!whole) fit(element);
}

/**
 * Converts weights that were rounded to bytes: divides each row by its sum, and leaves rows of zeros unchanged.
 * @param {import('../../src/js/io/dtypes.js').StoredTensor} bytes
 */
function fromBytes({ shape, data }) {
  const weights = Float32Array.from(/** @type {Uint8Array} */ (data));
  const columns = /** @type {number} */ (shape.at(-1));
  for (let at = 0; at < weights.length; at += columns) {
    const row = weights.subarray(at, at + columns);
    const sum = row.reduce((a, b) => a + b, 0) || 1;
    row.forEach((x, i) => {
      row[i] = x / sum;
    });
  }
  return { shape, data: weights };
}

/** Sets the background of the document. @param {string} theme */
function paper(theme) {
  document.documentElement.style.colorScheme = theme;
  document.body.style.background = theme === 'dark' ? '#100f13' : '#ffffff';
}

/**
 * Gives the notebook's frame the height of its content, if the notebook allows access to the frame.
 * @param {HTMLElement} element
 */
function fit(element) {
  let frame;
  try {
    frame = window.frameElement;
  } catch {
    return;
  }
  if (!(frame instanceof (frame?.ownerDocument.defaultView?.HTMLIFrameElement ?? HTMLIFrameElement))) return;
  new ResizeObserver(() => {
    /** @type {HTMLElement} */ (frame).style.height = `${element.scrollHeight + 16}px`;
  }).observe(element);
}
