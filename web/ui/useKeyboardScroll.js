// Elements that scroll, for the keyboard.

import { useEffect, useRef } from 'preact/hooks';

/**
 * A ref for an element without buttons: while its content does not fit, it takes the focus, so that the arrow keys
 * scroll it. Call it in the component that renders the content.
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
