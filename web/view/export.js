// The picture as a file: numbers, a drawing, pixels.

import { allOf, toJson, toNpy, toSafetensors } from '../model/arrays.js';
import { fileName, toCsv } from '../model/export.js';
import { figureOf } from '../model/figure.js';
import { inJavaScript, inPython } from '../model/program.js';
import { weightsOf } from '../model/reading.js';
import { effective } from '../model/whatif.js';
import { download, pngOf } from './download.js';

/** Pixels of a file for each of the drawing's. */
const SHARP = 2;

const BYTES = 'application/octet-stream';
/** All heads as one array, with their tokens. */
const ARRAYS = {
  json: { type: 'application/json', write: toJson },
  npy: { type: BYTES, write: toNpy },
  safetensors: { type: BYTES, write: toSafetensors },
};
const PROGRAMS = {
  mjs: { type: 'text/javascript', write: inJavaScript },
  py: { type: 'text/x-python', write: inPython },
};

/** @param {string} kind @param {any} session */
export async function exportAs(kind, session) {
  const run = session.run.value;
  if (!run?.T) return;
  const words = session.words.value;
  const title = words.headName(run.layer, run.head);
  const names = run.pieces.map(({ name }) => name);
  const keys = run.keys.map(({ name }) => name);
  const weights = weightsOf(run, run.layer, run.head);
  const name = (extension) => fileName(['headlight', session.state.value.model, title], extension);
  if (kind === 'table') return session.update({ panel: 'table' });
  if (kind in ARRAYS) {
    const { type, write } = ARRAYS[/** @type {'npy'} */ (kind)];
    return download(fileName(['headlight', session.state.value.model], kind), type, write(allOf(run, names, keys)));
  }
  if (kind in PROGRAMS) {
    const { type, write } = PROGRAMS[/** @type {'py'} */ (kind)];
    const temperature = effective(session.state.value.temperature, run.layer, run.head, 1);
    return download(name(kind), type, write(run, { title, queries: names, keys, temperature }));
  }
  if (kind === 'csv') {
    const whole = { queries: names, keys, weights, shape: [1, 1, run.T, run.S] };
    return download(name('csv'), 'text/csv', toCsv(/** @type {any} */ (whole), { batch: 0, head: 0 }));
  }
  const figure = figureOf({
    weights,
    names,
    keys,
    title,
    about: session.state.value.text,
    theme: session.theme.value,
  });
  if (kind === 'svg') return download(name('svg'), 'image/svg+xml', figure.svg);
  const canvas = Object.assign(document.createElement('canvas'), {
    width: figure.width * SHARP,
    height: figure.height * SHARP,
  });
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(figure.svg)}`;
  await image.decode();
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  download(name('png'), 'image/png', await pngOf(canvas));
}
