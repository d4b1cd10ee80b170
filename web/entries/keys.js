// Keys that work everywhere on the page, except in a text field.

import { useEffect } from 'preact/hooks';
import { useSession } from '../ui/context.js';

/** @import { Session } from '../store/session.js' */

/** Control or Command with Z or Y. @param {Session} session @param {KeyboardEvent} event */
function undoOrRedo(session, event) {
  const key = event.key.toLowerCase();
  if (key !== 'z' && key !== 'y') return;
  event.preventDefault();
  if (event.shiftKey || key === 'y') session.redo();
  else session.undo();
}

/** @param {Session} session */
function dismiss(session) {
  session.stopWriting();
  session.setHover(null);
  if (session.state.value.cell) session.look({ cell: null });
}

/** [ and ] choose the previous and the next head, { and } the layer. @param {Session} session */
function chooseHead(session, /** @type {KeyboardEvent} */ event) {
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

/** @param {HTMLElement} host */
export function useKeys(host) {
  const session = useSession();
  useEffect(() => {
    const onKey = (/** @type {KeyboardEvent} */ event) => {
      const target = /** @type {HTMLInputElement} */ (event.composedPath()[0]);
      // In another page the keys belong to that page until the instrument has the focus.
      const { activeElement } = document;
      const elsewhere = activeElement !== host && (session.embedded || activeElement !== document.body);
      if (event.defaultPrevented || elsewhere) return;
      if (event.ctrlKey || event.metaKey) return undoOrRedo(session, event);
      if (event.key === 'Escape') return dismiss(session);
      if (/^(TEXTAREA|INPUT)$/.test(target.tagName) && target.type !== 'range') return;
      chooseHead(session, event);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}
