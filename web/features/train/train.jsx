// Training in the same screen: what is taught stands over the model, the sequence it has never seen is the title, how
// well it does takes the reading column, and the head's own history is a film under the picture that is the slider.

import { useEffect, useRef, useState } from 'preact/hooks';
import { px, useSession, useSize } from '../../ui/context.js';
import { Menu } from '../../ui/menu.jsx';
import { PALETTE } from '../../ui/palette.js';
import { More } from '../../ui/popover.jsx';
import { Slider } from '../../ui/slider.jsx';
import { RAMP } from '../heatmap/colourRamp.js';
import { paintWeights } from '../heatmap/paint.js';
import { Chart, HeadsChart } from './charts.jsx';
import { formedAt, framesOf, nearest, valueAt } from './curves.js';
import {
  HEADS,
  isLongEnough,
  LAYERS,
  LEAST_CHARACTERS,
  LEAST_RATE,
  MOST_RATE,
  SPEEDS,
  TASK_NAMES,
  WIDTHS,
} from './lessons.js';

export { default as styles } from './train.css';

/** The sequence: a bar says whether the next letter was guessed. */
export function Probe() {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const cell = session.cell.value;
  const { task } = session.state.value.training;
  const guesses = run?.guesses ?? [];
  const note = words.train.probe[task] ?? '';
  return (
    <section class="sentence probe" aria-label={words.train.unseen}>
      <p class="words letters" lang="en" data-count={run?.pieces?.length > 30 ? 'many' : 'few'}>
        {guesses.length > 0 &&
          run.pieces.map((piece, t) => {
            const { wanted, right } = guesses[t];
            const kind = wanted < 0 ? 'free' : right ? 'right' : 'wrong';
            return (
              <span
                key={t}
                class={`letter ${kind} ${t === cell?.t ? 'asks' : t === cell?.s ? 'answers' : ''}`}
                onPointerEnter={() => session.setHover({ t, s: -1 })}
                onPointerLeave={() => session.setHover(null)}
              >
                {piece.name}
              </span>
            );
          })}
      </p>
      <p class="note">
        {words.train.never} <b class="value">{words.train.underlined}</b>
        {words.train.guessed}
        <br />
        {note}
      </p>
    </section>
  );
}

/** What is taught: the tasks as words, or a word that opens them where there is little room. */
export function Lesson({ compact = false }) {
  const session = useSession();
  const words = session.words.value;
  const { training } = session;
  const { task } = session.state.value.training;
  return (
    <section class="lesson" aria-label={words.train.task}>
      <h2>{words.train.tasks[task]}</h2>
      <p class="what">{words.train.about[task]}</p>
      {compact ? (
        <Menu
          label={words.train.another}
          name={words.train.another}
          items={TASK_NAMES.map((name) => ({
            key: name,
            label: words.train.tasks[name],
            chosen: name === task,
            act: () => training.choose({ task: name }),
          }))}
        />
      ) : (
        <div class="tasks" role="group" aria-label={words.train.task}>
          {TASK_NAMES.map((name) => (
            <button
              key={name}
              type="button"
              class="word"
              aria-pressed={name === task}
              onClick={() => name !== task && training.choose({ task: name })}
            >
              {words.train.tasks[name]}
            </button>
          ))}
        </div>
      )}
      {task === 'text' && <OwnText />}
    </section>
  );
}

/** A text of one's own: it is learned when it is long enough and one says so. */
function OwnText() {
  const session = useSession();
  const words = session.words.value;
  const { lesson } = session.state.value;
  const [text, setText] = useState(lesson);
  useEffect(() => setText(lesson), [lesson]);
  const enough = isLongEnough(text);
  return (
    <div class="own">
      <textarea
        aria-label={words.train.ownText}
        rows={3}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <p>
        <button
          type="button"
          class="word strong"
          disabled={!enough || text === lesson}
          onClick={() => session.training.setLesson(text)}
        >
          {words.train.learn}
        </button>
        <span>{enough ? words.train.heldOut : words.train.short(LEAST_CHARACTERS)}</span>
      </p>
    </div>
  );
}

/** How well it does, with one line for now through all charts. */
export function Charts({ compact = false }) {
  const session = useSession();
  const words = session.words.value;
  const { progress, curves, previousCurves, watch } = session.training;
  const now = progress.value;
  const all = curves.value;
  const step = now?.at ?? now?.steps ?? 0;
  const end = now?.end ?? 1;
  const right = valueAt(all.right, step);
  const old = previousCurves.value;
  const shared = { step, end };
  return (
    <section class={`charts ${compact ? 'compact' : ''}`} aria-label={words.train.progress}>
      <h2 class="title">{right === undefined ? words.train.untrained : words.train.right(right)}</h2>
      <p class="how">{words.train.onUnseen}</p>
      <Chart
        {...shared}
        name={words.train.loss}
        marks={all.loss}
        before={old?.loss}
        noisy
        text={(x) => x.toFixed(2)}
        about={words.train.lossAbout}
      />
      <Chart
        {...shared}
        name={words.train.rightUnseen}
        marks={all.right}
        before={old?.right}
        most={1}
        text={words.train.percent}
        about={words.train.rightAbout}
      />
      {watch.value.length > 0 && <HeadsChart {...shared} curves={all} watch={watch.value} />}
      {old && <p class="older">{words.train.older}</p>}
    </section>
  );
}

