// The story in the reading column: a title, a short text, a task, and the observations. It sets the state of the page
// when a step begins and observes the visitor's actions; the rest of the page continues to work.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { runOf } from '../../store/runInput.js';
import { hasContributions, hasValues } from '../../store/runParts.js';
import { plain, signed, weightText } from '../../texts/numbers.js';
import { useSession } from '../../ui/context.js';
import { reducedMotion } from '../../ui/motion.js';
import { shown, wordAt } from '../prompt/tokens.js';
import { readingOf } from '../reading/derivation.js';
import { Bars } from '../reading/numberBars.jsx';
import { Strip } from '../reading/reading.jsx';
import { goTo } from './goTo.js';
import { corrections, observe, opened, tasksDone } from './observations.js';
import { observationTexts } from './observationTexts.js';
import { steps as inEnglish } from './steps.en.js';
import { STEPS } from './steps.js';
import { steps as inChinese } from './steps.zh.js';

export { default as styles } from './story.css';

/** @import { Cell } from '../../store/state.js' */
/** @import { Piece } from '../prompt/tokens.js' */
/** @import { Filled } from './observationTexts.js' */

/** Milliseconds that the pointer must rest on a cell: a pointer that only passes a cell does not choose it. */
const REST = 350;
/** Milliseconds without a change before an observation is spoken. */
const SPEAK = 700;
const LAST = STEPS.length - 1;
/** @type {Record<string, Record<string, any>>} */
const STORIES = { en: inEnglish, zh: inChinese };

export function Story({ compact = false, phone = false }) {
  const session = useSession();
  const words = session.words.value;
  const { step } = session.state.value;
  const log = session.storyLog.value;
  const title = useRef(/** @type {HTMLHeadingElement | null} */ (null));
  const { name } = STEPS[step];
  const texts = STORIES[session.language.value][name];
  const tasks = phone && texts.firstTaskOnPhone ? [texts.firstTaskOnPhone, ...texts.tasks.slice(1)] : texts.tasks;
  const seen = observationTexts(words, texts, name, log[name]);
  const done = tasksDone(step, log);
  const task = tasks[done.indexOf(false)];
  useWatch();
  useSpeech(step, seen);
  useLayoutEffect(() => {
    // After a change of the step the title has the focus, but not if the story was opened by an address.
    if (session.storyMoved.value) title.current?.focus();
  }, [step]);
  const dense = compact || name === 'why' || name === 'fetched';
  return (
    <section
      class={`story ${dense ? 'dense' : ''} ${compact ? 'short' : ''}`}
      aria-labelledby="story-title"
      data-step={step + 1}
    >
      <p class="story-of">{words.story.of(step + 1, STEPS.length)}</p>
      <h2 id="story-title" tabIndex={-1} ref={title}>
        {texts.title}
      </h2>
      {texts.text.map((/** @type {string} */ text) => (
        <p key={text}>
          <Rich of={text} />
        </p>
      ))}
      {name === 'tokens' && <Tokens />}
      {/* Observations and task come before the figures: so they are visible in a low window too. */}
      {seen.map((one) => (
        <p key={one.of} class="seen">
          <Rich {...one} />
        </p>
      ))}
      {task && (
        <div class="do">
          <p>
            <Rich of={task} />
          </p>
          {name === 'train' && <TrainLink text={texts.act} />}
        </div>
      )}
      {name === 'why' && <Why />}
      {name === 'fetched' && <Fetched />}
      <Steps />
      <p class="free">{words.story.free}</p>
    </section>
  );
}

/** Opens training. @param {{ text: string }} props */
function TrainLink({ text }) {
  const session = useSession();
  const go = () => {
    session.setStoryLog(opened(session.storyLog.peek()));
    session.training.enter();
  };
  return (
    <button type="button" class="act" onClick={go}>
      {text}
    </button>
  );
}

