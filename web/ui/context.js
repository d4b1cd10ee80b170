// What every part of the view shares. Where to add what:
//
//   a view of the large picture (flow)     views.js: name, component
//   what stands in the reading column      panels.js: name, component (story and training stand there too)
//   a model of the menu                    header.jsx, MODELS
//   a question to the worker               requests.js, VERBS; its parts come in host/session.js
//   a text                                 en.js and zh.js
//
// A component takes what it shows from the session (signals of host/session.js) and changes nothing but by
// session.update (a step that can be undone), session.look (none) and session.hover.

import { createContext } from 'preact';
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** @import { Session } from '../store/session.js' */

export const SessionContext = createContext(/** @type {any} */ (null));
/** @returns {Session} */
export const useSession = () => useContext(SessionContext);

/** The size of an element, taken anew when it changes; nothing while it is not there. */
export function useSize(ref) {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = ref instanceof Element ? ref : ref.current;
    if (!element) return;
    const take = () => {
      const { clientWidth: width, clientHeight: height } = element;
      setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    };
    take();
    const observer = new ResizeObserver(take);
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref.current]);
  return size;
}

/** Closes what is open over the page: Escape, or a press elsewhere. */
export function useClosing(open, close) {
  const ref = useRef(/** @type {any} */ (null));
  // Before the next key can be pressed: an effect after painting may come too late.
  useLayoutEffect(() => {
    if (!open) return;
    const key = (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      close(true);
    };
    const press = (event) => {
      if (!event.composedPath().includes(ref.current)) close(false);
    };
    document.addEventListener('keydown', key, true);
    document.addEventListener('pointerdown', press, true);
    return () => {
      document.removeEventListener('keydown', key, true);
      document.removeEventListener('pointerdown', press, true);
    };
  }, [open]);
  return ref;
}

/** What a button opens, until Escape, or a press elsewhere: after Escape the button has the next key. */
export function useOpening() {
  const [open, setOpen] = useState(false);
  const ref = useClosing(open, (focus) => {
    setOpen(false);
    if (focus) ref.current.querySelector('button').focus();
  });
  return { open, setOpen, ref };
}

/** A style whose plain numbers are pixels. */
export const px = (style) =>
  Object.fromEntries(
    Object.entries(style).map(([name, value]) => [name, typeof value === 'number' ? `${value}px` : value]),
  );

export const reducedMotion = () => matchMedia('(prefers-reduced-motion: reduce)').matches;
export { cellText, plain, signed, weightText } from '../texts/numbers.js';
