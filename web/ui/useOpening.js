// Lists and panels that are open until Escape, or a press outside of them.

import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/**
 * @param {boolean} open
 * @param {(byKey: boolean) => void} close by Escape, or by a press
 * @returns {import('preact').RefObject<HTMLDivElement | null>} for the element around the button and what it opens
 */
export function useClosing(open, close) {
  const ref = useRef(/** @type {HTMLDivElement | null} */ (null));
  // An effect after painting could miss the next key.
  useLayoutEffect(() => {
    if (!open) return;
    const onKey = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      close(true);
    };
    const onPress = (/** @type {PointerEvent} */ event) => {
      if (!ref.current || !event.composedPath().includes(ref.current)) close(false);
    };
    document.addEventListener('keydown', onKey, true);
    document.addEventListener('pointerdown', onPress, true);
    return () => {
      document.removeEventListener('keydown', onKey, true);
      document.removeEventListener('pointerdown', onPress, true);
    };
  }, [open]);
  return ref;
}

/** The state of what a button opens. After Escape the button has the focus. */
export function useOpening() {
  const [open, setOpen] = useState(false);
  const ref = useClosing(open, (byKey) => {
    setOpen(false);
    if (byKey) ref.current?.querySelector('button')?.focus();
  });
  return { open, setOpen, ref };
}
