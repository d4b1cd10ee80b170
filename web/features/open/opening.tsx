// Opens models: from the panel below the menu of models, and from files that are dropped or pasted.

import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { later } from '../../parts/lazy.ts';
import { useSession } from '../../store/context.ts';
import type { Session } from '../../store/session.ts';
import { useClosing } from '../../ui/useOpening.ts';
import { filesIn, openText, withPath } from './droppedFiles.ts';

const [Choose, Summary] = ['Choose', 'Summary'].map((name) => later(() => import('./openPanel.tsx'), name));

const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files');

async function openDropped(session: Session, transfer: DataTransfer) {
  // Both lists are valid only during the event, so they are read before anything is awaited.
  const items = [...transfer.items].map((item) => item.webkitGetAsEntry?.());
  const plain = [...transfer.files].map(withPath);
  const folders = items.some((entry) => entry?.isDirectory);
  try {
    const all = folders
      ? (await Promise.all(items.filter(Boolean).map((entry) => filesIn(entry as FileSystemEntry)))).flat()
      : plain;
    session.opening.open(all);
  } catch (error) {
    session.opening.failed({ message: String(error) });
  }
}

/** Opens pasted files, and JSON that is pasted outside text fields. */
function openPasted(session: Session, event: ClipboardEvent) {
  const target = event.composedPath()[0] as Element;
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

/** Opens files dropped or pasted anywhere on the page; returns true while files are dragged over it. */
export function useDrop(host: HTMLElement): boolean {
  const session = useSession();
  const [over, setOver] = useState(false);
  useEffect(() => {
    const dragOver = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => !event.relatedTarget && setOver(false);
    const drop = (event: DragEvent) => {
      if (!event.dataTransfer || !hasFiles(event)) return;
      event.preventDefault();
      setOver(false);
      openDropped(session, event.dataTransfer);
    };
    const paste = (event: ClipboardEvent) => openPasted(session, event);
    // If the instrument is embedded in another page, events outside the instrument belong to that page.
    const area = session.embedded ? host : window;
    const listeners: [string, EventListener][] = [
      ['dragover', dragOver as EventListener],
      ['dragleave', leave as EventListener],
      ['drop', drop as EventListener],
      ['paste', paste as EventListener],
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
    const leaving = (event: BeforeUnloadEvent) => {
      event.preventDefault();
      event.returnValue = '';
    };
    window.addEventListener('beforeunload', leaving);
    return () => window.removeEventListener('beforeunload', leaving);
  }, [loses]);
}

/** The menu of models, with the panel that opens more models. */
export function Opening({ children }: { children: ComponentChildren }) {
  const session = useSession();
  const { opening } = session;
  const shown = opening.panel.value;
  const ref = useClosing(shown !== null && !opening.reading.value, (focus: boolean) => {
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