function Steps() {
  const session = useSession();
  const words = session.words.value.story;
  const texts = STORIES[session.language.value];
  const { step } = session.state.value;
  const log = session.storyLog.value;
  const isDone = tasksDone(step, log).every((one) => one);
  const next = texts[STEPS[Math.min(step + 1, LAST)].name];
  return (
    <nav class="steps" aria-label={words.dots}>
      <ol>
        {STEPS.map(({ name }, i) => {
          const ready = tasksDone(i, log).every((one) => one);
          const label = words.dot(i + 1, texts[name].title, ready);
          return (
            <li key={name}>
              <button
                type="button"
                class={ready || i < step ? 'past' : ''}
                aria-current={i === step ? 'step' : undefined}
                aria-label={label}
                title={label}
                onClick={() => goTo(session, i)}
              />
            </li>
          );
        })}
      </ol>
      {step > 0 && (
        <button type="button" class="word" onClick={() => goTo(session, step - 1)}>
          {words.back}
        </button>
      )}
      <button
        type="button"
        class={`word ${isDone ? 'strong' : ''}`}
        onClick={() => (step < LAST ? goTo(session, step + 1) : session.update({ panel: 'reading' }))}
      >
        {step < LAST ? words.next(next.short ?? next.title) : words.end}
      </button>
    </nav>
  );
}

/** Observes the visitor's actions, once the answer to them is complete. */
function useWatch() {
  const session = useSession();
  const state = session.state.value;
  const { step } = state;
  const busy = session.busy.value || session.writing.value;
  const run = session.run.value;
  const real = session.tokenProbabilities.value;
  const roles = session.roles.value;
  const cell = useRested(session.cell.value, state.cell !== null);
  const fits = real && JSON.stringify(runOf(real.state)) === JSON.stringify(runOf(state));
  useEffect(() => {
    if (busy || !run?.T || state.model !== 'whale') return;
    const log = session.storyLog.peek();
    const next = observe(log, step, state, { run, cell, roles, real: fits ? real : null });
    if (next !== log) session.setStoryLog(next);
    const patch = corrections(state, next);
    if (patch) session.look(patch);
    if (STEPS[step].name === 'ahead' && !fits) session.requestTokenProbabilities();
  }, [busy, run, cell, roles, real, state]);
}

/**
 * The cell, once it is locked or the pointer has rested on it.
 * @param {Cell | null} cell
 * @param {boolean} locked
 */
function useRested(cell, locked) {
  const [rested, setRested] = useState(cell);
  useEffect(() => {
    if (locked) return setRested(cell);
    const timer = setTimeout(() => setRested(cell), REST);
    return () => clearTimeout(timer);
  }, [cell?.t, cell?.s, locked]);
  return rested;
}

/** Speaks each observation once. @param {number} step @param {Filled[]} seen */
function useSpeech(step, seen) {
  const session = useSession();
  const said = useRef('');
  const text = seen.map(plainText).join(' ');
  useEffect(() => {
    if (text === '' || said.current === text) return;
    const timer = setTimeout(() => {
      said.current = text;
      session.announce(text);
    }, SPEAK);
    return () => clearTimeout(timer);
  }, [step, text]);
}

/** @param {string} text @param {Record<string, string>} [values] */
const filled = (text, values = {}) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
/** @param {Filled} filled */
const plainText = ({ of, values }) => filled(of.replaceAll('*', ''), values);

/**
 * Renders a text: *x* is a quotation, **x** is emphasized, {x} is replaced by a value.
 * @param {{ of: string, values?: Record<string, string> }} props
 */
function Rich({ of, values = {} }) {
  return of.split(/(\*\*[^*]+\*\*|\*[^*]+\*)/).map((part, i) => {
    if (part.startsWith('**')) return <b key={i}>{filled(part.slice(2, -2), values)}</b>;
    if (part.startsWith('*') && part.length > 1) return <i key={i}>{filled(part.slice(1, -1), values)}</i>;
    return filled(part, values);
  });
}

/** Maximum number of tokens that are listed. */
const MAX_TOKENS = 60;

