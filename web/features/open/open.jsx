// Models to put in: the word in the header, and what is dropped or pasted.

import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { useClosing, useSession } from '../../ui/context.js';
import { later } from '../../ui/lazy.jsx';
import { filesIn, openText, withPath } from './droppedFiles.js';

const [Choose, Told] = ['Choose', 'Told'].map((name) => later(() => import('./openPanel.jsx'), name));

/** Files may be dropped anywhere, and pasted where one does not write. Who would lose something by leaving is asked. */
export function useDrop(host) {
  const session = useSession();
  const [over, setOver] = useState(false);
  useEffect(() => {
    const carries = (event) => event.dataTransfer?.types.includes('Files');
    const dragOver = (event) => {
      if (!carries(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event) => !event.relatedTarget && setOver(false);
    const drop = async (event) => {
      if (!carries(event)) return;
      event.preventDefault();
      setOver(false);
      const items = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.());
      const plain = [...event.dataTransfer.files].map(withPath);
      const folders = items.some((entry) => entry?.isDirectory);
      try {
        const all = folders ? (await Promise.all(items.filter(Boolean).map((entry) => filesIn(entry)))).flat() : plain;
        session.opening.open(all);
      } catch (error) {
        session.opening.failed({ message: String(error) });
      }
    };
    const paste = (event) => {
      const target = event.composedPath()[0];
      const writes = /^(TEXTAREA|INPUT)$/.test(target.tagName ?? '');
      const { clipboardData: given } = event;
      if (!given) return;
      if (given.files.length > 0) {
        event.preventDefault();
        return session.opening.open([...given.files].map(withPath));
      }
      const text = given.getData('text').trim();
      if (writes || !/^[[{]/.test(text)) return;
      event.preventDefault();
      openText(session, text);
    };
    // In another page what happens outside belongs to it.
    const area = session.embedded ? host : window;
    area.addEventListener('dragover', dragOver);
    area.addEventListener('dragleave', leave);
    area.addEventListener('drop', drop);
    area.addEventListener('paste', paste);
    return () => {
      area.removeEventListener('dragover', dragOver);
      area.removeEventListener('dragleave', leave);
      area.removeEventListener('drop', drop);
      area.removeEventListener('paste', paste);
    };
  }, [host]);
  const loses = session.losesWork.value;
  useLayoutEffect(() => {
    if (!loses || session.embedded) return;
    const leaving = (event) => {
      event.preventDefault();
      event.returnValue = '';
    };
    window.addEventListener('beforeunload', leaving);
    return () => window.removeEventListener('beforeunload', leaving);
  }, [loses]);
  return over;
}

/** The word in the header, and what opens under it. */
export function Open() {
  const session = useSession();
  const words = session.words.value.open;
  const { opening } = session;
  const shown = opening.panel.value;
  const ref = useClosing(shown !== null && !opening.reading.value, (focus) => {
    opening.setPanel(null);
    if (focus) ref.current?.querySelector('button')?.focus();
  });
  return (
    <span class="menu open" ref={ref}>
      <button
        type="button"
        class="word"
        aria-expanded={shown !== null}
        onClick={() => opening.setPanel(shown ? null : 'choose')}
      >
        {words.open}
      </button>
      {shown === 'choose' && <Choose />}
      {shown === 'summary' && <Told />}
    </span>
  );
}
