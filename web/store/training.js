// Training as the page knows it: how far it is, its curves, its film, what is kept. The worker trains; while the panel
// `train` is open, what the screen shows comes from there.

import { computed, signal } from '@preact/signals';
import { extended, nearest, noCurves } from '../features/train/curves.js';
import {
  firstHead,
  isOpen,
  keyOf,
  LESSONS,
  settingsOf,
  trainingOf,
  USUAL_SPEED,
  usualTraining,
} from '../features/train/lessons.js';
import { readOnly } from './readOnly.js';
import { TRAINED } from './runInput.js';

/** @import { State } from './state.js' */

/** A run of fewer steps says nothing beside the next one. */
const WORTH = 20;
/** Milliseconds between two frames when the film is played. */
const FRAME = 220;

/**
 * @param {object} given
 * @param {import('@preact/signals').ReadonlySignal<State>} given.state
 * @param {(patch: Partial<State>, gesture?: string) => void} given.update
 * @param {() => string} given.sample the text that is learned where a visitor has given none
 * @param {(name: string, bytes: Uint8Array) => void} given.onSaved
 */
export function createTraining({ state, update, sample, onSaved }) {
  /** { steps, end, at, playing, key, settings, perSecond } */
  const progress = signal(/** @type {any} */ (null));
  const curves = signal(noCurves());
  /** The curves of the run before. */
  const before = signal(/** @type {ReturnType<typeof noCurves> | null} */ (null));
  const film = signal(/** @type {{ step: number, weights: Float32Array }[]} */ ([]));
  const shelf = signal(/** @type {any[]} */ ([]));
  const problem = signal(/** @type {string | null} */ (null));
  /** Steps of the model that was saved as a file. */
  const saved = signal(-1);
  /** Where it has gone astray: { step, nan, back, rate }. */
  const astray = signal(/** @type {any} */ (null));
  const speed = signal(/** @type {number | null} */ (USUAL_SPEED));
  /** The film is being played from an earlier step on. */
  const replaying = signal(false);
  /** @type {any} */
  let ask;
  /** @type {any} */
  let timer;
  let pending = false;
  let asked = '';

  const steer = (act, fields = {}) => ask.ask({ verb: 'steer', act, ...fields });
  const settings = (now) => settingsOf(now.training, now.lesson);

  function begin({ afresh = false, go = true } = {}) {
    stopFilm();
    astray.value = null;
    const now = state.peek();
    asked = keyOf(settings(now));
    pending = true;
    ask.ask({ verb: 'train', state: now, speed: speed.peek(), afresh, go, paced: true });
  }

  function stopFilm() {
    clearTimeout(timer);
    replaying.value = false;
  }

  function back(step) {
    const frame = film.peek()[nearest(film.peek(), step)];
    if (!frame) return;
    // The numbers move with the hand; the rest comes from the worker.
    progress.value = { ...progress.peek(), at: frame.step, playing: false };
    steer('back', { step: frame.step });
  }

  function replay() {
    const frames = film.peek();
    const at = progress.peek()?.at;
    const next = frames.find(({ step }) => step > (at ?? Number.POSITIVE_INFINITY));
    if (!next) {
      replaying.value = false;
      if (progress.peek().steps < progress.peek().end) steer('play');
      return;
    }
    replaying.value = true;
    back(next.step);
    timer = setTimeout(replay, FRAME);
  }

  const actions = {
    /** Play goes on from what is shown: first the film, then training. */
    play() {
      astray.value = null;
      if (replaying.peek()) return stopFilm();
      const { at, playing } = progress.peek() ?? {};
      if (playing) return steer('pause');
      if (at !== null && at !== undefined) return replay();
      steer('play');
    },
    step() {
      stopFilm();
      steer('step');
    },
    restart: () => begin({ afresh: true }),
    showStep(step) {
      stopFilm();
      back(step);
    },
    setSpeed(value) {
      speed.value = value;
      steer('speed', { speed: value });
    },
    /** Another task, or other sizes: a training of its own. */
    choose(patch) {
      const now = state.peek();
      const training = patch.task ? usualTraining(patch.task) : { ...now.training, ...patch };
      const lesson = training.task === 'text' && now.lesson === '' ? { lesson: sample() } : {};
      update({ training, ...firstHead(training), cell: null, ...lesson });
    },
    setLesson: (lesson) => update({ lesson, training: { ...state.peek().training, task: 'text' }, cell: null }),
    setRate: (rate) => update({ training: { ...state.peek().training, rate } }, 'rate'),
    save: () => steer('save'),
    saveFolder: () => steer('folder'),
    saveOnnx: () => steer('onnx'),
    removeSaved: (key) => steer('remove', { key }),
    /** A model that is kept. */
    open: ({ settings: kept }, panel = 'train') =>
      update({
        model: TRAINED,
        panel,
        training: trainingOf(kept),
        ...(kept.task === 'text' && { lesson: kept.text }),
        ...firstHead(kept),
      }),
    /** The header's word. */
    enter() {
      const { training, model } = state.peek();
      update({
        panel: 'train',
        model: TRAINED,
        ...(model === TRAINED ? {} : firstHead(training)),
      });
    },
    /** One writes into it. */
    readText() {
      const trained = about();
      stopFilm();
      update({ panel: 'reading', text: trained?.probe ?? '' });
    },
    /** The file of a model that was saved here. */
    loadFile(bytes) {
      stopFilm();
      pending = true;
      loading = true;
      ask.ask({ verb: 'train', state: state.peek(), speed: speed.peek(), bytes, paced: true });
    },
  };
  let loading = false;
  /** @type {() => any} */
  let about = () => null;

  return {
    progress: readOnly(progress),
    curves: readOnly(curves),
    previousCurves: readOnly(before),
    film: readOnly(film),
    savedModels: readOnly(shelf),
    problem: readOnly(problem),
    diverged: readOnly(astray),
    speed: readOnly(speed),
    replaying: readOnly(replaying),
    /** The browser could not keep it, and neither was it saved as a file. */
    unkept: computed(() => problem.value !== null && progress.value?.steps > 0 && saved.value !== progress.value.steps),
    watch: computed(() => LESSONS[progress.value?.settings.task ?? state.value.training.task].watch),
    ...actions,
    /** Once the worker is there. @param {any} given */
    connect(given) {
      ask = given.ask;
      about = given.about;
    },
    steer,
    /**
     * After a change of the state.
     * @param {State | null} was @param {State} now
     * @returns {boolean} whether the screen shows training: then nothing else is asked
     */
    follow(was, now) {
      if (!isOpen(now)) {
        if (was && isOpen(was)) {
          stopFilm();
          ask.cancel('train');
          steer('pause');
        }
        return false;
      }
      ask.cancel('show');
      const opened = !was || !isOpen(was);
      if (opened || asked !== keyOf(settings(now))) {
        if (!loading) begin({ go: was !== null });
      } else {
        if (was.training.rate !== now.training.rate) steer('rate', { rate: now.training.rate });
        if (was.layer !== now.layer || was.head !== now.head) steer('look', { layer: now.layer, head: now.head });
      }
      return true;
    },
    parts: {
      trained(part) {
        ask.ask({ verb: 'seen' });
        const { progress: now, points, scores, frame, began, kept, astray: lost } = part;
        if (began) {
          const old = curves.peek();
          if (pending && old.loss.length > WORTH) before.value = old;
          pending = false;
          curves.value = began.curves;
          film.value = began.frames;
          if (loading) {
            loading = false;
            asked = keyOf(began.settings);
            actions.open({ settings: began.settings });
          }
        }
        curves.value = extended(curves.peek(), { points, step: now.steps, scores });
        if (frame) {
          const frames = film.peek().filter(({ step }) => step < frame.step && (!kept || kept.includes(step)));
          film.value = [...frames, frame];
        }
        if (lost) astray.value = lost;
        progress.value = now;
      },
      shelf({ list, problem: said }) {
        if (list) shelf.value = list;
        problem.value = said ?? null;
      },
      saved({ bytes, settings: of, ending = 'safetensors' }) {
        // What is taken elsewhere is not opened here again.
        if (ending === 'safetensors') saved.value = progress.peek()?.steps ?? 0;
        onSaved(`headlight-${of.task}.${ending}`, bytes);
      },
    },
  };
}
