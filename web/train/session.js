// The worker's part of the Train view: trains in short turns and reads messages in between.

import { readSafetensors, writeSafetensors } from '../../src/js/io/formats.js';
import { checkSettings } from '../model/tasks.js';
import { createTrainer } from './trainer.js';

/** @import { Hl, Message, Point, Report, Settings } from '../model/types.js' */

/** How long training runs before messages are read, and how often the heads are inspected at most. Milliseconds. */
const [TURN, INSPECT_EVERY] = [40, 300];
const VALIDATE_EVERY = 20;
/** How long a step takes at least, by the speed. */
const PAUSES = { slow: 400, medium: 60, fast: 0 };

/**
 * @param {() => Promise<Hl>} load
 * @param {(message: Message) => void} post to the page
 * @returns {(message: { verb: string, order: number, [more: string]: any }) => Promise<void>} called per message
 */
export function createSession(load, post) {
  const core = load();
  core.catch(() => {});
  /** @type {ReturnType<typeof createTrainer> | null} */
  let trainer = null;
  let playing = false;
  /** @type {keyof PAUSES} */
  let speed = 'fast';
  let inspectedAt = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** The last thing that the page has asked for: what was said before it is old. */
  let order = 0;
  /** Since when how many steps. */
  let [since, count] = [0, 0];

  const broken = (/** @type {{ loss: number }} */ { loss }) => !Number.isFinite(loss);

  /** What is trained: nothing can be asked of it before there is something. */
  function current() {
    if (!trainer) throw new Error('training has not begun');
    return trainer;
  }

  /** @param {Point[]} points @param {Partial<Report>} [more] */
  function report(points, more = {}) {
    const now = performance.now();
    const perSecond = count > 0 ? (1000 * count) / (now - since) : 0;
    if (now - since > 2000) [since, count] = [now, 0];
    post({ order, steps: current().steps, playing, points, ...(perSecond > 0 && { perSecond }), ...more });
  }

  /** The same with pictures of the heads. @param {Point[]} points @param {Partial<Report>} [more] */
  function inspect(points, more) {
    inspectedAt = performance.now();
    current().takeSnapshot();
    const seen = current().inspect();
    report(points, { ...more, seen, snapshots: current().snapshots });
  }

  /** @param {{ loss: number, accuracy: number }} result @param {boolean} validated @returns {Point} */
  function pointOf({ loss, accuracy }, validated) {
    const { steps } = current();
    if (!validated) return [steps, loss, accuracy];
    const validation = current().validate();
    return [steps, loss, accuracy, validation.loss, validation.accuracy];
  }

  function turn() {
    if (!playing) return;
    const start = performance.now();
    /** @type {Point[]} */
    const points = [];
    do {
      const result = current().step();
      count++;
      if (broken(result)) {
        playing = false;
        current().recover();
        inspect(points, { broken: true });
        return;
      }
      points.push(pointOf(result, current().steps % VALIDATE_EVERY === 0));
    } while (PAUSES[speed] === 0 && performance.now() - start < TURN);
    if (performance.now() - inspectedAt > INSPECT_EVERY) inspect(points);
    else report(points);
    timer = setTimeout(turn, PAUSES[speed]);
  }

  function go() {
    clearTimeout(timer);
    [since, count] = [performance.now(), 0];
    turn();
  }

  /**
   * A new trainer in the place of the one before, which stays where the new one cannot be made.
   * @param {Settings} settings
   * @param {(next: ReturnType<typeof createTrainer>) => void} [prepare]
   */
  async function begin(settings, prepare = () => {}) {
    const hl = await core;
    const next = createTrainer(hl, settings);
    try {
      prepare(next);
    } catch (error) {
      next.dispose();
      throw error;
    }
    playing = false;
    clearTimeout(timer);
    trainer?.dispose();
    trainer = next;
    count = 0;
    // What was loaded has been trained: its first point is how good it is.
    const points = next.steps > 0 ? [pointOf(next.validate(), true)] : [];
    inspect(points, {
      started: { probe: current().probe, tokens: current().task.tokens, settings },
      info: { simd: hl.info.simd, threads: hl.info.threads },
    });
  }

  /** @type {Record<string, (more: any) => void | Promise<void>>} */
  const verbs = {
    start: ({ settings }) => begin(settings),
    play() {
      playing = true;
      current().resume();
      go();
    },
    pause() {
      playing = false;
      clearTimeout(timer);
      inspect([]);
    },
    step() {
      playing = false;
      clearTimeout(timer);
      const result = current().step();
      if (broken(result)) {
        current().recover();
        inspect([], { broken: true });
      } else inspect([pointOf(result, true)]);
    },
    set(change) {
      if (change.rate !== undefined) trainer?.setRate(change.rate);
      speed = change.speed ?? speed;
      if (playing && change.speed) go();
      else if (trainer) report([]);
    },
    back({ at }) {
      playing = false;
      clearTimeout(timer);
      current().goBack(at);
      report([], { seen: current().inspect(), snapshots: current().snapshots, at });
    },
    save() {
      post({ order, saved: current().save() });
    },
    async load({ bytes }) {
      const { tensors, metadata } = readSafetensors(bytes);
      if (!metadata.settings) throw new Error('no settings');
      const settings = JSON.parse(metadata.settings);
      checkSettings(settings);
      const steps = Number(metadata.steps ?? 0);
      if (!(Number.isSafeInteger(steps) && steps >= 0)) throw new Error(`${metadata.steps} steps`);
      await begin(settings, (next) => next.load(tensors, steps));
    },
    layer({ at }) {
      const { tensors, tokens } = current().layer(at);
      post({
        order,
        layer: {
          bytes: writeSafetensors(tensors, { queries: JSON.stringify(tokens), keys: JSON.stringify(tokens) }),
          heads: current().settings.heads,
        },
      });
    },
  };

  return async function hear({ verb, order: asked, ...more }) {
    order = asked;
    try {
      await verbs[verb](more);
    } catch (error) {
      post({ order, error: error instanceof Error ? error.message : String(error), verb });
    }
  };
}
