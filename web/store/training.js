// The state of training on the page: progress, curves, film and saved models. The worker trains. While the panel
// `train` is open, everything on the screen comes from the training.

import { computed, signal } from '@preact/signals';
import { firstHead, OWN_TEXT, TASK_ROLES, trainingOf, USUAL_SPEED, usualTraining } from '../features/train/settings.js';
import { download } from '../ui/download.js';
import { createFilm } from './film.js';
import { readOnly } from './readOnly.js';
import { TRAINED } from './runInput.js';
import { createTrainingRun } from './trainingRun.js';

/** @import { ReadonlySignal, Signal } from '@preact/signals' */
/** @import { Training as TrainingChoice } from '../features/train/settings.js' */
/** @import { About, HeadChanges, PartListeners, ReportDetails, StoredModel } from './protocol.js' */
/** @import { TrainingControl, TrainingProgress } from './protocol.js' */
/** @import { State } from './state.js' */
/** @import { Settings } from './types.js' */
/** @typedef {import('./document.js').Document['update']} Update */

/** Creates actions that change the settings of training. @param {ReadonlySignal<State>} state @param {Update} update */
function createChoices(state, update) {
  /** The model that was shown before the panel was opened. @type {string | null} */
  let before = null;
  return {
    /**
     * Chooses another task or other sizes, which begins a new training.
     * @param {Partial<TrainingChoice>} patch
     * @param {string} [sample] the text that is learned until the visitor has entered one
     */
    choose(patch, sample = '') {
      const now = state.peek();
      const training = patch.task ? usualTraining(patch.task) : { ...now.training, ...patch };
      const lesson = training.task === OWN_TEXT && now.lesson === '' ? { lesson: sample } : {};
      update({ training, ...firstHead(training), cell: null, ...lesson });
    },
    /** @param {string} lesson the text to learn */
    setLesson: (lesson) => update({ lesson, training: usualTraining(OWN_TEXT), cell: null }),
    /** @param {number} rate */
    setRate: (rate) => update({ training: { ...state.peek().training, rate } }, 'rate'),
    /** Shows a saved model. @param {{ settings: Settings }} saved @param {string} [panel] */
    open: ({ settings }, panel = 'train') =>
      update({
        model: TRAINED,
        panel,
        training: trainingOf(settings),
        ...(settings.task === OWN_TEXT && { lesson: settings.text }),
        ...firstHead(settings),
      }),
    /** Opens the panel `train`. */
    enter() {
      const { training, model } = state.peek();
      before = model === TRAINED ? null : model;
      update({ panel: 'train', model: TRAINED, ...(model === TRAINED ? {} : firstHead(training)) });
    },
    /** Returns the model that was shown before the panel was opened; null if there was none. */
    modelBefore: () => before,
  };
}

/**
 * Creates actions that control the training in the worker.
 * @param {object} store
 * @param {(control: TrainingControl) => void} store.steer
 * @param {import('./film.js').FilmPlayer} store.film
 * @param {ReadonlySignal<TrainingProgress | null>} store.progress
 * @param {Signal<ReportDetails['diverged']>} store.diverged
 * @param {Signal<number | null>} store.speed
 */
const createControls = ({ steer, film, progress, diverged, speed }) => ({
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
  /** @param {number} step */
  showStep(step) {
    film.stop();
    film.show(step);
  },
  /** @param {number | null} value */
  setSpeed(value) {
    speed.value = value;
    steer({ action: 'speed', speed: value });
  },
  save: () => steer({ action: 'save' }),
  saveFolder: () => steer({ action: 'folder' }),
  saveOnnx: () => steer({ action: 'onnx' }),
  /** @param {string} key */
  removeSaved: (key) => steer({ action: 'remove', key }),
});

/**
 * @param {object} store
 * @param {import('./requests.js').Requests} store.requests
 * @param {ReadonlySignal<State>} store.state
 * @param {Update} store.update
 * @param {ReadonlySignal<About | null>} store.about
 */
export function createTraining({ requests, state, update, about }) {
  const progress = signal(/** @type {TrainingProgress | null} */ (null));
  const diverged = signal(/** @type {ReportDetails['diverged']} */ (undefined));
  const speed = signal(/** @type {number | null} */ (USUAL_SPEED));
  const changes = signal(/** @type {HeadChanges | null} */ (null));
  const savedModels = signal(/** @type {StoredModel[]} */ ([]));
  const problem = signal(/** @type {string | null} */ (null));
  /** Steps of the model when it was last saved as a file. */
  const savedSteps = signal(-1);
  const steer = (/** @type {TrainingControl} */ control) => requests.send({ verb: 'controlTraining', ...control });
  const film = createFilm(progress, steer);
  const choices = createChoices(state, update);
  const onLoaded = (/** @type {Settings} */ settings) => choices.open({ settings });
  const run = createTrainingRun({ requests, state, progress, diverged, changes, speed, film, steer, onLoaded });

  /** @type {Pick<PartListeners, 'trainingReport' | 'storedModels' | 'savedFile'>} */
  const parts = {
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
    /** Models in the browser's storage. */
    savedModels: readOnly(savedModels),
    /** Why the browser could not store the model. */
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
/** @typedef {ReturnType<typeof createTraining>} Training */