/** The share right and the loss alone, for a phone. */
export function ShortCharts() {
  const session = useSession();
  const words = session.words.value;
  const { progress, curves, previousCurves } = session.training;
  const now = progress.value;
  const step = now?.at ?? now?.steps ?? 0;
  const right = valueAt(curves.value.right, step);
  return (
    <section class="charts short" aria-label={words.train.progress}>
      <h2 class="title">{right === undefined ? words.train.untrained : words.train.right(right)}</h2>
      <p class="how">{words.train.onUnseenShort}</p>
      <Chart
        step={step}
        end={now?.end ?? 1}
        marks={curves.value.loss}
        before={previousCurves.value?.loss}
        name={words.train.loss}
        bare
        text={(x) => `${words.train.lossShort} ${x.toFixed(2)}`}
        about={words.train.lossAbout}
      />
    </section>
  );
}

/** The head's own history. The slider under it walks from step to step. */
export function Film({ kind }) {
  const session = useSession();
  const words = session.words.value;
  const { progress, film, curves, watch } = session.training;
  const area = useRef(null);
  const { width } = useSize(area);
  const now = progress.value;
  const frames = film.value;
  const size = kind === 'phone' ? 40 : kind === 'tablet' ? 52 : kind === 'wide' ? 60 : 52;
  const places = Math.max(Math.floor((width + 14) / (size + 14)), 2);
  const end = now?.end ?? 1;
  const steps = now?.steps ?? 0;
  const step = now?.at ?? steps;
  const shown = framesOf(frames, end, places, steps);
  const across = (width - size) / (places - 1);
  const formed = formedAt(curves.value, watch.value);
  const at = (value) => `${(100 * value) / end}%`;
  const walk = (event) => {
    const move = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (!move || frames.length === 0) return;
    event.preventDefault();
    const i = Math.min(Math.max(nearest(frames, step) + move, 0), frames.length - 1);
    session.training.showStep(frames[i].step);
  };
  const knob = (100 * step) / end;
  return (
    <section class="film" aria-label={words.train.film}>
      <div class="frames" ref={area} style={px({ height: size })} aria-hidden="true">
        {width > 0 &&
          shown.map((i, place) => (
            <Frame key={place} frame={i === null ? null : frames[i]} left={place * across} size={size} />
          ))}
      </div>
      <div class="time">
        <span class="past" style={{ width: at(step) }} />
        <span class="present" style={{ width: at(steps) }} />
        <input
          type="range"
          min={0}
          max={end}
          step={1}
          value={step}
          aria-label={words.train.film}
          aria-valuetext={words.train.stepOf(step, end)}
          onInput={(event) => {
            const wanted = Math.min(Number(event.currentTarget.value), steps);
            event.currentTarget.value = String(wanted);
            session.training.showStep(wanted);
          }}
          onKeyDown={walk}
        />
      </div>
      <p class="marks">
        {knob > 9 && <span>{words.train.step(0)}</span>}
        {formed !== null && formed <= steps && (
          <span
            class={`formed ${Math.abs(formed - step) / end < (kind === 'phone' ? 0.36 : 0.14) ? 'hidden' : ''}`}
            style={{ left: at(formed) }}
          >
            {words.train.formed(formed, watch.value.at(-1))}
          </span>
        )}
        <b style={{ left: `clamp(2.2em, ${knob}%, calc(100% - 2.2em))` }}>{words.train.step(step)}</b>
      </p>
    </section>
  );
}

/** One moment of the head that is shown. */
function Frame({ frame, left, size }) {
  const session = useSession();
  const theme = session.theme.value;
  const run = session.run.value;
  const { layer, head } = session.state.value;
  const canvas = useRef(/** @type {any} */ (null));
  const T = run?.T ?? 0;
  const heads = run?.about?.heads ?? 1;
  useEffect(() => {
    if (!frame || !canvas.current || T === 0) return;
    const from = (layer * heads + head) * T * T;
    if (frame.weights.length < from + T * T) return;
    const weights = frame.weights.subarray(from, from + T * T);
    paintWeights(canvas.current, weights, T, T, size, false, RAMP[theme], PALETTE[theme]);
  }, [frame, layer, head, heads, T, size, theme]);
  return (
    <span class={`frame ${frame ? '' : 'empty'}`} style={px({ left, width: size, height: size })}>
      {frame && <canvas ref={canvas} />}
    </span>
  );
}

const SPAN = [Math.log10(LEAST_RATE), Math.log10(MOST_RATE)];
const toRate = (knob) => Number((10 ** knob).toPrecision(2));

