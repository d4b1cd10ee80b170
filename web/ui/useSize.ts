// Measures elements and the columns of grids for components.

import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Follows the size of an element, which is 0 × 0 until the element exists. */
export function useSize(ref: Element | { current: Element | null }) {
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
    // A change of the padding changes the inner size too.
    observer.observe(element, { box: 'border-box' });
    return () => observer.disconnect();
  }, [current]);
  return size;
}

/** Reads the widths of the columns of a grid and the gap between them, in pixels. */
export function useColumns(ref: { current: Element | null }) {
  const { width } = useSize(ref);
  const [grid, setGrid] = useState({ columns: [] as number[], gap: 0 });
  const seen = useRef('');
  // A class may have changed the columns of a grid of the same size. The style is read only after such a change,
  // because reading it forces a layout.
  useLayoutEffect(() => {
    if (!ref.current) return;
    const page = ref.current.closest('.page') as HTMLElement;
    const look = [width, ref.current.className, page.className, page.style.cssText].join('|');
    if (look === seen.current) return;
    seen.current = look;
    const { gridTemplateColumns, columnGap } = getComputedStyle(ref.current);
    const columns = gridTemplateColumns.split(' ').map(Number.parseFloat);
    const gap = Number.parseFloat(columnGap) || 0;
    setGrid((old) => (String(old.columns) === String(columns) && old.gap === gap ? old : { columns, gap }));
  });
  return grid;
}
