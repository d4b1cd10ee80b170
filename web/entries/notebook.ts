// Shows the data that headlight.py wrote into the one-file page: a safetensors file with the numbers, whose metadata
// contains the texts of the tokens and the options of the view.

import type { StoredTensor } from '../../src/js/io/dtypes.ts';
import { readSafetensors } from '../../src/js/io/formats.ts';
import { createView } from './createView.ts';
import { unfold } from './embeddedFiles.ts';
import { models, startWorker } from './onefile.startWorker.ts';

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
    element.textContent = (error as Error).message;
  }
  if (!whole) fit(element);
}

/** Converts weights that were rounded to bytes: divides each row by its sum, and leaves rows of zeros unchanged. */
function fromBytes({ shape, data }: StoredTensor) {
  const weights = Float32Array.from(data as Uint8Array);
  const columns = shape.at(-1) as number;
  for (let at = 0; at < weights.length; at += columns) {
    const row = weights.subarray(at, at + columns);
    const sum = row.reduce((a, b) => a + b, 0) || 1;
    row.forEach((x, i) => {
      row[i] = x / sum;
    });
  }
  return { shape, data: weights };
}

/** Sets the background of the document. */
function paper(theme: string) {
  document.documentElement.style.colorScheme = theme;
  document.body.style.background = theme === 'dark' ? '#100f13' : '#ffffff';
}

/** Gives the notebook's frame the height of its content, if the notebook allows access to the frame. */
function fit(element: HTMLElement) {
  let frame;
  try {
    frame = window.frameElement;
  } catch {
    return;
  }
  if (!(frame instanceof (frame?.ownerDocument.defaultView?.HTMLIFrameElement ?? HTMLIFrameElement))) return;
  new ResizeObserver(() => {
    (frame as HTMLElement).style.height = `${element.scrollHeight + 16}px`;
  }).observe(element);
}
