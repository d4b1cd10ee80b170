// The worker's part of training: one small transformer that is trained in short turns, so that questions are heard in
// between. While it is trained, what the screen shows of it comes as the parts of one question, `train`, which goes on
// until the next one; `steer` changes how it goes. Afterwards it is a source like any other.

import { readSafetensors } from '../../../src/js/io/formats.js';
import { writeZip } from '../../../src/js/io/zip.js';
import { tradeOf } from '../../features/heads/roles.js';
import { extended, noCurves } from '../../features/train/curves.js';
import {
  keyOf,
  LESSONS,
  partnerScore,
  settingsOf,
  signTokenizer,
  taughtTask,
  textOf,
  USUAL_SPEED,
} from '../../features/train/lessons.js';
import { checkSettings } from '../../features/train/tasks.js';
import { TRAINED, UNCHANGED } from '../../store/runInput.js';
import { describe } from '../describeRun.js';
import { readRun } from '../modelInput.js';
import { capturesFor, forward, weightsOf } from '../runModel.js';
import { transformerSource } from '../sources/sources.js';
import { createTrainer } from './trainer.js';

/** @import { Settings } from '../../store/types.js' */
/** @import { Source } from '../sources/sources.js' */
/** @import { Kept, Shelf } from '../modelStore.js' */

/** How long training runs before messages are read, how often it is shown and its numbers are told. Milliseconds. */
const [TURN, SHOWN_EVERY, REPORTED_EVERY] = [30, 260, 90];
/** Where so many reports are on their way to the page, training waits: a slow page is not flooded. */
const MOST_UNSEEN = 2;
/** It is kept now and then, and whenever it pauses. Milliseconds. */
const KEPT_EVERY = 10_000;
/** Bytes of a film that are kept: of a longer one every other frame. */
const MOST_KEPT = 8e6;
/** Frames of a film before it is trained for longer. */
const FRAMES = 40;
/** The share right on unseen sequences is taken after so many steps. */
const JUDGED_EVERY = 10;
/** Where the newest loss is so much above the first one, the steps were too large. */
const ASTRAY = 4;

/**
 * @param {object} given
 * @param {() => Promise<any>} given.hl
 * @param {Shelf} given.shelf
 * @param {(turn: () => void, milliseconds: number) => any} [given.later]
 */
