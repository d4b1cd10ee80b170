// Starts a training in the worker, changes it with the state while it is shown, and receives its reports.

import { isOpen, keyOf, settingsOf } from '../features/train/settings.js';
import { createCurves } from './trainingCurves.js';

/** @import { ReadonlySignal, Signal } from '@preact/signals' */
/** @import { HeadChanges, ReportDetails, TrainingControl, TrainingProgress, TrainingReport } from './protocol.js' */
/** @import { State } from './state.js' */
/** @import { Settings } from './types.js' */

/** @param {State} state */
const keyOfTraining = ({ training, lesson }) => keyOf(settingsOf(training, lesson));

/**
 * @param {object} store
 * @param {import('./requests.js').Requests} store.requests
 * @param {ReadonlySignal<State>} store.state
 * @param {Signal<TrainingProgress | null>} store.progress
 * @param {Signal<ReportDetails['diverged']>} store.diverged
 * @param {Signal<HeadChanges | null>} store.changes
 * @param {ReadonlySignal<number | null>} store.speed
 * @param {import('./film.js').FilmPlayer} store.film
 * @param {(control: TrainingControl) => void} store.steer
 * @param {(settings: Settings) => void} store.onLoaded called when a training has been read from a file
 */
export function createTrainingRun({ requests, state, progress, diverged, changes, speed, film, steer, onLoaded }) {
  const curves = createCurves();
  /** Identifies the training in the worker. */
  let asked = '';
  /** pending: the first report of the training has not arrived. loading: the training is being read from a file. */
  let [pending, loading] = [false, false];

  /** @param {{ fresh?: boolean, start?: boolean, bytes?: Uint8Array }} how */
  function ask(how) {
    film.stop();
    pending = true;
    requests.send({ verb: 'train', state: state.peek(), speed: speed.peek(), paced: true, ...how });
  }
  function begin({ fresh = false, start = true } = {}) {
    diverged.value = undefined;
    asked = keyOfTraining(state.peek());
    ask({ fresh, start });
  }
  /** @param {NonNullable<ReportDetails['started']>} first */
  function receiveFirst(first) {
    curves.begin(first.curves, pending, first.settings);
    pending = false;
    film.begin(first.frames);
    if (!loading) return;
    asked = keyOf(first.settings);
    onLoaded(first.settings);
    // Until now, the change of the state must not begin another training.
    loading = false;
  }
  /** Pauses the training, because the state shows something else. */
  function leave() {
    film.stop();
    requests.cancel('train');
    steer({ action: 'pause' });
  }

  return {
    curves,
    restart: () => begin({ fresh: true }),
    /** Continues a model that was saved as a file. @param {Uint8Array} bytes */
    loadFile(bytes) {
      loading = true;
      ask({ bytes });
    },
    /**
     * Must be called after every change of the state.
     * @param {State | null} before
     * @param {State} now
     * @returns {boolean} true if training is shown, so that the worker needs no other request
     */
    follow(before, now) {
      const wasOpen = before !== null && isOpen(before);
      if (!isOpen(now)) {
        if (wasOpen) leave();
        return false;
      }
      requests.cancel('show');
      if (!wasOpen || asked !== keyOfTraining(now)) {
        if (!loading) begin({ start: before !== null });
        return true;
      }
      if (before.training.rate !== now.training.rate) steer({ action: 'rate', rate: now.training.rate });
      if (before.layer !== now.layer || before.head !== now.head)
        steer({ action: 'look', layer: now.layer, head: now.head });
      return true;
    },
    /** @param {TrainingReport} report */
    receive({ progress: now, points, scores, frame, started, snapshots, diverged: divergence, changes: change }) {
      requests.send({ verb: 'acknowledgeReport' });
      if (started) receiveFirst(started);
      if (started || change) changes.value = change ?? null;
      curves.add({ points, step: now.steps, scores });
      if (frame) film.add(frame, snapshots);
      if (divergence) diverged.value = divergence;
      progress.value = now;
    },
  };
}
