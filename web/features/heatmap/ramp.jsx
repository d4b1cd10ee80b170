// The colour ramp with its marks, the menu of colours, and the meaning of the symbols in the picture.

import { useEffect, useRef } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { px } from '../../ui/px.js';
import { useSize } from '../../ui/useSize.js';
import { weightsOf } from '../reading/derivation.js';
import { marksOf, RAMP, SCALES, weightAt } from './colourRamp.js';
import { canMean, MEANS } from './meanOfHeads.js';
import { sized } from './paintWeights.js';
import { maxWeightOf } from './useColours.js';

/** @import { Theme } from '../../ui/palette.js' */
/** @import { Session } from '../../store/session.js' */
/** @import { Item } from '../../ui/menu.jsx' */
/** @import { Run } from './types.js' */

/** @param {Run | null} run */
const isMasked = (run) => {
  const scores = run?.values?.scores;
  const isVisible = (/** @type {number} */ i) => !run?.about.causal || i % run.S <= i / run.S;
  return Boolean(
    scores?.some((/** @type {number} */ score, /** @type {number} */ i) => {
      return score === Number.NEGATIVE_INFINITY && isVisible(i);
    }),
  );
};
/** @param {Run | null} run */
const hasNan = (run) => Boolean(run && weightsOf(run, run.layer, run.head)?.some(Number.isNaN));

/** isWhole: true to explain the symbols of the picture too @param {{ isWhole?: boolean }} props */
export function Ramp({ isWhole = false }) {
  const session = useSession();
  const words = session.words.value;
  /** @type {Theme} */
  const theme = session.theme.value;
  const [box, bar] = [useRef(null), useRef(/** @type {HTMLCanvasElement | null} */ (null))];
  const { width } = useSize(box);
  /** @type {Run | null} */
  const run = session.run.value;
  const { colours } = session.state.value;
  const most = run ? maxWeightOf(run, run.layer, run.head) : 1;
  useEffect(() => paintRamp(bar.current, width, (share) => RAMP[theme].css(weightAt(share))), [width, theme]);
  return (
    <>
      <div class="ramp" ref={box} role="img" aria-label={words.legend}>
        <canvas ref={bar} />
        {marksOf(colours, most).map(({ text, place }) => (
          <span key={text} style={px({ left: `${100 * place}%` })}>
            {text}
          </span>
        ))}
      </div>
      {isWhole && isMasked(run) && <Sample kind="masked" path="M1 9L9 1" text={words.masked} />}
      {isWhole && hasNan(run) && <Sample kind="nan" path="M.5.5h9v9h-9zM.5.5l9 9M9.500.5l-9 9" text={words.nan} />}
    </>
  );
}

/**
 * @param {HTMLCanvasElement | null} canvas
 * @param {number} width
 * @param {(share: number) => string} colourAt returns the colour at a share of the width, 0…1
 */
export function paintRamp(canvas, width, colourAt) {
  if (!canvas || width === 0) return;
  const height = canvas.clientHeight;
  const context = sized(canvas, width, height);
  for (let x = 0; x < width; x++) {
    context.fillStyle = colourAt(x / (width - 1));
    context.fillRect(x, 0, 1, height);
  }
}

/**
 * Returns the items of a menu that chooses how weights become colours, and of which heads the picture is the mean.
 * @param {Session} session
 * @returns {Item[]}
 */
export function rampItems(session) {
  const words = session.words.value;
  const run = session.run.value;
  const { colours, mean } = session.state.value;
  const hasSeveralHeads = run && run.about.layers * run.about.heads > 1;
  const means = MEANS.filter((one) => hasSeveralHeads && canMean(run, one));
  const unit = (/** @type {'tokens' | 'words'} */ one) => ({
    key: one,
    label: words.units[one],
    chosen: one === session.state.value.units,
    act: () => session.update({ units: one }),
  });
  return [
    ...(run?.about.words && run.about.kind === 'transformer'
      ? [
          { key: 'units', label: words.units.name, isHeading: true },
          { ...unit('tokens'), more: [unit('words')] },
        ]
      : []),
    { key: 'colours', label: words.colours.name, isHeading: true },
    ...SCALES.map((how) => ({
      key: how,
      label: words.colours[how],
      about: words.colours[`${how}About`],
      chosen: how === colours,
      act: () => session.update({ colours: how }),
    })),
    ...(means.length > 0 ? [{ key: 'means', label: words.means.name, isHeading: true }] : []),
    ...means.map((one) => ({
      key: `mean-${one}`,
      label: words.means[one],
      chosen: one === mean,
      act: () => session.update({ mean: one }),
    })),
  ];
}

/** A symbol of the picture, and its meaning. @param {{ kind: 'masked' | 'nan', path: string, text: string }} props */
function Sample({ kind, path, text }) {
  return (
    <span class={`sample ${kind}`}>
      <svg viewBox="0 0 10 10" aria-hidden="true">
        <path d={path} />
      </svg>
      {text}
    </span>
  );
}
