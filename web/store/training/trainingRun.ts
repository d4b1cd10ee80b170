// Starts a training in the worker, changes it with the state while it is shown, and receives its reports.

import type { ReadonlySignal, Signal } from '@preact/signals';
import type {
  HeadChanges,
  ReportDetails,
  TrainingControl,
  TrainingProgress,
  TrainingReport,
} from '../../model/protocol/protocol.ts';
import type { State } from '../../model/state.ts';
import { isOpen, keyOf, settingsOf } from '../../model/training/settings.ts';
import type { Settings } from '../../model/types.ts';
import type { Requests } from '../requests.ts';
import type { FilmPlayer } from './film.ts';
import { createCurves } from './trainingCurves.ts';

const keyOfTraining = ({ training, lesson }: State) => keyOf(settingsOf(training, lesson));

export function createTrainingRun({
  requests,
  state,
  progress,
  diverged,
  changes,
  speed,
  film,
  steer,
  onLoaded,
}: {
  requests: Requests;
  state: ReadonlySignal<State>;
  progress: Signal<TrainingProgress | null>;
  diverged: Signal<ReportDetails['diverged']>;
  changes: Signal<HeadChanges | null>;
  speed: ReadonlySignal<number | null>;
  film: FilmPlayer;
  steer: (control: TrainingControl) => void;
  onLoaded: (settings: Settings) => void;
}) {
  const curves = createCurves();
  /** Identifies the training in the worker. */
  let asked = '';
  /** pending: the first report of the training has not arrived. loading: the training is being read from a file. */
  let [pending, loading] = [false, false];

  function ask(how: { fresh?: boolean; start?: boolean; bytes?: Uint8Array }) {
    film.stop();
    pending = true;
    requests.send({ verb: 'train', state: state.peek(), speed: speed.peek(), paced: true, ...how });
  }
  function begin({ fresh = false, start = true } = {}) {
    diverged.value = undefined;
    asked = keyOfTraining(state.peek());
    ask({ fresh, start });
  }
  function receiveFirst(first: NonNullable<ReportDetails['started']>) {
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
    loadFile(bytes: Uint8Array) {
      loading = true;
      ask({ bytes });
    },
    /** Must be called after every change of the state. Returns true if training is shown and needs no other request. */
    follow(before: State | null, now: State): boolean {
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
    receive({
      progress: now,
      points,
      scores,
      frame,
      started,
      snapshots,
      diverged: divergence,
      changes: change,
    }: TrainingReport) {
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
