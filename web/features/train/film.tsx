// The film shows how the attention of one head changes during training. A slider goes to a step.

import { useEffect, useRef } from 'preact/hooks';
import { RAMP } from '../../drawing/colourRamp.ts';
import { paintWeights } from '../../drawing/paintWeights.ts';
import { nearest } from '../../model/training/curves.ts';
import { useSession } from '../../store/context.ts';
import { PALETTE } from '../../ui/palette.ts';
import { useSize } from '../../ui/useSize.ts';
import { formedAt, framesOf } from './chartLines.ts';
import { useTrainTexts } from './texts.ts';

/** weights: those of all heads, (L,H,T,T) */
export type FilmFrame = { step: number; weights: Float32Array };

/** The distance, as a share of the slider, within which two labels would overlap: on a phone, and on other screens. */
const OVERLAP = { phone: 0.36, other: 0.14 };
/** The same distance between the label of step 0, which is at the left edge, and that of the current step. */
const OVERLAP_AT_0 = { phone: 0.28, other: 0.12 };

/** The attention of the chosen head during training. A slider below goes to a step. */
export function Film({ kind }: { kind: string }) {
  const session = useSession();
  const texts = useTrainTexts();
  const { progress, film, curves, watch } = session.training;
  const now = progress.value;
  const end = now?.end ?? 1;
  const steps = now?.steps ?? 0;
  const step = now?.at ?? steps;
  const formed = formedAt(curves.value, watch.value);
  const size = kind === 'phone' ? 'phone' : 'other';
  const overlap = OVERLAP[size];
  const position = (100 * step) / end;
  return (
    <section class="film" aria-label={texts.film}>
      <Frames frames={film.value} end={end} steps={steps} />
      <Time frames={film.value} end={end} steps={steps} step={step} />
      <p class="marks">
        {step / end > OVERLAP_AT_0[size] && <span>{texts.step(0)}</span>}
        {formed !== null && formed <= steps && (
          <span
            class={`formed ${Math.abs(formed - step) / end < overlap ? 'hidden' : ''}`}
            style={{ left: `${(100 * formed) / end}%` }}
          >
            {texts.formed(formed, watch.value.at(-1))}
          </span>
        )}
        <b style={{ left: `clamp(2.2em, ${position}%, calc(100% - 2.2em))` }}>{texts.step(step)}</b>
      </p>
    </section>
  );
}

/** Minimum number of pixels between two frames. */
const GAP = 14;

/** As many frames as fit next to each other. The style sheet determines the size of a frame. */
function Frames({ frames, end, steps }: { frames: FilmFrame[]; end: number; steps: number }) {
  const area = useRef(null as HTMLDivElement | null);
  const { width, height: size } = useSize(area);
  const count = Math.max(Math.floor((width + GAP) / (size + GAP)), 2);
  return (
    <div class="frames" ref={area} aria-hidden="true">
      {width > 0 &&
        framesOf(frames, end, count, steps).map((i, place) => (
          <Frame key={place} frame={i === null ? null : frames[i]} size={size} />
        ))}
    </div>
  );
}

/** The slider. Arrow keys move it from frame to frame. */
function Time({ frames, end, steps, step }: { frames: FilmFrame[]; end: number; steps: number; step: number }) {
  const session = useSession();
  const texts = useTrainTexts();
  const share = (value: number) => `${(100 * value) / end}%`;
  const walk = (event: KeyboardEvent) => {
    const moves: Record<string, number> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };
    const move = moves[event.key];
    if (!move || frames.length === 0) return;
    event.preventDefault();
    const i = Math.min(Math.max(nearest(frames, step) + move, 0), frames.length - 1);
    session.training.showStep(frames[i].step);
  };
  return (
    <div class="time">
      <span class="past" style={{ width: share(step) }} />
      <span class="present" style={{ width: share(steps) }} />
      <input
        type="range"
        min={0}
        max={end}
        step={1}
        value={step}
        aria-label={texts.film}
        aria-valuetext={texts.stepOf(step, end)}
        onInput={(event) => {
          const wanted = Math.min(Number(event.currentTarget.value), steps);
          event.currentTarget.value = String(wanted);
          session.training.showStep(wanted);
        }}
        onKeyDown={walk}
      />
    </div>
  );
}

/** The attention of the chosen head at one step. */
function Frame({ frame, size }: { frame: FilmFrame | null; size: number }) {
  const session = useSession();
  const theme = session.theme.value;
  const run = session.run.value;
  const { layer, head } = session.state.value;
  const canvas = useRef(null as HTMLCanvasElement | null);
  const T = run?.T ?? 0;
  const heads = run?.about?.heads ?? 1;
  useEffect(() => {
    if (!frame || !canvas.current || T === 0) return;
    const from = (layer * heads + head) * T * T;
    if (frame.weights.length < from + T * T) return;
    const weights = frame.weights.subarray(from, from + T * T);
    paintWeights(canvas.current, weights, T, T, size, false, RAMP[theme], PALETTE[theme]);
  }, [frame, layer, head, heads, T, size, theme]);
  return <span class={`frame ${frame ? '' : 'empty'}`}>{frame && <canvas ref={canvas} />}</span>;
}
