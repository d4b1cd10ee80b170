// The size of an element, for components.

import { useLayoutEffect, useState } from 'preact/hooks';

/**
 * Follows the size of an element; 0 × 0 while it is not there.
 * @param {Element | { current: Element | null }} ref
 */
export function useSize(ref) {
  const [size, setSize] = useState({ width: 0, height: 0 });
  const current = ref instanceof Element ? ref : ref.current;
  useLayoutEffect(() => {
    const element = ref instanceof Element ? ref : ref.current;
    if (!element) return;
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = element;
      setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [current]);
  return size;
}
