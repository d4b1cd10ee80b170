// Measures how fast files are read, and estimates how long the rest will take.

import { useRef } from 'preact/hooks';

import type { Reading } from '../../store/opening/fileReading.ts';

/** The speed is the mean over this many milliseconds. With a shorter time the numbers would jump. */
const WINDOW = 5000;
/** The speed is not shown before this many milliseconds have passed. */
const MIN_TIME = 700;

/** perSecond: bytes per second, 0 if unknown; secondsLeft: null if unknown */
export function useSpeed({ read, total }: Reading): { perSecond: number; secondsLeft: number | null } {
  const samples = useRef([] as { time: number; read: number }[]);
  const now = performance.now();
  const list = samples.current;
  if (list.at(-1)?.read !== read) list.push({ time: now, read });
  while (list.length > 2 && list[1].time < now - WINDOW) list.shift();
  const [first] = list;
  const elapsed = now - first.time;
  if (elapsed < MIN_TIME || read <= first.read) return { perSecond: 0, secondsLeft: null };
  const perSecond = (1000 * (read - first.read)) / elapsed;
  return { perSecond, secondsLeft: total > read ? (total - read) / perSecond : null };
}
