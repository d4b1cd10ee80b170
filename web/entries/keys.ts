// Handles keys that work everywhere on the page, except in a text field.

import { useEffect } from 'preact/hooks';
import { viewsFor } from '../features/views.ts';
import { isSentence, PICTURE, stepAfter } from '../model/firstVisit.ts';
import { goToFirst } from '../parts/goToFirst.ts';
import { useSession } from '../store/context.ts';
import type { Session } from '../store/session.ts';

/** Handles Control or Command with Z or Y. */
function undoOrRedo(session: Session, event: KeyboardEvent) {
  const key = event.key.toLowerCase();
  if (key !== 'z' && key !== 'y') return;
  event.preventDefault();
  if (event.shiftKey || key === 'y') session.redo();
  else session.undo();
}

function dismiss(session: Session) {
  session.stopWriting();
  session.setHover(null);
  session.setPinnedHover(null);
  if (session.state.value.sum) return session.update({ sum: '' });
  if (session.state.value.cell) session.look({ cell: null });
}

/** Chooses the previous or next head for [ or ], and the previous or next layer for { or }. */
function chooseHead(session: Session, event: KeyboardEvent) {
  const about = session.about.value;
  if (!about) return;
  const { layers, heads } = about;
  const step = new Map([
    ['[', -1],
    [']', 1],
    ['{', -heads],
    ['}', heads],
  ]).get(event.key);
  if (!step) return;
  event.preventDefault();
  const { state, words } = session;
  const count = layers * heads;
  const next = (state.value.layer * heads + state.value.head + step + count) % count;
  const [layer, head] = [Math.floor(next / heads), next % heads];
  session.update({ layer, head }, 'head');
  session.announce(words.value.headName(layer, head));
}

/** The views of the keys 1, 2, 3 … */
const VIEW_KEYS = ['heatmap', 'lines', 'flow', 'trace', 'text', 'atlas'] as const;

/** Chooses a view for a digit, if that view can show the run. */
function chooseView(session: Session, event: KeyboardEvent) {
  const view = VIEW_KEYS[Number(event.key) - 1];
  const { state, run, words } = session;
  if (!view || event.altKey || state.value.first !== null) return;
  if (!viewsFor(state.value, run.value).some(({ name }) => name === view)) return;
  event.preventDefault();
  session.update({ view });
  session.announce(words.value.views[view]);
}

/** Handles the keys of the first visit; returns true if the key was handled. A typed letter is added to the text. */
function walkFirst(session: Session, event: KeyboardEvent, host: HTMLElement): boolean {
  const { first, text } = session.state.peek();
  if (first === null || session.embedded) return false;
  const back = first > PICTURE ? first - 1 : 0;
  const steps = { Escape: null, ArrowRight: stepAfter(first), PageDown: stepAfter(first), ArrowLeft: back };
  if (Object.hasOwn(steps, event.key)) {
    event.preventDefault();
    const step = steps[event.key as keyof typeof steps];
    if (step !== first) goToFirst(session, step);
    return true;
  }
  // The space and the Enter key press the element with the focus, so they are not added to the text.
  if (!isSentence({ first }) || !/^\S$/u.test(event.key) || event.altKey) return false;
  event.preventDefault();
  session.update({ text: text + event.key });
  requestAnimationFrame(() => {
    const field = host.shadowRoot?.querySelector('.sentence textarea') as HTMLTextAreaElement | null;
    field?.focus();
    field?.setSelectionRange(field.value.length, field.value.length);
  });
  return true;
}

export function useKeys(host: HTMLElement) {
  const session = useSession();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.composedPath()[0] as HTMLInputElement;
      // Inside another page, the instrument handles keys only while it has the focus.
      const { activeElement } = document;
      const elsewhere = activeElement !== host && (session.embedded || activeElement !== document.body);
      if (event.defaultPrevented || elsewhere) return;
      if (event.ctrlKey || event.metaKey) return undoOrRedo(session, event);
      const writes = /^(TEXTAREA|INPUT)$/.test(target.tagName) && target.type !== 'range';
      if (!writes && walkFirst(session, event, host)) return;
      if (event.key === 'Escape') return dismiss(session);
      if (writes) return;
      chooseHead(session, event);
      chooseView(session, event);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}
