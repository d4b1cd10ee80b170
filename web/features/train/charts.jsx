// Small charts of training with one common line for now: no axes but a base line, the value at the line's end.

import { useRef } from 'preact/hooks';
import { px, useSession, useSize } from '../../ui/context.js';
import { parted, smoothed, valueAt, watched } from './curves.js';

/** Before training begins a chart says what it will show, where it has this height in pixels. */
const ROOMY = 90;
const Waiting = ({ children }) => <p class="waiting">{children}</p>;

/** The room for values at line ends; for the names of heads, whose letters grow with the screen. */
const [LOSS, NAMES] = [72, 92];
const WIDE = 0.31;

/** @param {[number, number][]} marks @param {(step: number) => number} x @param {(value: number) => number} y */
const lineOf = (marks, x, y) =>
  marks.map(([step, value], i) => `${i ? 'L' : 'M'}${x(step).toFixed(1)} ${y(value).toFixed(1)}`).join('');
const until = (marks, step) => marks.filter(([at]) => at <= step);

function useFrame(least) {
  const area = useRef(null);
  const { width, height } = useSize(area);
  const ends = least === NAMES ? Math.max(least, WIDE * width) : least;
  return { area, width: Math.max(width - ends, 10), whole: width, height };
}

/**
 * @param {object} given
 * @param {string} given.name
 * @param {string} given.about shown where one waits, and before training begins
 * @param {[number, number][]} given.marks
 * @param {[number, number][]} [given.before] the run before, thin
 * @param {number} given.step now
 * @param {number} given.end
 * @param {number} [given.most] of the values; otherwise the largest there is
 * @param {boolean} [given.noisy] the line is smoothed, and what was measured stays behind it
 * @param {boolean} [given.bare] without a name above
 * @param {(value: number) => string} given.text
 */
export function Chart({ name, about, marks, before, step, end, most, noisy = false, bare = false, text }) {
  const { area, width, whole, height } = useFrame(bare ? LOSS : NAMES);
  const shown = until(marks, step);
  const quiet = noisy || bare ? smoothed(shown) : shown;
  const last = quiet.at(-1)?.[1];
  const top = most ?? Math.max(...marks.map(([, value]) => value), ...(before ?? []).map(([, value]) => value), 0.01);
  const x = (at) => (width * Math.min(at, end)) / end;
  const y = (value) => 4 + (height - 6) * (1 - Math.min(value, top) / top);
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
          <span
            class="at-end"
            style={px({ left: Math.min(x(step), width) + 8, top: Math.min(Math.max(y(last) - 9, 0), height - 20) })}
          >
            {text(last)}
          </span>
        )}
      </div>
    </figure>
  );
}

/** What the heads do: the best of each kind that the task is about. A press on a name shows that head. */
export function HeadsChart({ curves, watch, step, end }) {
  const session = useSession();
  const words = session.words.value;
  const { area, width, whole, height } = useFrame(NAMES);
  const { layer, head } = session.state.value;
  const lines = watched(curves, watch);
  const x = (at) => (width * Math.min(at, end)) / end;
  const y = (value) => 4 + (height - 6) * (1 - Math.min(Math.max(value, 0), 1));
  const ends = lines.map(({ marks }) => valueAt(until(marks, step), step) ?? 0);
  const places = parted(
    ends.map((value) => y(value) - 9),
    18,
    height - 18,
  );
  const main = watch[watch.length - 1];
  const nameOf = (line) => `${words.trades[line.score]} ${line.layer}.${line.head}`;
  const spoken = lines.map((line, i) => `${nameOf(line)}: ${ends[i].toFixed(2)}`).join(', ');
  const isChosen = (line) => line.layer === layer && line.head === head;
  return (
    <figure class="chart" title={words.train.headsAbout}>
      <figcaption>{words.train.headsDo}</figcaption>
      <div class="plot" ref={area}>
        {height > 0 && (
          <svg width={whole} height={height} role="img" aria-label={`${words.train.headsDo}: ${spoken}`}>
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
        {lines.every(({ marks }) => marks.length < 2) && height >= ROOMY && <Waiting>{words.train.headsAbout}</Waiting>}
        {height > 0 &&
          lines.map((line, i) => (
            <button
              key={line.name}
              type="button"
              class={`at-end word ${line.score === main ? 'main' : ''}`}
              style={px({ left: Math.min(x(step), width) + 8, top: places[i] })}
              onClick={() => session.update({ layer: line.layer, head: line.head })}
            >
              {nameOf(line)}
            </button>
          ))}
      </div>
    </figure>
  );
}
