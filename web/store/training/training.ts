// The state of training on the page: progress, curves, film and saved models. The worker trains. While the panel
// `train` is open, everything on the screen comes from the training.

import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type {
  About,
  HeadChanges,
  PartListeners,
  ReportDetails,
  StoredModel,
  TrainingControl,
  TrainingProgress,
} from '../../model/protocol/protocol.ts';
import { TRAINED } from '../../model/runInput.ts';
import type { State } from '../../model/state.ts';
import {
  firstHead,
  OWN_TEXT,
  TASK_ROLES,
  type Training as TrainingChoice,
  trainingOf,
  USUAL_SPEED,
  usualTraining,
} from '../../model/training/settings.ts';
import type { Settings } from '../../model/types.ts';
import { download } from '../../ui/download.ts';
import type { Document } from '../document.ts';
import { readOnly } from '../readOnly.ts';
import type { Requests } from '../requests.ts';
import { createFilm, type FilmPlayer } from './film.ts';
import { createTrainingRun } from './trainingRun.ts';
export type Update = Document['update'];

function createChoices(state: ReadonlySignal<State>, update: Update) {
  /** The model that was shown before the panel was opened. */
  let before: string | null = null;
  return {
    /** Chooses another task or sizes, which begins a new training. `sample`: the text to learn until one is entered. */
    choose(patch: Partial<TrainingChoice>, sample = '') {
      const now = state.peek();
      const training = patch.task ? usualTraining(patch.task) : { ...now.training, ...patch };
      const lesson = training.task === OWN_TEXT && now.lesson === '' ? { lesson: sample } : {};
      update({ training, ...firstHead(training), cell: null, ...lesson });
    },
    setLesson: (lesson: string) => update({ lesson, training: usualTraining(OWN_TEXT), cell: null }),
    setRate: (rate: number) => update({ training: { ...state.peek().training, rate } }, 'rate'),
    open: ({ settings }: { settings: Settings }, panel = 'train') =>
      update({
        model: TRAINED,
        panel,
        training: trainingOf(settings),
        ...(settings.task === OWN_TEXT && { lesson: settings.text }),
        ...firstHead(settings),
      }),
    enter() {
      const { training, model } = state.peek();
      before = model === TRAINED ? null : model;
      update({ panel: 'train', model: TRAINED, ...(model === TRAINED ? {} : firstHead(training)) });
    },
    /** Returns the model that was shown before the panel was opened; null if there was none. */
    modelBefore: () => before,
  };
}

const createControls = ({
  steer,
  film,
  progress,
  diverged,
  speed,
}: {
  steer: (control: TrainingControl) => void;
  film: FilmPlayer;
  progress: ReadonlySignal<TrainingProgress | null>;
  diverged: Signal<ReportDetails['diverged']>;
  speed: Signal<number | null>;
}) => ({
  /** Stops the film or the training if it is running; otherwise plays the film from the step shown, and then trains. */
  play() {
    diverged.value = undefined;
    if (film.replaying.peek()) return film.stop();
    const now = progress.peek();
    if (now?.playing) return steer({ action: 'pause' });
    if (now && now.at !== null) return film.replay();
    steer({ action: 'play' });
  },
  step() {
    film.stop();
    steer({ action: 'step' });
  },
  showStep(step: number) {
    film.stop();
    film.show(step);
  },
  setSpeed(value: number | null) {
    speed.value = value;
    steer({ action: 'speed', speed: value });
  },
  save: () => steer({ action: 'save' }),
  saveFolder: () => steer({ action: 'folder' }),
  saveOnnx: () => steer({ action: 'onnx' }),
  removeSaved: (key: string) => steer({ action: 'remove', key }),
});

export function createTraining({
  requests,
  state,
  update,
  about,
}: {
  requests: Requests;
  state: ReadonlySignal<State>;
  update: Update;
  about: ReadonlySignal<About | null>;
}) {
  const progress = signal(null as TrainingProgress | null);
  const diverged = signal(undefined as ReportDetails['diverged']);
  const speed = signal(USUAL_SPEED as number | null);
  const changes = signal(null as HeadChanges | null);
  const savedModels = signal([] as StoredModel[]);
  const problem = signal(null as string | null);
  /** Steps of the model when it was last saved as a file. */
  const savedSteps = signal(-1);
  const steer = (control: TrainingControl) => requests.send({ verb: 'controlTraining', ...control });
  const film = createFilm(progress, steer);
  const choices = createChoices(state, update);
  const onLoaded = (settings: Settings) => choices.open({ settings });
  const run = createTrainingRun({ requests, state, progress, diverged, changes, speed, film, steer, onLoaded });

  const parts: Pick<PartListeners, 'trainingReport' | 'storedModels' | 'savedFile'> = {
    trainingReport: run.receive,
    storedModels(report) {
      if (report.list) savedModels.value = report.list;
      problem.value = report.problem ?? null;
    },
    savedFile({ bytes, settings, extension = 'safetensors' }) {
      // The page cannot open ONNX files again, so the model does not count as saved.
      if (extension !== 'onnx') savedSteps.value = progress.peek()?.steps ?? 0;
      download(`headlight-${settings.task}.${extension}`, 'application/octet-stream', bytes);
    },
  };

  return {
    ...choices,
    ...createControls({ steer, film, progress, diverged, speed }),
    parts,
    follow: run.follow,
    restart: run.restart,
    loadFile: run.loadFile,
    progress: readOnly(progress),
    /** Set when the loss diverged, until training continues. */
    diverged: readOnly(diverged),
    /** The changes of an existing model that is trained further; null for a new model. */
    changes: readOnly(changes),
    /** Steps per second; null without a limit. */
    speed: readOnly(speed),
    curves: run.curves.now,
    /** The curves of the previous training, for comparison. */
    previousCurves: run.curves.previous,
    film: film.frames,
    replaying: film.replaying,
    savedModels: readOnly(savedModels),
    problem: readOnly(problem),
    /** True if the model is neither in the browser's storage nor in a file. */
    unsaved: computed(() => {
      const steps = progress.value?.steps ?? 0;
      return problem.value !== null && steps > 0 && savedSteps.value !== steps;
    }),
    /** The names of the head scores that matter for the task. */
    watch: computed(() => TASK_ROLES[progress.value?.settings.task ?? state.value.training.task]),
    /** Leaves the panel, and shows a text of the task as the sentence. */
    readText() {
      film.stop();
      update({ panel: 'reading', text: about.peek()?.trained?.probe ?? '' });
    },
  };
}
export type Training = ReturnType<typeof createTraining>;