export function createTraining({ hl, shelf, later = setTimeout }) {
  /** @type {any} */
  let core;
  /** What is trained. @type {ReturnType<typeof createTrainer> | null} */
  let trainer = null;
  let key = '';
  let end = 0;
  /** Another number for every change of the weights: what was computed before does not hold. */
  let version = 0;
  let curves = noCurves();
  /** The loss of the first steps. */
  let first = 0;
  let playing = false;
  /** @type {number | null} steps a second */
  let speed = USUAL_SPEED;
  let look = { layer: 0, head: 0 };
  /** The step that is looked back at. @type {number | null} */
  let at = null;
  let shownAt = 0;
  let keptAt = 0;
  /** When the next step is due, and how many have been made since when. */
  let due = 0;
  let counted = { since: 0, steps: 0 };
  /** @type {any} */
  let timer;
  /**
   * To the page: nothing is said before it asks.
   * @type {(part: string, fields: object, transfer?: ArrayBuffer[]) => void}
   */
  let say = () => {};
  let ended = () => {};
  /** One thing after another. @type {Promise<any>} */
  let line = Promise.resolve();
  const inLine = (/** @type {() => any} */ act) => {
    const result = line.then(act);
    line = result.catch(() => {});
    return result;
  };

  const current = () => /** @type {NonNullable<typeof trainer>} */ (trainer);

  /** @returns {Source} */
  function source() {
    const { model, task, settings, probe, steps } = current();
    const made = transformerSource(TRAINED, { model, tokenizer: signTokenizer(task.tokens), bytes: 0 });
    const trained = { settings, tokens: task.tokens, probe: textOf(task.tokens, probe.labels), steps };
    return {
      ...made,
      about: { ...made.about, trained },
      partnerOf: (weights, labels) => partnerScore(settings.task, weights, labels),
      version,
      // What heads are named by: they were never taught anything else.
      exemplar: probe.labels,
    };
  }

  /** The film so far, out of the snapshots. */
  function framesOf() {
    const from = source();
    const { probe, task, snapshots, goBack, resume } = current();
    const { input } = readRun(from, { text: textOf(task.tokens, probe.labels), second: '', ...UNCHANGED });
    const frames = snapshots.map((step, i) => {
      goBack(i);
      const { captured } = forward(core, from, input, [], ['blocks.*.weights']);
      const layers = Array.from({ length: from.about.layers }, (_, l) => captured[`blocks.${l}.weights`]);
      return { step, weights: weightsOf(layers) };
    });
    resume();
    return frames;
  }

  /** What the screen shows of the model as it is. */
  function show() {
    shownAt = performance.now();
    const from = source();
    const { probe, task, settings } = current();
    const { labels, targets } = probe;
    const layer = Math.min(look.layer, from.about.layers - 1);
    const head = Math.min(look.head, from.about.heads - 1);
    const text = textOf(task.tokens, labels);
    const { pieces, input } = readRun(from, { text, second: '', ...UNCHANGED });
    const values = forward(core, from, input, [], capturesFor(from, 'decoder', layer));
    const name = (/** @type {number} */ id) => task.tokens[id] ?? '';
    const { fields } = describe(from, values, {
      ids: labels,
      layers: from.about.layers,
      layer,
      head,
      token: null,
      place: labels.length - 1,
      part: 'decoder',
      other: false,
      name,
    });
    const guesses = guessesOf(/** @type {import('../runModel.js').Numbers} */ (values.logits), targets);
    const film = fields.weights.slice();
    const { about } = from;
    say('source', { about });
    const told = fields.scores ?? [];
    say('trades', { trades: told.map((row) => row.map(tradeOf)) });
    say(
      'run',
      {
        ...fields,
        pieces,
        cut: false,
        T: labels.length,
        layer,
        head,
        guesses: guesses.map(({ label, wanted }) => ({ text: name(label), wanted, right: label === wanted })),
      },
      [fields.weights.buffer],
    );
    const scores = Object.fromEntries(
      told.flatMap((row, l) =>
        row.flatMap((one, h) =>
          LESSONS[settings.task].watch.map((kind) => [`${kind} ${l}.${h}`, /** @type {any} */ (one)[kind]]),
        ),
      ),
    );
    return { weights: film, scores };
  }

  /** @param {{ data: Float32Array, shape: readonly number[] }} logits @param {number[]} targets */
  function guessesOf({ data, shape }, targets) {
    const V = shape[2];
    return targets.map((wanted, t) => {
      const row = data.subarray(t * V, (t + 1) * V);
      return { wanted, label: row.reduce((best, x, i) => (x > row[best] ? i : best), 0) };
    });
  }

  /** What has come since the last report. @type {any[]} */
  let points = [];
  let reportedAt = 0;
  /** Reports that have not been seen yet, where whoever asks says when one is. */
  let unseen = 0;
  let paced = false;

  /** @param {object} [more] */
  function report(more = {}) {
    const { steps, settings } = current();
    const now = performance.now();
    reportedAt = now;
    const perSecond = counted.steps > 2 ? (1000 * counted.steps) / (now - counted.since) : null;
    if (now - counted.since > 2000) counted = { since: now, steps: 0 };
    curves = extended(curves, { points, step: steps, .../** @type {any} */ (more) });
    say('trained', { progress: { steps, end, at, playing, key, settings, perSecond }, points, ...more });
    points = [];
    unseen++;
  }

  const snapshotEvery = () => Math.max(Math.round(end / FRAMES), 1);

  /** A snapshot and its frame of the film: all heads on the sequence that is shown. */
  function shot(more = {}) {
    const { steps } = current();
    current().takeSnapshot();
    const { weights, scores } = show();
    report({ ...more, scores, frame: { step: steps, weights }, kept: current().snapshots });
  }

  function showing() {
    const { scores } = show();
    report(at === null ? { scores } : {});
  }

  const judged = () => current().validate().accuracy;

  /** One step; false where it has gone astray. */
  function step() {
    const { loss } = current().step();
    version++;
    counted.steps++;
    const { steps } = current();
    if (steps === 1) first = loss;
    const lost = !Number.isFinite(loss);
    if (lost || (steps > 20 && loss > ASTRAY * first)) {
      current().recover();
      version++;
      playing = false;
      shot({ astray: { step: steps, nan: lost, back: current().steps, rate } });
      return false;
    }
    points.push(steps % JUDGED_EVERY === 0 || steps === 1 ? [steps, loss, judged()] : [steps, loss]);
    if (steps % snapshotEvery() === 0) shot();
    return true;
  }

  let rate = 0;

  function turn() {
    if (!playing) return;
    const start = performance.now();
    if (paced && unseen > MOST_UNSEEN) return void (timer = later(turn, TURN));
    do {
      if (performance.now() < due) break;
      due = speed === null ? 0 : Math.max(due + 1000 / speed, performance.now() - 100);
      if (!step()) return void keep();
      if (current().steps >= end) {
        pause();
        return shot();
      }
    } while (performance.now() - start < TURN);
    if (performance.now() - shownAt > SHOWN_EVERY) showing();
    else if (points.length > 0 && performance.now() - reportedAt > REPORTED_EVERY) report();
    if (performance.now() - keptAt > KEPT_EVERY) keep();
    timer = later(turn, speed === null ? 0 : Math.max(due - performance.now(), 0));
  }

  function play() {
    if (at !== null) {
      current().resume();
      at = null;
      version++;
    }
    // As many steps again.
    if (current().steps >= end) end = current().steps + taughtTask(current().settings).training.steps;
    playing = true;
    due = performance.now();
    counted = { since: due, steps: 0 };
    turn();
  }

  function pause() {
    playing = false;
    clearTimeout(timer);
    keep();
  }

  /** What there is goes to the shelf; what does not fit is said. */
  function keep() {
    if (!trainer || trainer.steps === 0 || at !== null) return;
    keptAt = performance.now();
    const kept = {
      key,
      settings: trainer.settings,
      steps: trainer.steps,
      end,
      at: Date.now(),
      bytes: trainer.save(),
      // What has not been reported yet belongs to them.
      curves: extended(curves, /** @type {any} */ ({ points, step: trainer.steps })),
      going: going(),
    };
    return shelf.put(kept).then(
      () => listShelf(),
      (error) => say('shelf', { problem: error.name === 'QuotaExceededError' ? 'full' : error.message }),
    );
  }

  /** What it takes to go on, with as much of the film as is kept. */
  function going() {
    const { snapshots: all, ...rest } = current().going();
    const size = (/** @type {any} */ { state }) =>
      Object.values(state).reduce((sum, /** @type {any} */ { data }) => sum + data.byteLength, 0);
    let snapshots = all;
    while (snapshots.length > 1 && snapshots.length * size(snapshots[0]) > MOST_KEPT)
      snapshots = snapshots.filter((_, i) => i % 2 === 0);
    return { ...rest, snapshots };
  }

  async function listShelf() {
    const list = await shelf.list().catch(() => []);
    say('shelf', { list });
  }

  /** A new trainer in the place of the one before. @param {Settings} settings @param {Kept | undefined} kept */
  function become(settings, kept) {
    const next = createTrainer(core, settings, taughtTask(settings), kept?.going && kept.bytes);
    try {
      if (kept) next.load(readSafetensors(kept.bytes).tensors, kept.steps, kept.going);
    } catch (error) {
      next.dispose();
      throw error;
    }
    playing = false;
    clearTimeout(timer);
    trainer?.dispose();
    trainer = next;
    key = keyOf(settings);
    version++;
    at = null;
    rate = settings.rate;
    end = Math.max(kept?.end ?? 0, taughtTask(settings).training.steps);
    points = [];
    curves = /** @type {any} */ (kept?.curves) ?? noCurves();
    first = curves.loss[0]?.[1] ?? 0;
    keptAt = performance.now();
  }

  /** @param {Settings} settings @param {boolean} [afresh] though one is kept */
  async function ensure(settings, afresh = false) {
    core ??= await hl();
    if (trainer && key === keyOf(settings) && !afresh) return;
    const kept = afresh ? undefined : await shelf.get(keyOf(settings)).catch(() => undefined);
    become(settings, kept);
  }

  const verbs = {
    /**
     * Begins, or goes on with what is kept, and tells how it goes until the next question of this kind.
     * @param {any} asked
     */
    async train({ question, say: tell }) {
      ended();
      const { state, afresh = false, go = false, bytes } = question;
      await inLine(async () => {
        if (bytes) await open(bytes);
        else await ensure(settingsOf(state.training, state.lesson), afresh);
        say = tell;
        look = { layer: state.layer, head: state.head };
        speed = question.speed;
        paced = question.paced === true;
        unseen = 0;
        // What is looked back at is left.
        if (at !== null) current().resume();
        at = null;
        if (!bytes) rate = state.training.rate;
        current().setRate(rate);
        if (current().steps === 0) points = [[0, current().validate().loss, judged()]];
        shot({ began: { curves, settings: current().settings, steps: current().steps, frames: framesOf() } });
        listShelf();
        if (go && current().steps < end) play();
      });
      await new Promise((resolve) => (ended = () => resolve(undefined)));
    },

    async seen() {
      unseen = Math.max(unseen - 1, 0);
    },

    /** @param {any} asked */
    steer: ({ question, say: answer }) =>
      inLine(async () => {
        const { act } = question;
        if (act === 'remove') {
          await shelf.remove(question.key);
          return listShelf();
        }
        if (!trainer) return;
        if (act === 'play') play();
        else if (act === 'pause') {
          pause();
          showing();
        } else if (act === 'step') {
          playing = false;
          clearTimeout(timer);
          if (at !== null) current().resume();
          at = null;
          if (current().steps >= end) end = current().steps + 1;
          if (step()) {
            const last = points.at(-1);
            if (last?.length === 2) last.push(judged());
            showing();
          }
          keep();
        } else if (act === 'back') {
          playing = false;
          clearTimeout(timer);
          const i = current().snapshots.indexOf(question.step);
          if (i < 0) return;
          at = question.step;
          if (i === current().snapshots.length - 1 && question.step === current().steps) {
            current().resume();
            at = null;
          } else current().goBack(i);
          version++;
          showing();
        } else if (act === 'look') {
          look = { layer: question.layer, head: question.head };
          showing();
        } else if (act === 'rate') {
          rate = question.rate;
          current().setRate(rate);
        } else if (act === 'speed') {
          speed = question.speed;
          due = performance.now();
          if (playing) {
            clearTimeout(timer);
            turn();
          }
        } else if (act === 'save') answer('saved', { bytes: current().save(), settings: current().settings });
        else if (act === 'folder') {
          const [bytes, { settings }] = [writeZip(await current().folder()), current()];
          answer('saved', { bytes, settings, ending: 'zip' });
        } else if (act === 'onnx') {
          const [bytes, { settings }] = [await current().onnx(), current()];
          answer('saved', { bytes, settings, ending: 'onnx' });
        }
      }),
  };

  /** A file that was saved here. @param {Uint8Array} bytes */
  async function open(bytes) {
    core ??= await hl();
    const { metadata } = readSafetensors(bytes);
    if (!metadata.settings) throw new Error('this file was not saved by the training here: it has no settings');
    const settings = JSON.parse(metadata.settings);
    checkSettings(settings);
    const steps = Number(metadata.steps ?? 0);
    const kept = { key: keyOf(settings), settings, steps, end: steps, at: 0, bytes, curves: noCurves() };
    become(settings, /** @type {Kept} */ (kept));
  }

  return {
    verbs,
    /** The model of these settings, as a source. @param {any} state @returns {Promise<Source>} */
    async source(state) {
      await inLine(() => ensure(settingsOf(state.training, state.lesson)));
      return source();
    },
  };
}
