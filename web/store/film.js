// The film of a training: pictures of all heads at some of its steps, and their playback.

import { signal } from '@preact/signals';
import { nearest } from '../features/train/curves.js';
import { readOnly } from './readOnly.js';

/** @import { Signal } from '@preact/signals' */
/** @import { Frame, TrainingControl, TrainingProgress } from './protocol.js' */

/** Milliseconds between two frames. */
const FRAME_TIME = 220;

/**
 * @param {Signal<TrainingProgress | null>} progress
 * @param {(control: TrainingControl) => void} steer
 */
export function createFilm(progress, steer) {
  const frames = signal(/** @type {Frame[]} */ ([]));
  const replaying = signal(false);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function stop() {
    clearTimeout(timer);
    replaying.value = false;
  }
  /** Shows the frame nearest to a step. @param {number} step */
  function show(step) {
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
    /** @param {Frame[]} first */
    begin(first) {
      frames.value = first;
    },
    /** @param {Frame} frame @param {number[]} [kept] the steps whose frames are kept, if others are removed */
    add(frame, kept) {
      const before = frames.peek().filter(({ step }) => step < frame.step && (!kept || kept.includes(step)));
      frames.value = [...before, frame];
    },
  };
}
/** @typedef {ReturnType<typeof createFilm>} FilmPlayer */
