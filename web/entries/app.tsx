// The page's content: header, sentence, instrument and what-if line, in an arrangement that depends on the width.

import { useEffect, useRef, useState } from 'preact/hooks';
import { Ended } from '../features/crash/feature.ts';
import { FirstSentence } from '../features/first/feature.ts';
import { Header } from '../features/header/feature.ts';
import { useDrop } from '../features/open/feature.ts';
import { Media } from '../features/print/feature.ts';
import { Sentence } from '../features/prompt/feature.ts';
import { Film, Probe, TrainBar, TrainNote } from '../features/train/feature.ts';
import { WhatIf } from '../features/whatif/feature.ts';
import { isSentence } from '../model/firstVisit.ts';
import { shownParts } from '../model/storySteps.ts';
import { isOpen } from '../model/training/settings.ts';
import { useSession } from '../store/context.ts';
import type { Session } from '../store/session.ts';
import { useKeptFocus } from '../ui/focus.ts';
import { LOW, type Screen, screenOf } from '../ui/layout.ts';
import { LengthsContext, useLengthsOf } from '../ui/lengths.ts';
import { px } from '../ui/px.ts';
import { useSize } from '../ui/useSize.ts';
import { Columns } from './columns.tsx';
import { isGrown } from './instrument.tsx';
import { useKeys } from './keys.ts';
import { Stacked } from './stacked.tsx';
import { viewOf } from './views.ts';

export function App({
  host,
  height = 0,
  controls = true,
}: {
  /** the element whose shadow root contains the page */
  host: HTMLElement;
  /** height of the page in pixels, if it does not fill a window */
  height?: number;
  /** false leaves out header, sentence and what-if line */
  controls?: boolean;
}) {
  const session = useSession();
  const words = session.words.value;
  const { width } = useSize(host);
  const low = useLow();
  const screen = screenOf(width || 1, low && height === 0);
  useKeys(host);
  useKeptFocus(host);
  useArrival(host);
  const used = useUsed();
  const over = useDrop(host);
  const state = session.state.value;
  const training = isOpen(state);
  const element = useRef(null as HTMLDivElement | null);
  const look = `page ${screen.kind} ${screen.size ?? ''} ${training ? 'training' : ''}`;
  const old = session.isOld.value && (session.isLate.value || session.failedRun.value !== null);
  const alone = isSentence(state) && !session.embedded;
  const lengths = useLengthsOf(element, look);
  const grows = isGrown(state, session.run.value);
  const hasColumns = screen.kind === 'wide' || screen.kind === 'desk';
  const Arrangement = hasColumns ? Columns : Stacked;
  return (
    <div
      ref={element}
      class={`${look} ${firstLook(session)} ${old ? 'old' : ''}`}
      style={px({ '--vw': (width || 1) / 100, '--height': height || undefined })}
      data-busy={session.busy.value}
      data-shows={state.panel === 'story' ? shownParts(state.step, session.storyLog.value).join(' ') : undefined}
    >
      {alone ? (
        <FirstSentence />
      ) : (
        <>
          <button type="button" class="skip" onClick={() => focusPicture(host)}>
            {words.skip}
          </button>
          {controls && <Header phone={screen.kind === 'phone' && screen.size !== 'low'} />}
          {training ? (
            <Probe />
          ) : (
            controls && !viewOf(state.view, session.run.value).titled && <Sentence small={!hasColumns} />
          )}
          {training && <TrainNote />}
        </>
      )}
      <Messages />
      {!alone && (
        <>
          <LengthsContext.Provider value={lengths}>
            {width > 0 && <Arrangement key={grows} screen={screen} />}
          </LengthsContext.Provider>
          {used && <Media />}
          {training && <Film kind={screen.kind} />}
          <BottomLine screen={screen} controls={controls} />
        </>
      )}
      {over && <div class="dropping">{words.open.dropHere}</div>}
      <Announcement />
    </div>
  );
}

function Messages() {
  const session = useSession();
  return (
    <>
      <Failed />
      {session.refused.value && <Refused {...session.refused.value} />}
      {session.ended.value && <Ended />}
    </>
  );
}

/** Returns the classes of the page during the first visit and just after it. */
function firstLook({ state, arriving, embedded }: Session) {
  const { first } = state.value;
  if (embedded) return '';
  return first === null ? (arriving.value ? 'from-first' : '') : `first first-${first}`;
}

/** Milliseconds in which the instrument appears after the first visit. */
const ARRIVAL = 1000;

/** Moves the focus to the heading of the panel that appears after the first visit. */
function useArrival(host: HTMLElement) {
  const session = useSession();
  const arriving = session.arriving.value;
  useEffect(() => {
    if (!arriving) return;
    const headings = host.shadowRoot?.querySelectorAll('.right .title, .tablet .reading .title, .sheet-line');
    (headings?.[0] as HTMLElement | undefined)?.focus({ preventScroll: true });
    const timer = setTimeout(() => session.setArriving(false), ARRIVAL);
    return () => clearTimeout(timer);
  }, [arriving]);
}

const focusPicture = (host: HTMLElement) => (host.shadowRoot?.querySelector('#picture') as HTMLElement | null)?.focus();

function BottomLine({ screen: { kind, size }, controls }: { screen: Screen; controls: boolean }) {
  const session = useSession();
  if (isOpen(session.state.value)) return <TrainBar kind={size === 'narrow' ? 'tablet' : kind} />;
  return controls ? <WhatIf kind={kind} /> : null;
}

export function Failed() {
  const session = useSession();
  const words = session.words.value;
  const failure = session.failure.value;
  // A failed run gives its reason in place of the picture.
  if (failure === null || session.failedRun.value !== null) return null;
  return (
    <p class="failure" role="alert">
      {words.failed(failure)}{' '}
      <button type="button" class="word strong" onClick={session.retry}>
        {words.again}
      </button>
    </p>
  );
}

function Refused({ title, why }: { title: string; why: string }) {
  const session = useSession();
  const words = session.words.value;
  return (
    <p class="failure" role="alert">
      {words.refused(title, why)}{' '}
      <button type="button" class="word strong" onClick={session.dismissRefused}>
        {words.close}
      </button>
    </p>
  );
}

export function Announcement() {
  return (
    <div class="spoken" role="status" aria-live="polite">
      {useSession().announcement.value}
    </div>
  );
}

/** Returns true if the window is low. Changes only on `resize`, so browser bars that come and go have no effect. */
function useLow() {
  const isLow = () => innerHeight < LOW.height;
  const [low, setLow] = useState(isLow);
  useEffect(() => {
    const update = () => setLow(isLow());
    addEventListener('resize', update);
    return () => removeEventListener('resize', update);
  }, []);
  return low;
}

/** Milliseconds after which rarely needed parts are loaded without an input event. */
const UNTOUCHED = 3000;

/** Returns true after the first movement or key, or UNTOUCHED milliseconds, or if the system forces its own colours. */
function useUsed() {
  const [used, setUsed] = useState(matchMedia('(forced-colors: active)').matches);
  useEffect(() => {
    const use = () => setUsed(true);
    for (const kind of ['pointermove', 'keydown']) addEventListener(kind, use, { once: true });
    // The page can also be printed from the browser's menu before its first input event.
    const timer = setTimeout(use, UNTOUCHED);
    return () => clearTimeout(timer);
  }, []);
  return used;
}
