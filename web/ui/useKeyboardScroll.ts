// Lets the keyboard scroll an element.

import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/**
 * Returns a ref for an element without buttons. While its content does not fit, it can have the focus, so that the
 * arrow keys scroll it. Call this where the content is rendered.
 */
export function useKeyboardScroll(): RefObject<HTMLElement | null> {
  const ref = useRef(null as HTMLElement | null);
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    if (element.scrollHeight > element.clientHeight) element.tabIndex = 0;
    else element.removeAttribute('tabindex');
  });
  return ref;
}
