// The picture as a file: numbers, a drawing, pixels.

import { download, pngOf } from '../../ui/download.js';
import { bothIn, textsIn } from '../compare/twoRuns.js';
import { marksOf, RAMP, stretched } from '../heatmap/colourRamp.js';
import { shownWeights } from '../heatmap/meanOfHeads.js';
import { mostOf } from '../heatmap/useColours.js';
import { shown } from '../prompt/tokens.js';
import { isOpen } from '../train/lessons.js';
import { allOf, toJson, toNpy, toSafetensors } from './arrays.js';
import { fileName, toCsv } from './csv.js';
import { comparisonOf, figureOf } from './figure.js';
import { inJavaScript, inPython } from './headProgram.js';
import { isRunnable, runAgain } from './modelProgram.js';

/** Pixels of a file for each of the drawing's. */
const SHARP = 2;
/** What is dense has no more pixels than this a side. */
const MOST_PIXELS = 1280;
/** NaN among dense cells: grey on either canvas. */
const INK = 0xff808080;

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

/**
 * @param {string} kind @param {any} session @param {number} [sharp] of a PNG
 * @param {boolean} [figures] whether weights stand in their cells
 */
export async function exportAs(kind, session, sharp = SHARP, figures = false) {
  const run = session.run.value;
  if (!run?.T || !run.S) return;
  const words = session.words.value;
  const { mean, colours } = session.state.value;
  const title = mean === 'head' ? words.headName(run.layer, run.head) : words.means.title(mean, run.layer);
  const names = run.pieces.map(({ name }) => name);
  const keys = run.keys.map(({ name }) => name);
  const weights = shownWeights(run, mean);
  const name = (extension) => fileName(['headlight', session.state.value.model, title], extension);
  if (kind === 'table') return session.update({ panel: 'table' });
  if (kind in ARRAYS) {
    const { type, write } = ARRAYS[/** @type {'npy'} */ (kind)];
    return download(fileName(['headlight', session.state.value.model], kind), type, write(allOf(run, names, keys)));
  }
  if (kind === 'mjs' && isRunnable(run.about)) {
    const { about, T: tokens } = run;
    const source = about.title ?? session.state.value.model;
    return download(name(kind), PROGRAMS.mjs.type, runAgain(session.state.value, { about, tokens, title, source }));
  }
  if (kind in PROGRAMS) {
    const { type, write } = PROGRAMS[/** @type {'py'} */ (kind)];
    return download(name(kind), type, write(run, { title, queries: names, keys }));
  }
  if (kind === 'csv') {
    const whole = { queries: names, keys, weights, shape: [1, 1, run.T, run.S] };
    return download(name('csv'), 'text/csv', toCsv(/** @type {any} */ (whole), { batch: 0, head: 0 }));
  }
  const most = mostOf(run, run.layer, run.head);
  const drawn = {
    axes: [words.query, words.key],
    figures,
    measure: widthOf,
    ramp: stretched(RAMP[session.theme.value], colours, most),
    scale: marksOf(colours, most),
  };
  const model = run.about.title ?? (session.state.value.model === 'whale' ? words.whale : '');
  const called = model ? `${model}: ${title}` : title;
  const figure = figureSeen(session, { title: called, weights, names, keys, drawn });
  if (kind === 'svg') return download(name('svg'), 'image/svg+xml', figure.svg);
  const canvas = Object.assign(document.createElement('canvas'), {
    width: figure.width * sharp,
    height: figure.height * sharp,
  });
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(figure.svg)}`;
  await image.decode();
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  download(name('png'), 'image/png', await pngOf(canvas));
}

/** The picture as it is seen: one head, two runs beside each other, or their difference. */
function figureSeen(session, { title, weights, names, keys, drawn }) {
  const { text, view, versus, pinned } = session.state.value;
  const words = session.words.value;
  const theme = session.theme.value;
  const both = view === 'compare' && !isOpen(session.state.value) ? bothIn(session) : null;
  const { axes, figures, measure } = drawn;
  const shared = { title, theme, raster: rasterOf, axes, figures, measure };
  if (!both?.old) return figureOf({ ...shared, ...drawn, weights, names, keys, about: text });
  const texts = textsIn(session);
  const sides = [
    { of: both.now, called: texts.now, read: text },
    { of: both.old, called: texts.old, read: pinned.text },
  ].map(({ of, called, read }) => {
    const guess = of.run.top?.[0];
    const told = guess ? `${texts.guesses} “${shown(guess.text).trim() || '␣'}” ${words.percent(guess.now)}` : '';
    return { title: told ? `${called}: ${told}` : called, about: read };
  });
  const about = versus === 'difference' ? `${texts.difference}: ${text}` : '';
  return comparisonOf({ ...shared, both: { ...both, old: both.old }, way: versus, sides, about });
}

/** @type {any} */
let ruler;
/** How wide a text is in a font. @type {import('./figure.js').Measure} */
function widthOf(text, size, font) {
  ruler ??= document.createElement('canvas').getContext('2d');
  ruler.font = `${size}px ${font}`;
  return ruler.measureText(text).width;
}

/**
 * A pixel for each cell, the greatest of several where they are more than the picture has.
 * @type {import('./figure.js').Raster}
 */
function rasterOf({ names, keys, value, rows, columns }, colours) {
  const [T, S, n, m] = [names.length, keys.length, rows?.n ?? names.length, columns?.n ?? keys.length];
  const [down, across] = [n, m].map((count) => Math.min(count, MOST_PIXELS));
  const image = new ImageData(across, down);
  const pixels = new Uint32Array(image.data.buffer);
  const most = new Float32Array(across * down);
  for (let t = 0; t < T; t++) {
    const y = Math.floor(((rows?.at(t) ?? t) * down) / n);
    for (let s = 0; s < S; s++) {
      const weight = value(t, s);
      if (weight === undefined) continue;
      const at = y * across + Math.floor(((columns?.at(s) ?? s) * across) / m);
      if (pixels[at] !== 0 && Math.abs(weight) <= Math.abs(most[at])) continue;
      most[at] = weight;
      pixels[at] = Number.isNaN(weight) ? INK : colours.pixel(weight);
    }
  }
  const canvas = Object.assign(document.createElement('canvas'), { width: across, height: down });
  canvas.getContext('2d')?.putImageData(image, 0, 0);
  return canvas.toDataURL();
}
