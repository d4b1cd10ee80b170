// Measures the words that the arc connects, and draws the arc between them.

import { useLayoutEffect, useState } from 'preact/hooks';
import { arcOf } from './arc.ts';

export type Drawing = { arc: ReturnType<typeof arcOf>; width: number; height: number };

/** Returns the arc over a sentence with .copied and .guess parts; null before layout. `text`: changes the layout. */
export function useArc(
  sentence: { current: HTMLElement | null },
  { thickness, on, text }: { thickness: number; on: boolean; text: string },
) {
  const [drawing, setDrawing] = useState(null as Drawing | null);
  useLayoutEffect(() => {
    const element = sentence.current;
    if (!element) return;
    const measure = () => {
      const next = drawingOf(element, thickness, on);
      setDrawing((old) => (JSON.stringify(old) === JSON.stringify(next) ? old : next));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    document.fonts?.addEventListener?.('loadingdone', measure);
    return () => {
      observer.disconnect();
      document.fonts?.removeEventListener?.('loadingdone', measure);
    };
  }, [thickness, on, text]);
  return drawing;
}

function drawingOf(element: HTMLElement, thickness: number, on: boolean): Drawing | null {
  const [copied, guess] = ['.copied', '.guess-word'].map((name) => element.querySelector(name));
  if (!copied || !guess) return null;
  const area = element.getBoundingClientRect();
  const boxOf = (word: Element) => {
    const { left, right, top, bottom } = word.getBoundingClientRect();
    return { left: left - area.left, right: right - area.left, top: top - area.top, bottom: bottom - area.top };
  };
  const [from, to] = [boxOf(copied), boxOf(guess)];
  const after = document.createRange();
  after.selectNodeContents(element);
  after.setStartAfter(copied);
  const endsLine = [...after.getClientRects()].every(
    ({ top, bottom, left }) => (top + bottom) / 2 > area.top + from.bottom || left - area.left < from.right - 1,
  );
  const arc = arcOf({ from, to, width: area.width, thickness, room: from.top, on, endsLine });
  return { arc, width: area.width, height: area.height };
}
