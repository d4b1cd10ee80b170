// The first screen of a first visit: one sentence, one arc, one switch.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { PICTURE } from '../../model/firstVisit.ts';
import { isOff } from '../../model/modelEdits.ts';
import { initialState } from '../../model/state.ts';
import { shown } from '../../model/tokens.ts';
import { goToFirst, switchHead } from '../../parts/goToFirst.ts';
import { Switch } from '../../parts/headSwitch.tsx';
import { useSession } from '../../store/context.ts';
import type { Session } from '../../store/session.ts';
import { reducedMotion } from '../../ui/motion.ts';
import { px } from '../../ui/px.ts';
import { OtherLanguage } from '../header/feature.ts';
import { type Cases, type Copied, casesOf, copiedBy, partsOf } from './copiedWord.ts';
import { type Drawing, useArc } from './useArc.ts';

/** Duration in milliseconds of the animation in which the second probability falls. It runs once. */
const FALL_MS = 600;
/** If the probability falls to less than this share without the head, the prediction needs the head. */
const NEEDED = 0.5;

const nameOf = (token: string) => shown(token).trim();

export function FirstSentence() {
  const session = useSession();
  const run = session.run.value;
  const cases = useCases();
  const copied = run && copiedBy(run, initialState.layer, initialState.head);
  const isReady = run !== null && copied !== null && cases !== null;
  // If the head copies nothing, the first visit is skipped.
  const isMissing = run !== null && !session.busy.value && !isReady;
  useEffect(() => {
    if (isMissing) goToFirst(session, null);
  }, [isMissing]);
  return <div class="first-screen">{isReady && <Screen copied={copied} cases={cases} />}</div>;
}

/** Returns both cases. Until the answer to a change is complete, they are the cases of the previous run. */
function useCases() {
  const session = useSession();
  const last = useRef(null as Cases | null);
  const run = session.run.value;
  last.current = (run && casesOf(run, session.comparison.value)) ?? last.current;
  return last.current;
}

function Screen({ copied, cases }: { copied: Copied; cases: Cases }) {
  const session = useSession();
  const words = session.words.value.first;
  const on = !isOff(session.state.value, initialState.layer, initialState.head);
  const tried = session.firstTried.value || !on;
  const [still, setStill] = useState(session.firstMoved.value || reducedMotion());
  const screen = useRef(null as HTMLDivElement | null);
  const turn = () => {
    switchHead(session, !on);
    session.announce(spokenOf(session, cases, !on));
  };
  return (
    <div
      class={`first-parts ${still ? 'still' : ''}`}
      ref={screen}
      onPointerDown={() => setStill(true)}
      onKeyDown={() => setStill(true)}
    >
      <Header />
      <Main session={session}>
        <Sentence copied={copied} cases={cases} on={on} turn={turn} />
        <div class="first-told">
          <p class="first-text">
            {words.guesses[0]}
            <i lang="en">{nameOf(on ? cases.word : cases.other)}</i>
            {words.guesses[1]}
            <br />
            {words.head} <Switch name={words.head} on={on} turn={turn} />{' '}
            {on ? <Looked copied={copied} /> : words.copiesNothing}
          </p>
          {tried ? <Bars cases={cases} /> : <p class="to-do">{words.ask}</p>}
          {!on && <p class="first-result">{cases.off < NEEDED * cases.on ? words.needs : words.needsLittle}</p>}
          {words.note && !tried && <p class="first-note">{words.note}</p>}
        </div>
        <div class="first-buttons">
          <button type="button" class={`go ${tried ? 'filled' : ''}`} onClick={() => leave(session, screen.current)}>
            {words.otherWords}
          </button>
          <button type="button" class="word" onClick={() => goToFirst(session, null)}>
            <span class="in-wide">{words.skip}</span>
            <span class="in-narrow">{words.skipShort}</span>
          </button>
        </div>
      </Main>
      <OtherLanguage />
    </div>
  );
}

/** The main part of the screen. It is no <main> element if it is embedded in another page, which has its own. */
function Main({ session, children }: { session: Session; children: ComponentChildren }) {
  const Element = session.embedded ? 'section' : 'main';
  return <Element class="first-main">{children}</Element>;
}

/** Goes to the picture, to which the sentence moves from its current position. */
function leave(session: Session, screen: Element | null) {
  const box = screen?.querySelector('.first-sentence .letters')?.getBoundingClientRect();
  if (box && !reducedMotion()) session.setUnfolding({ left: box.left, top: box.top, width: box.width });
  goToFirst(session, PICTURE);
}

