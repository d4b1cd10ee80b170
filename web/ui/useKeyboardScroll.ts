// Lets the keyboard scroll an element.

import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/**
 * Returns a ref for an element without buttons. While the content of the element does not fit, the element can have the
 * focus, so that the arrow keys scroll it. The component that renders the content must call this function.
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