/** Play, one step, start over; rate and sizes; and what one takes along. */
export function TrainBar({ kind }) {
  const session = useSession();
  const words = session.words.value.train;
  const { training } = session;
  const { layers, heads, width, rate } = session.state.value.training;
  const now = training.progress.value;
  const playing = now?.playing || training.replaying.value;
  const phone = kind === 'phone';
  const narrow = phone || kind === 'tablet';
  const play = (
    <button type="button" class="play" aria-label={playing ? words.pause : words.play} onClick={training.play}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        {playing ? (
          <path d="M6.600 5.500v9M13.400 5.500v9" />
        ) : (
          <path class="full" d="M7 4.500l8.500 5.500L7 15.500z" />
        )}
      </svg>
    </button>
  );
  const speeds = (
    <Menu
      up
      className="strong speed"
      name={`${words.speed}: ${words.perSecondShown(training.speed.value, phone)}`}
      label={words
        .perSecondShown(training.speed.value, phone)
        .split(/(\d+)/)
        .map((part) => (/\d/.test(part) ? <b key="number">{part}</b> : part))}
      items={SPEEDS.map((value) => ({
        key: String(value),
        label: words.perSecond(value),
        chosen: value === training.speed.value,
        act: () => training.setSpeed(value),
      }))}
    />
  );
  const sizes = (
    <span class="group">
      <Size name={words.layers} choices={LAYERS} value={layers} field="layers" />
      {words.of}
      <Size name={words.heads} choices={HEADS} value={heads} field="heads" />
      <span class="comma">{words.comma}</span>
      <Size name={words.wide} choices={WIDTHS} value={width} field="width" />
    </span>
  );
  const slider = (
    <Slider
      label={words.rate}
      least={SPAN[0]}
      most={SPAN[1]}
      step={0.05}
      value={Math.log10(rate)}
      text={String(rate)}
      onInput={(knob) => training.setRate(toRate(knob))}
      onSettle={session.endGesture}
    />
  );
  const one = (
    <button type="button" class="word strong" onClick={training.step}>
      {words.oneStep}
    </button>
  );
  const again = (
    <button type="button" class="word strong" onClick={training.restart}>
      {words.again}
    </button>
  );
  const keep = <Keep />;
  return (
    <section class="whatif trainbar" aria-label={words.controls}>
      {play}
      {speeds}
      {phone ? (
        <More>
          <Lesson compact />
          <p>
            {one} {again} {keep}
          </p>
          {slider}
          {sizes}
        </More>
      ) : (
        <>
          {one}
          {again}
          {slider}
          {!narrow && sizes}
          {narrow && (
            <More>
              {sizes} {keep}
            </More>
          )}
        </>
      )}
      <span class="actions">
        <button type="button" class="word strong" disabled={!now} onClick={training.readText}>
          {phone ? words.tryShort : words.tryIt}
        </button>
        {!narrow && keep}
      </span>
    </section>
  );
}

function Size({ name, choices, value, field }) {
  const session = useSession();
  return (
    <Menu
      up
      name={name(value)}
      label={name(value)}
      items={choices.map((choice) => ({
        key: String(choice),
        label: name(choice),
        chosen: choice === value,
        act: () => choice !== value && session.training.choose({ [field]: choice }),
      }))}
    />
  );
}

/** The trained model as a file, and the file as a model again. */
function Keep() {
  const session = useSession();
  const words = session.words.value.train;
  const { training } = session;
  const input = useRef(/** @type {any} */ (null));
  const now = training.progress.value;
  const kept = training.savedModels.value.find(({ key }) => key === now?.key);
  return (
    <>
      <Menu
        up
        right
        className="strong"
        label={words.save}
        name={words.save}
        items={[
          { key: 'file', label: words.file, about: words.fileAbout, act: training.save },
          { key: 'folder', label: words.folder, about: words.folderAbout, act: training.saveFolder },
          { key: 'onnx', label: words.onnx, about: words.onnxAbout, act: training.saveOnnx },
          { key: 'open', label: words.open, about: words.openAbout, act: () => input.current.click() },
          ...(kept
            ? [
                {
                  key: 'remove',
                  label: words.remove,
                  about: words.keptAbout(kept.steps),
                  act: () => training.removeSaved(kept.key),
                },
              ]
            : []),
        ]}
      />
      <input
        ref={input}
        class="hidden"
        type="file"
        accept=".safetensors"
        tabIndex={-1}
        aria-hidden="true"
        onChange={async ({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          if (file) training.loadFile(new Uint8Array(await file.arrayBuffer()));
          currentTarget.value = '';
        }}
      />
    </>
  );
}

/** What went wrong, and what one can do. */
export function TrainNote() {
  const session = useSession();
  const words = session.words.value.train;
  const { diverged, problem } = session.training;
  const lost = diverged.value;
  if (!lost && !problem.value) return null;
  return (
    <p class="failure train-note" role="alert">
      {lost ? words.astray(lost) : problem.value === 'full' ? words.full : words.notKept(problem.value ?? '')}
    </p>
  );
}