/** Returns the text that a screen reader speaks after the switch was pressed. */
function spokenOf(session: Session, { word, other, on, off }: Cases, isOn: boolean) {
  const { first, percent } = session.words.value;
  const said = first.spoken(isOn, nameOf(isOn ? word : other));
  return `${said} ${first.spokenCases(nameOf(word), percent(on), percent(off))}`;
}

function Header() {
  const words = useSession().words.value.first;
  return (
    <header class="header">
      <h1>Headlight</h1>
      <span class="first-about">{words.about}</span>
    </header>
  );
}

function Looked({ copied: { text, later } }: { copied: Copied }) {
  const words = useSession().words.value.first;
  return (
    <>
      {words.looked[0]}
      <br class="in-wide" /> {words.looked[1]}
      <i lang="en">{text.slice(...later)}</i>
      {words.looked[2]}
    </>
  );
}

/** The sentence with its prediction, and the arc over it. A click on the arc turns the switch too. */
function Sentence({ copied, cases, on, turn }: { copied: Copied; cases: Cases; on: boolean; turn: () => void }) {
  const words = useSession().words.value.first;
  const sentence = useRef(null as HTMLParagraphElement | null);
  const [begin, earlier, space, word, between, later] = partsOf(copied);
  const [guess, other] = [cases.word, cases.other].map(nameOf);
  const letters = copied.text.length + Math.max(guess.length, other.length) + 1;
  const thickness = 1 + 7 * copied.weight;
  const drawing = useArc(sentence, { thickness, on, text: `${copied.text} ${guess} ${other}` });
  return (
    <p class={`first-sentence ${on ? '' : 'off'}`} lang="en" ref={sentence} style={{ '--letters': String(letters) }}>
      {drawing && <Arc drawing={drawing} thickness={thickness} turn={turn} label={words.onArc[on ? 'on' : 'off']} />}
      <span class="letters">
        {begin.text}
        <span class="unbroken">
          <span class="again">{earlier.text}</span>
          {space.text}
          <span class="copied">{word.text}</span>
        </span>
        {between.text}
        <span class="unbroken">
          <span class="again">{later.text}</span>{' '}
          <span class="first-guess">
            <i class={`guess-word ${on ? '' : 'gone'}`} aria-hidden={!on}>
              {guess}
            </i>
            <i class={on ? 'gone' : ''} aria-hidden={on}>
              {other}
            </i>
          </span>
        </span>
      </span>
      {drawing && (
        <i class="travels" aria-hidden="true" style={{ offsetPath: `path("${drawing.arc.path}")` }}>
          {guess}
        </i>
      )}
    </p>
  );
}

function Arc({
  drawing: { arc, width, height },
  thickness,
  label,
  turn,
}: {
  drawing: Drawing;
  thickness: number;
  label: string;
  turn: () => void;
}) {
  return (
    <>
      <svg class="first-arc" width={width} height={height} aria-hidden="true">
        <path class="line" d={arc.path} pathLength="1" stroke-width={thickness} />
        <path class="tip" d={arc.tip} />
        <path class="handle" d={arc.path} onClick={turn} />
      </svg>
      {arc.label && (
        <span class="arc-label" aria-hidden="true" style={px({ left: arc.label.x, top: arc.label.y })}>
          {label}
        </span>
      )}
    </>
  );
}

/** The probability of the prediction with the head on and with the head off. */
function Bars({ cases }: { cases: Cases }) {
  const { first: words, percent } = useSession().words.value;
  const off = useFall(cases.on, cases.off);
  return (
    <div class="first-bars">
      <p>
        {words.probability[0]}
        <i lang="en">{nameOf(cases.word)}</i>
        {words.probability[1]}
      </p>
      <dl>
        {[
          { name: words.cases.on, now: cases.on, said: cases.on },
          { name: words.cases.off, now: off, said: off },
        ].map(({ name, now, said }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <span class="first-track">
                <span class="first-bar" style={{ width: `${100 * now}%` }} />
              </span>
              <b>{percent(said)}</b>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** Returns a number that falls from one value to another, once, in an animation. */
function useFall(from: number, to: number) {
  const session = useSession();
  const falls = useRef(!session.firstFallen.peek() && !reducedMotion());
  const [share, setShare] = useState(falls.current ? 0 : 1);
  useEffect(() => {
    if (!falls.current) return;
    session.markFirstFallen();
    const start = performance.now();
    let frame = requestAnimationFrame(function step(now) {
      const next = Math.min(Math.max((now - start) / FALL_MS, 0), 1);
      setShare(next);
      if (next < 1) frame = requestAnimationFrame(step);
    });
    return () => cancelAnimationFrame(frame);
  }, []);
  return from + (1 - (1 - share) ** 2) * (to - from);
}
