// The colour ramp with its marks, the menu of colours, and the meaning of the symbols in the picture.

import { useEffect, useRef } from 'preact/hooks';
import { marksOf, RAMP, weightAt } from '../drawing/colourRamp.ts';
import { sized } from '../drawing/paintWeights.ts';
import type { Run } from '../drawing/types.ts';
import { weightsOf } from '../model/derivation.ts';
import { canMean, MEANS } from '../model/meanOfHeads.ts';
import { SCALES } from '../model/state.ts';
import { useSession } from '../store/context.ts';
import type { Session } from '../store/session.ts';
import type { Item } from '../ui/menu.tsx';
import type { Theme } from '../ui/palette.ts';
import { px } from '../ui/px.ts';
import { useSize } from '../ui/useSize.ts';
import { maxWeightOf } from './useColours.ts';

const isMasked = (run: Run | null) => {
  const scores = run?.values?.scores;
  const isVisible = (i: number) => !run?.about.causal || i % run.S <= i / run.S;
  return Boolean(
    scores?.some((score: number, i: number) => {
      return score === Number.NEGATIVE_INFINITY && isVisible(i);
    }),
  );
};
const hasNan = (run: Run | null) => Boolean(run && weightsOf(run, run.layer, run.head)?.some(Number.isNaN));

/** isWhole: true to explain the symbols of the picture too */
export function Ramp({ isWhole = false }: { isWhole?: boolean }) {
  const session = useSession();
  const words = session.words.value;
  const theme: Theme = session.theme.value;
  const [box, bar] = [useRef(null), useRef(null as HTMLCanvasElement | null)];
  const { width } = useSize(box);
  const run: Run | null = session.run.value;
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

export function paintRamp(canvas: HTMLCanvasElement | null, width: number, colourAt: (share: number) => string) {
  if (!canvas || width === 0) return;
  const height = canvas.clientHeight;
  const context = sized(canvas, width, height);
  for (let x = 0; x < width; x++) {
    context.fillStyle = colourAt(x / (width - 1));
    context.fillRect(x, 0, 1, height);
  }
}

/** Returns the items of a menu that chooses how weights become colours, and of which heads the picture is the mean. */
export function rampItems(session: Session): Item[] {
  const words = session.words.value;
  const run = session.run.value;
  const { colours, mean } = session.state.value;
  const hasSeveralHeads = run && run.about.layers * run.about.heads > 1;
  const means = MEANS.filter((one) => hasSeveralHeads && canMean(run, one));
  const unit = (one: 'tokens' | 'words') => ({
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

/** A symbol of the picture, and its meaning. */
function Sample({ kind, path, text }: { kind: 'masked' | 'nan'; path: string; text: string }) {
  return (
    <span class={`sample ${kind}`}>
      <svg viewBox="0 0 10 10" aria-hidden="true">
        <path d={path} />
      </svg>
      {text}
    </span>
  );
}
