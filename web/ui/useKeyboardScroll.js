// Lets the keyboard scroll an element.

import { useEffect, useRef } from 'preact/hooks';

/**
 * Returns a ref for an element without buttons. While the content of the element does not fit, the element can have the
 * focus, so that the arrow keys scroll it. The component that renders the content must call this function.
 * @returns {import('preact').RefObject<HTMLElement | null>}
 */
export function useKeyboardScroll() {
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    if (element.scrollHeight > element.clientHeight) element.tabIndex = 0;
    else element.removeAttribute('tabindex');
  });
  return ref;
}
