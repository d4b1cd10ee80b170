// What the worker of the Train view does: trains in short turns, so that it hears what it is told in between.

import { readSafetensors, writeSafetensors } from '../../src/js/io/formats.js';
import { createTrainer } from './trainer.js';

/** Training goes on for so long at a stretch; pictures of the heads are taken not more often than this. Milliseconds. */
const [TURN, LOOK_EVERY] = [40, 300];
const VALIDATE_EVERY = 20;
/** How long a step takes at least, by the speed. */
const PAUSES = { slow: 400, medium: 60, fast: 0 };

/** @param {() => Promise<object>} load */
export function teach(load) {
  const core = load();
  core.catch(() => {});
  let trainer = null;
  let playing = false;
  let speed = 'fast';
  let lookedAt = 0;
  let timer = 0;
  /** The last thing that the page has asked for: what was said before it is old. */
  let order = 0;
  /** Since when how many steps. */
  let [since, count] = [0, 0];

  const broken = ({ loss }) => !Number.isFinite(loss);

  function post(points, more = {}) {
    const now = performance.now();
    const perSecond = count > 0 ? (1000 * count) / (now - since) : 0;
    if (now - since > 2000) [since, count] = [now, 0];
    postMessage({ order, steps: trainer.steps, playing, points, ...(perSecond > 0 && { perSecond }), ...more });
  }

  function look(points, more) {
    lookedAt = performance.now();
    trainer.takeSnapshot();
    const seen = trainer.look();
    post(points, { ...more, seen, snapshots: trainer.snapshots });
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
        look(points, { broken: true });
        return;
      }
      points.push([trainer.steps, result.loss, result.accuracy]);
      if (trainer.steps % VALIDATE_EVERY === 0) {
        const { loss, accuracy } = trainer.validate();
        points.at(-1).push(loss, accuracy);
      }
    } while (PAUSES[speed] === 0 && performance.now() - start < TURN);
    if (performance.now() - lookedAt > LOOK_EVERY) look(points);
    else post(points);
    timer = setTimeout(turn, PAUSES[speed]);
  }

  function go() {
    clearTimeout(timer);
    [since, count] = [performance.now(), 0];
    turn();
  }

  const verbs = {
    async start({ settings }) {
      playing = false;
      clearTimeout(timer);
      const hl = await core;
      trainer?.dispose();
      trainer = createTrainer(hl, settings);
      count = 0;
      look([], {
        started: { probe: trainer.probe, tokens: trainer.task.tokens, settings },
        info: { simd: hl.info.simd, threads: hl.info.threads },
      });
    },
    play() {
      playing = true;
      trainer.resume();
      go();
    },
    pause() {
      playing = false;
      clearTimeout(timer);
      look([]);
    },
    step() {
      playing = false;
      clearTimeout(timer);
      const result = trainer.step();
      if (broken(result)) {
        trainer.recover();
        look([], { broken: true });
      } else look([[trainer.steps, result.loss, result.accuracy, ...Object.values(trainer.validate())]]);
    },
    set(change) {
      if (change.rate !== undefined) trainer?.setRate(change.rate);
      speed = change.speed ?? speed;
      if (playing && change.speed) go();
      else if (trainer) post([]);
    },
    back({ at }) {
      playing = false;
      clearTimeout(timer);
      trainer.goBack(at);
      post([], { seen: trainer.look(), snapshots: trainer.snapshots, at });
    },
    save() {
      postMessage({ order, saved: trainer.save() });
    },
    async load({ bytes }) {
      const { tensors, metadata } = readSafetensors(bytes);
      if (!metadata.settings) throw new Error('no settings');
      await verbs.start({ settings: JSON.parse(metadata.settings) });
      trainer.load(tensors, Number(metadata.steps ?? 0));
      const { loss, accuracy } = trainer.validate();
      look([[trainer.steps, loss, accuracy, loss, accuracy]]);
    },
    layer({ at }) {
      const { tensors, tokens } = trainer.layer(at);
      postMessage({
        order,
        layer: {
          bytes: writeSafetensors(tensors, { queries: JSON.stringify(tokens), keys: JSON.stringify(tokens) }),
          heads: trainer.settings.heads,
        },
      });
    },
  };

  globalThis.onmessage = async ({ data: { verb, order: asked, ...more } }) => {
    order = asked;
    try {
      await verbs[verb](more);
    } catch (error) {
      postMessage({ order, error: error.message, verb });
    }
  };
}
