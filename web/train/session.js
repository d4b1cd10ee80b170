// What the worker of the Train view does: trains in short turns, so that it hears what it is told in between.

import { readSafetensors, writeSafetensors } from '../../src/js/io/formats.js';
import { checkSettings } from '../model/tasks.js';
import { createTrainer } from './trainer.js';

/** @import { Hl, Message, Point, Settings } from '../model/types.js' */

/** How long training runs before messages are read, and how often the heads are inspected at most. Milliseconds. */
const [TURN, INSPECT_EVERY] = [40, 300];
const VALIDATE_EVERY = 20;
/** How long a step takes at least, by the speed. */
const PAUSES = { slow: 400, medium: 60, fast: 0 };

/**
 * @param {() => Promise<Hl>} load
 * @param {(message: Message) => void} post to the page
 * @returns {(message: { verb: string, order: number, [more: string]: any }) => Promise<void>} what hears the page
 */
export function createSession(load, post) {
  const core = load();
  core.catch(() => {});
  let trainer = null;
  let playing = false;
  let speed = 'fast';
  let inspectedAt = 0;
  let timer = 0;
  /** The last thing that the page has asked for: what was said before it is old. */
  let order = 0;
  /** Since when how many steps. */
  let [since, count] = [0, 0];

  const broken = ({ loss }) => !Number.isFinite(loss);

  function report(points, more = {}) {
    const now = performance.now();
    const perSecond = count > 0 ? (1000 * count) / (now - since) : 0;
    if (now - since > 2000) [since, count] = [now, 0];
    post({ order, steps: trainer.steps, playing, points, ...(perSecond > 0 && { perSecond }), ...more });
  }

  function inspect(points, more) {
    inspectedAt = performance.now();
    trainer.takeSnapshot();
    const seen = trainer.inspect();
    report(points, { ...more, seen, snapshots: trainer.snapshots });
  }

  function turn() {
    if (!playing) return;
    const start = performance.now();
    const points = [];
    do {
      const result = trainer.step();
      count++;
      if (broken(result)) {
        playing = false;
        trainer.recover();
        inspect(points, { broken: true });
        return;
      }
      points.push([trainer.steps, result.loss, result.accuracy]);
      if (trainer.steps % VALIDATE_EVERY === 0) {
        const { loss, accuracy } = trainer.validate();
        points.at(-1).push(loss, accuracy);
      }
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

  /** A new trainer in the place of the one before, which stays where the new one cannot be made. */
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
    inspect([], {
      started: { probe: trainer.probe, tokens: trainer.task.tokens, settings },
      info: { simd: hl.info.simd, threads: hl.info.threads },
    });
  }

  const verbs = {
    start: ({ settings }) => begin(settings),
    play() {
      playing = true;
      trainer.resume();
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
      const result = trainer.step();
      if (broken(result)) {
        trainer.recover();
        inspect([], { broken: true });
      } else inspect([[trainer.steps, result.loss, result.accuracy, ...Object.values(trainer.validate())]]);
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
      trainer.goBack(at);
      report([], { seen: trainer.inspect(), snapshots: trainer.snapshots, at });
    },
    save() {
      post({ order, saved: trainer.save() });
    },
    async load({ bytes }) {
      const { tensors, metadata } = readSafetensors(bytes);
      if (!metadata.settings) throw new Error('no settings');
      const settings = JSON.parse(metadata.settings);
      checkSettings(settings);
      const steps = Number(metadata.steps ?? 0);
      if (!(Number.isSafeInteger(steps) && steps >= 0)) throw new Error(`${metadata.steps} steps`);
      await begin(settings, (next) => next.load(tensors, steps));
      const { loss, accuracy } = trainer.validate();
      inspect([[trainer.steps, loss, accuracy, loss, accuracy]]);
    },
    layer({ at }) {
      const { tensors, tokens } = trainer.layer(at);
      post({
        order,
        layer: {
          bytes: writeSafetensors(tensors, { queries: JSON.stringify(tokens), keys: JSON.stringify(tokens) }),
          heads: trainer.settings.heads,
        },
      });
    },
  };

  return async function hear({ verb, order: asked, ...more }) {
    order = asked;
    try {
      await verbs[verb](more);
    } catch (error) {
      post({ order, error: error.message, verb });
    }
  };
}
