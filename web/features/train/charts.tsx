// Small charts of training, with a common line at the current step. Instead of axes they have a base line and the value
// at the end of each line.

import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { Curves, Mark } from '../../model/training/curves.ts';
import { useSession } from '../../store/context.ts';
import { px } from '../../ui/px.ts';
import { useSize } from '../../ui/useSize.ts';
import { namedLines, parted, smoothed, valueAt, watched } from './chartLines.ts';
import { useTrainTexts } from './texts.ts';
/** returns the pixel of a step or value */
export type Scale = (value: number) => number;

/** A chart at least this high, in pixels, explains itself before training begins. */
const ROOMY = 90;
/** The line height of labels at line ends, in pixels. */
const LINE = 18;
const Waiting = ({ children }: { children: ComponentChildren }) => <p class="waiting">{children}</p>;

/** Width in pixels of a value at a line's end and of heads' names, which also need a share as their font grows. */
const [LOSS, NAMES] = [78, 100];
const NAMES_SHARE = 0.33;

const lineOf = (marks: Mark[], x: Scale, y: Scale) =>
  marks.map(([step, value], i) => `${i ? 'L' : 'M'}${x(step).toFixed(1)} ${y(value).toFixed(1)}`).join('');
const until = (marks: Mark[], step: number) => marks.filter(([at]) => at <= step);

/** Returns the pixel of a share of the height, with a margin so that a line is never cut off at top or bottom. */
const yOf = (height: number, share: number) => 4 + (height - 6) * (1 - share);

/** Returns the size of the plot without the room for labels. */
function useFrame(least: number) {
  const area = useRef(null);
  const { width, height } = useSize(area);
  const ends = least === NAMES ? Math.max(least, NAMES_SHARE * width) : least;
  return { area, width: Math.max(width - ends, 10), whole: width, height };
}

export function Chart({
  name,
  about,
  marks,
  before,
  step,
  end,
  most,
  noisy = false,
  bare = false,
  text,
}: {
  name: string;
  /** explanation of the chart, shown as a tooltip and before training begins */
  about: string;
  marks: Mark[];
  /** the previous run, as a thin line */
  before?: Mark[];
  /** current step */
  step: number;
  end: number;
  /** maximum of the axis, by default the largest value */
  most?: number;
  /** true to smooth the line and draw the measured values behind it */
  noisy?: boolean;
  /** true to leave out the name above the chart */
  bare?: boolean;
  text: (value: number) => string;
}) {
  const { area, width, whole, height } = useFrame(bare ? LOSS : NAMES);
  const shown = until(marks, step);
  const quiet = noisy || bare ? smoothed(shown) : shown;
  const last = quiet.at(-1)?.[1];
  const top = most ?? Math.max(...marks.map(([, value]) => value), ...(before ?? []).map(([, value]) => value), 0.01);
  const x = (at: number) => (width * Math.min(at, end)) / end;
  const y = (value: number) => yOf(height, Math.min(value, top) / top);
  return (
    <figure class="chart" title={about}>
      {!bare && <figcaption>{name}</figcaption>}
      <div class="plot" ref={area}>
        {height > 0 && (
          <svg width={whole} height={height} role="img" aria-label={`${name}: ${last === undefined ? '' : text(last)}`}>
            <path class="base" d={`M0 ${height - 0.5}H${whole}`} />
            {before && <path class="before" d={lineOf(before, x, y)} />}
            {noisy && <path class="noise" d={lineOf(shown, x, y)} />}
            <path class="line" d={lineOf(quiet, x, y)} />
            <path class="now" d={`M${Math.round(x(step)) + 0.5} 0V${height}`} />
          </svg>
        )}
        {!bare && marks.length < 2 && height >= ROOMY && <Waiting>{about}</Waiting>}
        {last !== undefined && (
          <span class="at-end" style={px({ '--x': Math.min(x(step), width), '--y': y(last), '--line': LINE })}>
            {text(last)}
          </span>
        )}
      </div>
    </figure>
  );
}

/** The chart of the best heads of each role that the task needs. A click on a name shows that head. */
export function HeadsChart({
  curves,
  watch,
  step,
  end,
}: {
  curves: Curves;
  watch: string[];
  step: number;
  end: number;
}) {
  const session = useSession();
  const words = session.words.value;
  const texts = useTrainTexts();
  const { area, width, whole, height } = useFrame(NAMES);
  const { layer, head } = session.state.value;
  const lines = watched(curves, watch);
  type Line = (typeof lines)[number];
  const x = (at: number) => (width * Math.min(at, end)) / end;
  const y = (value: number) => yOf(height, Math.min(Math.max(value, 0), 1));
  const endOf = ({ marks }: Line) => valueAt(until(marks, step), step) ?? 0;
  const named = namedLines(lines, Math.floor(height / LINE));
  const places = parted(
    named.map((line) => y(endOf(line))),
    LINE,
    height - LINE / 2,
  );
  const unnamed = lines.length - named.length;
  // Before training the explanation has the room of the names, and no head has a role yet.
  const waits = height >= ROOMY && lines.every(({ marks }) => marks.length < 2);
  const main = watch[watch.length - 1];
  const nameOf = (line: Line) =>
    `${words.roleNames[line.score as keyof typeof words.roleNames]} ${line.layer}.${line.head}`;
  const spoken = lines.map((line) => `${nameOf(line)}: ${endOf(line).toFixed(2)}`).join(', ');
  const isChosen = (line: Line) => line.layer === layer && line.head === head;
  return (
    <figure class="chart" title={texts.headsAbout}>
      <figcaption>
        {texts.headsDo}
        {unnamed > 0 && <small> {texts.moreHeads(unnamed)}</small>}
      </figcaption>
      <div class="plot" ref={area}>
        {height > 0 && (
          <svg width={whole} height={height} role="img" aria-label={`${texts.headsDo}: ${spoken}`}>
            <path class="base" d={`M0 ${height - 0.5}H${whole}`} />
            {lines.map((line) => (
              <path
                key={line.name}
                class={`line ${line.score === main ? 'main' : 'first'} ${isChosen(line) ? 'chosen' : ''}`}
                d={lineOf(until(line.marks, step), x, y)}
              />
            ))}
            <path class="now" d={`M${Math.round(x(step)) + 0.5} 0V${height}`} />
          </svg>
        )}
        {waits && <Waiting>{texts.headsAbout}</Waiting>}
        {height > 0 &&
          !waits &&
          named.map((line, i) => (
            <button
              key={line.name}
              type="button"
              class={`at-end word ${line.score === main ? 'main' : ''}`}
              style={px({ '--x': Math.min(x(step), width), '--y': places[i], '--line': LINE })}
              onClick={() => session.update({ layer: line.layer, head: line.head })}
            >
              {nameOf(line)}
            </button>
          ))}
      </div>
    </figure>
  );
}
