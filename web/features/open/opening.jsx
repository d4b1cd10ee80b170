// Opens models: from the panel below the menu of models, and from files that are dropped or pasted.

import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { later } from '../../ui/lazy.jsx';
import { useClosing } from '../../ui/useOpening.js';
import { filesIn, openText, withPath } from './droppedFiles.js';

/** @import { Session } from '../../store/session.js' */

const [Choose, Summary] = ['Choose', 'Summary'].map((name) => later(() => import('./openPanel.jsx'), name));

/** @param {DragEvent} event */
const hasFiles = (event) => event.dataTransfer?.types.includes('Files');

/** Opens dropped files, and all files in dropped folders. @param {Session} session @param {DataTransfer} transfer */
async function openDropped(session, transfer) {
  // Both lists are valid only during the event, so they are read before anything is awaited.
  const items = [...transfer.items].map((item) => item.webkitGetAsEntry?.());
  const plain = [...transfer.files].map(withPath);
  const folders = items.some((entry) => entry?.isDirectory);
  try {
    const all = folders ? (await Promise.all(items.filter(Boolean).map((entry) => filesIn(entry)))).flat() : plain;
    session.opening.open(all);
  } catch (error) {
    session.opening.failed({ message: String(error) });
  }
}

/**
 * Opens pasted files, and JSON that is pasted outside text fields.
 * @param {Session} session @param {ClipboardEvent} event
 */
function openPasted(session, event) {
  const target = /** @type {Element} */ (event.composedPath()[0]);
  const writes = /^(TEXTAREA|INPUT)$/.test(target.tagName ?? '');
  const { clipboardData: pasted } = event;
  if (!pasted) return;
  if (pasted.files.length > 0) {
    event.preventDefault();
    return session.opening.open([...pasted.files].map(withPath));
  }
  const text = pasted.getData('text').trim();
  if (writes || !/^[[{]/.test(text)) return;
  event.preventDefault();
  openText(session, text);
}

/**
 * Opens files that are dropped or pasted anywhere on the page.
 * @param {HTMLElement} host
 * @returns {boolean} true while files are dragged over the page
 */
export function useDrop(host) {
  const session = useSession();
  const [over, setOver] = useState(false);
  useEffect(() => {
    const dragOver = (/** @type {DragEvent} */ event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (/** @type {DragEvent} */ event) => !event.relatedTarget && setOver(false);
    const drop = (/** @type {DragEvent} */ event) => {
      if (!event.dataTransfer || !hasFiles(event)) return;
      event.preventDefault();
      setOver(false);
      openDropped(session, event.dataTransfer);
    };
    const paste = (/** @type {ClipboardEvent} */ event) => openPasted(session, event);
    // If the instrument is embedded in another page, events outside the instrument belong to that page.
    const area = session.embedded ? host : window;
    /** @type {[string, any][]} */
    const listeners = [
      ['dragover', dragOver],
      ['dragleave', leave],
      ['drop', drop],
      ['paste', paste],
    ];
    for (const [name, listener] of listeners) area.addEventListener(name, listener);
    return () => {
      for (const [name, listener] of listeners) area.removeEventListener(name, listener);
    };
  }, [host]);
  useLeaveWarning();
  return over;
}

/** Makes the browser ask before it leaves the page, if that would discard opened or unsaved models. */
function useLeaveWarning() {
  const session = useSession();
  const loses = session.losesWork.value;
  useLayoutEffect(() => {
    if (!loses || session.embedded) return;
    const leaving = (/** @type {BeforeUnloadEvent} */ event) => {
      event.preventDefault();
      event.returnValue = '';
    };
    window.addEventListener('beforeunload', leaving);
    return () => window.removeEventListener('beforeunload', leaving);
  }, [loses]);
}

/**
 * The menu of models, with the panel that opens more models.
 * @param {{ children: import('preact').ComponentChildren }} props
 */
export function Opening({ children }) {
  const session = useSession();
  const { opening } = session;
  const shown = opening.panel.value;
  const ref = useClosing(shown !== null && !opening.reading.value, (/** @type {boolean} */ focus) => {
    opening.setPanel(null);
    if (focus) ref.current?.querySelector('button')?.focus();
  });
  return (
    <div class="open" ref={ref}>
      {children}
      {shown === 'choose' && <Choose />}
      {shown === 'summary' && <Summary />}
    </div>
  );
}
