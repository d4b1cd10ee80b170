// The film of a training: pictures of all heads at some of its steps, and their playback.

import { type Signal, signal } from '@preact/signals';
import type { Frame, TrainingControl, TrainingProgress } from '../../model/protocol/protocol.ts';
import { nearest } from '../../model/training/curves.ts';
import { readOnly } from '../readOnly.ts';

const FRAME_TIME = 220;

export function createFilm(progress: Signal<TrainingProgress | null>, steer: (control: TrainingControl) => void) {
  const frames = signal([] as Frame[]);
  const replaying = signal(false);
  let timer: ReturnType<typeof setTimeout> | undefined;

  function stop() {
    clearTimeout(timer);
    replaying.value = false;
  }
  /** Shows the frame nearest to a step. */
  function show(step: number) {
    const frame = frames.peek()[nearest(frames.peek(), step)];
    const now = progress.peek();
    if (!frame || !now) return;
    // The number of the step is updated at once; weights and scores arrive from the worker.
    progress.value = { ...now, at: frame.step, playing: false };
    steer({ action: 'back', step: frame.step });
  }
  /** Plays the frames after the one shown, then continues the training. */
  function replay() {
    const now = progress.peek();
    const next = frames.peek().find(({ step }) => step > (now?.at ?? Number.POSITIVE_INFINITY));
    if (!next) {
      replaying.value = false;
      if (now && now.steps < now.end) steer({ action: 'play' });
      return;
    }
    replaying.value = true;
    show(next.step);
    timer = setTimeout(replay, FRAME_TIME);
  }

  return {
    frames: readOnly(frames),
    replaying: readOnly(replaying),
    stop,
    show,
    replay,
    begin(first: Frame[]) {
      frames.value = first;
    },
    /** `kept`: the steps whose frames are kept, if others are removed. */
    add(frame: Frame, kept?: number[]) {
      const before = frames.peek().filter(({ step }) => step < frame.step && (!kept || kept.includes(step)));
      frames.value = [...before, frame];
    },
  };
}
export type FilmPlayer = ReturnType<typeof createFilm>;
