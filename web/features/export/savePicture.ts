// Exports the picture as files of numbers, as a program, as a drawing, or as pixels.

import { marksOf, RAMP, stretched } from '../../drawing/colourRamp.ts';
import { fileName, toCsv } from '../../drawing/export/csv.ts';
import { widthOf } from '../../drawing/textWidth.ts';
import type { Run } from '../../drawing/types.ts';
import { shownWeights } from '../../model/meanOfHeads.ts';
import { isRunnable, runAgain } from '../../model/modelProgram.ts';
import { shown } from '../../model/tokens.ts';
import { isOpen } from '../../model/training/settings.ts';
import { maxWeightOf } from '../../parts/useColours.ts';
import { hasValues } from '../../store/runParts.ts';
import type { Session } from '../../store/session.ts';
import { download, pngOf } from '../../ui/download.ts';
import type { Theme } from '../../ui/palette.ts';
import { loadTwoRuns } from '../compare/feature.ts';
import { allOf, toJson, toNpy, toSafetensors } from './arrays.ts';
import { comparisonOf, figureOf, type Panel } from './figure.ts';
import { inJavaScript, inPython } from './headProgram.ts';
import { pixelsOf } from './pixels.ts';

/** Default number of PNG pixels for each pixel of the drawing. */
const PIXEL_RATIO = 2;

const BYTES = 'application/octet-stream';
/** File formats for all heads as one array, with the tokens. */
const ARRAYS = {
  json: { type: 'application/json', write: toJson },
  npy: { type: BYTES, write: toNpy },
  safetensors: { type: BYTES, write: toSafetensors },
};
const PROGRAMS = {
  mjs: { type: 'text/javascript', write: inJavaScript },
  py: { type: 'text/x-python', write: inPython },
};

/** The shown head, or the shown mean of several heads. */
export type Shown = { run: Run; title: string; names: string[]; keys: string[]; weights: Float32Array };

function shownOf(session: Session, run: Run): Shown {
  const words = session.words.value;
  const { mean } = session.state.value;
  return {
    run,
    title: mean === 'head' ? words.headName(run.layer, run.head) : words.means.title(mean, run.layer),
    names: run.pieces.map(({ name }) => name),
    keys: run.keys.map(({ name }) => name),
    weights: shownWeights(run, mean),
  };
}

type TwoRuns = Awaited<ReturnType<typeof loadTwoRuns>>;

/** `pixelRatio`: PNG pixels per drawing pixel; `figures`: the weights are written in their cells. */
export async function exportAs(kind: string, session: Session, pixelRatio: number = PIXEL_RATIO, figures = false) {
  const run = session.run.value;
  if (!run?.T || !run.S) return;
  const shownHead = shownOf(session, run);
  const { title, names, keys, weights } = shownHead;
  const { model } = session.state.value;
  const save = (type: string, content: BlobPart) =>
    download(fileName(['headlight', model, title], kind), type, content);
  if (kind in ARRAYS) {
    const { type, write } = ARRAYS[kind as 'npy'];
    return download(fileName(['headlight', model], kind), type, write(allOf(run, names, keys)));
  }
  if (kind in PROGRAMS) return save(PROGRAMS[kind as 'py'].type, programOf(kind, session, shownHead));
  if (kind === 'csv')
    return save(
      'text/csv',
      toCsv({ queries: names, keys, weights, shape: [1, 1, run.T, run.S] }, { batch: 0, head: 0 }),
    );
  const figure = figureSeen(session, shownHead, figures, await loadTwoRuns());
  if (kind === 'svg') return save('image/svg+xml', figure.svg);
  save('image/png', await pngFrom(figure, pixelRatio));
}

/** Returns a program that runs the model if one can; otherwise it contains the numbers of the head. */
function programOf(kind: string, session: Session, { run, title, names, keys }: Shown) {
  const state = session.state.value;
  if (kind === 'mjs' && isRunnable(run.about)) {
    const { about, T: tokens, partners } = run;
    return runAgain(state, { about, tokens, partners, title, source: about.title ?? state.model });
  }
  if (!hasValues(run)) throw new Error('the run has no queries, keys and values');
  return PROGRAMS[kind as 'py'].write(run, { title, queries: names, keys });
}

async function pngFrom({ svg, width, height }: { svg: string; width: number; height: number }, pixelRatio: number) {
  const size = { width: width * pixelRatio, height: height * pixelRatio };
  const canvas = Object.assign(document.createElement('canvas'), size);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return pngOf(canvas);
}

/** Returns the picture as it is displayed: one head, two runs side by side, or their difference. */
function figureSeen(
  session: Session,
  { run, title, weights, names, keys }: Shown,
  figures: boolean,
  { runPairIn, textsIn }: TwoRuns,
) {
  const state = session.state.value;
  const words = session.words.value;
  const theme: Theme = session.theme.value;
  const model = run.about.title ?? (state.model === 'whale' ? words.whale : '');
  const shared = {
    title: model ? `${model}: ${title}` : title,
    theme,
    raster: rasterOf,
    axes: [words.query, words.key] as [string, string],
    figures,
    measure: widthOf,
  };
  const runs = state.view === 'compare' && !isOpen(state) ? runPairIn(session) : null;
  if (runs?.old) {
    const about = state.versus === 'difference' ? `${textsIn(session).difference}: ${state.text}` : '';
    const sides = sidesOf(session, { now: runs.now.run, old: runs.old.run }, textsIn(session));
    return comparisonOf({ ...shared, runs: { ...runs, old: runs.old }, way: state.versus, sides, about });
  }
  const most = maxWeightOf(run, run.layer, run.head);
  const ramp = stretched(RAMP[theme], state.colours, most);
  const scale = marksOf(state.colours, most);
  return figureOf({ ...shared, ramp, scale, weights, names, keys, about: state.text });
}

/** Returns the heading of each run: its name with its next token, and its text. */
function sidesOf(session: Session, { now, old }: { now: Run; old: Run }, texts: ReturnType<TwoRuns['textsIn']>) {
  const words = session.words.value;
  const { text, pinned } = session.state.value;
  const sideOf = ({ top }: Run, name: string, about: string) => {
    const guess = top?.[0];
    const next = guess && `“${shown(guess.text).trim() || '␣'}” ${words.percent(guess.now)}`;
    return { title: next ? `${name}: ${texts.guesses} ${next}` : name, about };
  };
  return [sideOf(now, texts.now, text), sideOf(old, texts.old, pinned?.text ?? '')];
}

function rasterOf(panel: Panel, colours: { pixel: (value: number) => number }) {
  const { across, down, pixels } = pixelsOf(panel, colours);
  const canvas = Object.assign(document.createElement('canvas'), { width: across, height: down });
  const image = new ImageData(new Uint8ClampedArray(pixels.buffer), across, down);
  canvas.getContext('2d')?.putImageData(image, 0, 0);
  return canvas.toDataURL();
}
