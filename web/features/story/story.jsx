// The story, in the reading column: a title, a sentence or two, what to do, and what was then seen. It moves the
// instrument when a step begins and watches what the visitor does; everything else on the page goes on working.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { runOf } from '../../store/runInput.js';
import { plain, reducedMotion, signed, useSession, weightText } from '../../ui/context.js';
import { shown, wordAt } from '../prompt/tokens.js';
import { readingOf } from '../reading/derivation.js';
import { Bars, Strip } from '../reading/reading.jsx';
import { goTo } from './goTo.js';
import { steps as inEnglish } from './steps.en.js';
import { kept, observe, opened, STEPS, tasksDone } from './steps.js';
import { steps as inChinese } from './steps.zh.js';

export { default as styles } from './story.css';

/** A pointer that passes points at nothing. */
const REST = 350;
/** What is seen is spoken when the hand rests. */
const SPEAK = 700;
const LAST = STEPS.length - 1;
/** @type {Record<string, Record<string, any>>} */
const STORIES = { en: inEnglish, zh: inChinese };

export function Story({ compact = false, phone = false }) {
  const session = useSession();
  const words = session.words.value;
  const { step } = session.state.value;
  const log = session.storyLog.value;
  const title = useRef(/** @type {any} */ (null));
  const { name } = STEPS[step];
  const texts = STORIES[session.language.value][name];
  const tasks = (phone && texts.tasksOnPhone) || texts.tasks;
  const seen = seenTexts(words, texts, name, log[name]);
  const done = tasksDone(step, log);
  const task = tasks[done.indexOf(false)];
  useWatch();
  useSpeech(step, seen);
  useLayoutEffect(() => {
    // Where one step leads to another the title is read; where the story is opened by an address it is not.
    if (session.storyMoved.value) title.current.focus();
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
      {texts.text.map((text) => (
        <p key={text}>
          <Rich of={text} />
        </p>
      ))}
      {name === 'tokens' && <Tokens />}
      {/* What is to be done comes before what is shown of it: it is in sight in a low window too. */}
      {seen.flat().map((one) => (
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

/** Leads on to training. */
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

/** Takes down what the visitor has done, once the answer is whole. */
function useWatch() {
  const session = useSession();
  const state = session.state.value;
  const { step } = state;
  const busy = session.busy.value || session.writing.value;
  const run = session.run.value;
  const real = session.tokenProbabilities.value;
  const trades = session.roles.value;
  const cell = useRested(session.cell.value, state.cell !== null);
  const fits = real && JSON.stringify(runOf(real.state)) === JSON.stringify(runOf(state));
  useEffect(() => {
    if (busy || !run?.T || state.model !== 'whale') return;
    const log = session.storyLog.peek();
    const next = observe(log, step, state, { run, cell, trades, real: fits ? real : null });
    if (next !== log) session.setStoryLog(next);
    const patch = kept(state, next);
    if (patch) session.look(patch);
    if (STEPS[step].name === 'ahead' && !fits) session.requestTokenProbabilities();
  }, [busy, run, cell, trades, real, state]);
}

/** A cell once it is held, or the pointer has rested on it. */
function useRested(cell, held) {
  const [rested, setRested] = useState(cell);
  useEffect(() => {
    if (held) return setRested(cell);
    const timer = setTimeout(() => setRested(cell), REST);
    return () => clearTimeout(timer);
  }, [cell?.t, cell?.s, held]);
  return rested;
}

/** Says what was seen, once for a text. */
function useSpeech(step, seen) {
  const session = useSession();
  const said = useRef('');
  const text = seen
    .flat()
    .map(({ of, given }) => plainText(of, given))
    .join(' ');
  useEffect(() => {
    if (text === '' || said.current === text) return;
    const timer = setTimeout(() => {
      said.current = text;
      session.announce(text);
    }, SPEAK);
    return () => clearTimeout(timer);
  }, [step, text]);
}

/** What was seen, for each task: texts with what is filled in. */
function seenTexts(words, { seen: texts, first }, name, seen) {
  const { percent, story } = words;
  if (!seen) return [];
  const token = (text) => shown(text).trim() || '␣';
  const score = (x) => plain(x);
  const of = (text, given) => ({ of: text, given });
  switch (name) {
    case 'next':
      return [[of(texts[0], { after: seen.after, guess: token(seen.guess), p: percent(seen.p) })]];
    case 'tokens':
      return [
        [
          of(texts[0], {
            word: seen.word,
            count: String(seen.parts.length),
            parts: seen.parts.join(' · '),
            ids: seen.ids.join(' · '),
          }),
        ],
      ];
    case 'back':
      return [
        [
          of(seen.first ? first : texts[0], {
            token: seen.token,
            weight: weightText(seen.weight),
            total: weightText(seen.total),
          }),
        ],
      ];
    case 'why':
      if (!seen.to) return [];
      return [
        [
          of(texts[0], {
            temperature: weightText(seen.temperature),
            scoreFrom: score(seen.before.score),
            scoreTo: score(seen.to.score),
            from: weightText(seen.before.weight),
            to: weightText(seen.to.weight),
          }),
        ],
      ];
    case 'fetched': {
      if (!seen.other) return [];
      const [one, other] = [token(seen.one.text), token(seen.other.text)];
      const winner = seen.one.adds >= seen.other.adds ? one : other;
      const adds = { addsOne: signed(seen.one.adds), addsOther: signed(seen.other.adds) };
      return [[of(texts[0], { one, other, winner, ...adds })]];
    }
    case 'ahead':
      return [
        [
          of(texts[0], {
            token: seen.token,
            next: seen.next,
            place: String(seen.place),
            from: percent(seen.from),
            to: percent(seen.to),
            meanFrom: percent(seen.meanFrom),
            meanTo: percent(seen.meanTo),
          }),
        ],
      ];
    case 'many':
      return ['previous', 'induction'].map((trade, i) => {
        const found = seen[trade];
        return found ? [of(texts[i], { ...places(found), score: weightText(found.score) })] : [];
      });
    case 'matter': {
      const { fell, too, same } = seen;
      const cost = (found) => ({ ...places(found), points: story.points(Math.abs(found.points)) });
      const fall = fell && { text: token(fell.text), from: percent(fell.from), to: percent(fell.to) };
      return [
        fell ? [of(texts[0], { ...places(fell), ...fall })] : [],
        too ? [of(texts[1], cost(too))] : [],
        same ? [of(texts[2], cost(same))] : [],
      ];
    }
    default:
      return [[of(texts[0], {})]];
  }
}
const places = ({ layer, head }) => ({ layer: String(layer), head: String(head) });

const filled = (text, given = {}) => text.replace(/\{(\w+)\}/g, (_, name) => given[name]);
const plainText = (text, given) => filled(text.replaceAll('*', ''), given);

/** *x* is quoted, **x** stands out, {x} is filled in. */
function Rich({ of, given = {} }) {
  return of.split(/(\*\*[^*]+\*\*|\*[^*]+\*)/).map((part, i) => {
    if (part.startsWith('**')) return <b key={i}>{filled(part.slice(2, -2), given)}</b>;
    if (part.startsWith('*') && part.length > 1) return <i key={i}>{filled(part.slice(1, -1), given)}</i>;
    return filled(part, given);
  });
}

/** The tokens of the text, each over its number. */
function Tokens() {
  const session = useSession();
  const words = session.words.value.story;
  const run = session.run.value;
  const cell = session.cell.value;
  if (!run?.T) return null;
  const walk = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const t = Math.min(Math.max((cell?.t ?? 0) + by, 0), run.T - 1);
    look(t);
    event.currentTarget.querySelectorAll('button')[t].focus();
  };
  const look = (t) => {
    session.setHover(null);
    session.look({ cell: { t, s: t } });
  };
  const chosen = cell ? wordAt(run.pieces, Math.min(cell.t, run.T - 1)) : [];
  return (
    <div class="tokens" role="group" aria-label={words.tokens} onKeyDown={walk} lang="en">
      {run.pieces.slice(0, 60).map((piece, t) => (
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

/** From query and key to the weight; the two fall on their product, once. */
function Why() {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const cell = session.cell.value;
  const falls = useRef(!session.productAnimated.peek() && !reducedMotion());
  useEffect(() => {
    session.markProductAnimated();
  }, []);
  if (!cell || !run?.values || cell.s > cell.t || cell.t >= run.T) return null;
  const r = readingOf(run, cell);
  const [asks, answers] = [run.pieces[cell.t].name, run.pieces[cell.s].name];
  return (
    <div class={`strips ${falls.current ? 'falls' : ''}`}>
      <Strip name={words.query} kind="query" values={r.q}>
        <i class="query">{asks}</i>
      </Strip>
      <Strip name={words.key} kind="key" values={r.k}>
        <i class="key">{answers}</i>
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

/** The value of the key, the mixture, and what the head adds to the guess that is followed. */
function Fetched() {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const cell = session.cell.value;
  if (!cell || !run?.values || cell.s > cell.t || cell.t >= run.T) return null;
  const r = readingOf(run, cell);
  const answers = run.pieces[cell.s].name;
  return (
    <div class="strips">
      <Strip name={words.value} kind="value" values={r.v}>
        {weightText(r.weight)} {words.of} <i class="key">{answers}</i>
      </Strip>
      <Strip name={words.mixture} kind="value" values={r.mixture}>
        {words.story.others(r.others.length)}
      </Strip>
      {run.added && (
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
