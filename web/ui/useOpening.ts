// Opens and closes lists and panels. Escape, or a press outside of a list or panel, closes it.

import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** `close`: called with true after Escape, with false after a press outside. Returns the ref of button and list. */
export function useClosing(open: boolean, close: (byKey: boolean) => void): RefObject<HTMLDivElement | null> {
  const ref = useRef(null as HTMLDivElement | null);
  // A layout effect runs before painting. An effect that runs after painting could miss the next key.
  useLayoutEffect(() => {
    if (!open) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      close(true);
    };
    const onPress = (event: PointerEvent) => {
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

/** Returns the state of a list or panel that a button opens. After Escape the button gets the focus. */
export function useOpening() {
  const [open, setOpen] = useState(false);
  const ref = useClosing(open, (byKey) => {
    setOpen(false);
    if (byKey) ref.current?.querySelector('button')?.focus();
  });
  return { open, setOpen, ref };
}