/** The tokens of the text, each with its number below it. */
function Tokens() {
  const session = useSession();
  const words = session.words.value.story;
  const run = session.run.value;
  const cell = session.cell.value;
  if (!run?.T) return null;
  const walk = (/** @type {import('preact').TargetedKeyboardEvent<HTMLElement>} */ event) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const t = Math.min(Math.max((cell?.t ?? 0) + by, 0), run.T - 1);
    look(t);
    event.currentTarget.querySelectorAll('button')[t].focus();
  };
  const look = (/** @type {number} */ t) => {
    session.setHover(null);
    session.look({ cell: { t, s: t } });
  };
  const chosen = cell ? wordAt(run.pieces, Math.min(cell.t, run.T - 1)) : [];
  return (
    <div class="tokens" role="group" aria-label={words.tokens} onKeyDown={walk} lang="en">
      {run.pieces.slice(0, MAX_TOKENS).map((/** @type {Piece} */ piece, /** @type {number} */ t) => (
        <button
          key={t}
          type="button"
          tabIndex={t === (cell?.t ?? 0) ? 0 : -1}
          class={`${piece.space || t === 0 ? 'begins' : ''} ${chosen.includes(piece) ? 'chosen' : ''}`}
          aria-pressed={chosen.includes(piece)}
          onClick={() => look(t)}
        >
          <span class="letters">{piece.name}</span>
          <span class="number">{piece.id}</span>
        </button>
      ))}
    </div>
  );
}

/** From query and key to the weight. Once, an animation moves the two onto their product. */
function Why() {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const cell = session.cell.value;
  const falls = useRef(!session.productAnimated.peek() && !reducedMotion());
  useEffect(() => {
    session.markProductAnimated();
  }, []);
  if (!cell || !hasValues(run) || cell.s > cell.t || cell.t >= run.T) return null;
  const r = readingOf(run, cell);
  const [query, key] = [run.pieces[cell.t].name, run.pieces[cell.s].name];
  return (
    <div class={`strips ${falls.current ? 'falls' : ''}`}>
      <Strip name={words.query} kind="query" values={r.q}>
        <i class="query">{query}</i>
      </Strip>
      <Strip name={words.key} kind="key" values={r.k}>
        <i class="key">{key}</i>
      </Strip>
      <div class="product">
        <Strip name={words.product} kind="data" values={r.product}>
          {words.story.score} <b data-name="score">{plain(r.score)}</b>
        </Strip>
        {falls.current && (
          <div class="ghosts" aria-hidden="true">
            <div class="ghost strip query">
              <Bars kind="query" values={r.q} mark={-1} />
            </div>
            <div class="ghost strip key">
              <Bars kind="key" values={r.k} mark={-1} />
            </div>
          </div>
        )}
      </div>
      <Strip name={words.softmax} kind="softmax" values={r.weights} mark={cell.s}>
        {words.story.weight} <b data-name="story-weight">{weightText(r.weight)}</b>
      </Strip>
    </div>
  );
}

/** The value of the key token, the mixture of values, and the head's contribution to the chosen guess. */
function Fetched() {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const cell = session.cell.value;
  if (!cell || !hasValues(run) || cell.s > cell.t || cell.t >= run.T) return null;
  const r = readingOf(run, cell);
  const key = run.pieces[cell.s].name;
  return (
    <div class="strips">
      <Strip name={words.value} kind="value" values={r.v}>
        {weightText(r.weight)} {words.of} <i class="key">{key}</i>
      </Strip>
      <Strip name={words.mixture} kind="value" values={r.mixture}>
        {words.story.others(r.others.length)}
      </Strip>
      {hasContributions(run) && (
        <p class="adds">
          <span>
            {words.adds} <i>{shown(run.chosen.text).trim()}</i>
          </span>
          <b data-name="head-adds">{signed(run.added.heads[run.layer * run.about.heads + run.head])}</b>
        </p>
      )}
    </div>
  );
}
