// Trains a small transformer on one task, and inspects it on the way. Knows neither page nor worker.

import { writeSafetensors } from '../../../src/js/io/safetensors.js';
import { uniformSource } from '../../../src/js/ops/random.js';
import { headScores } from '../../features/train/headStats.js';
import { batchOf, taskOf, validationBatchOf } from '../../features/train/tasks.js';

/** @import { Hl, Labels, Seen, Settings, TaskKind, Tensor } from '../../store/types.js' */

/** The rate rises over so many steps. */
const WARM_UP = 50;
/** The gradients of all parameters together are no longer than this. */
const MOST_GRADIENT = 1;
/** At most so many snapshots; when there are more, every other one is dropped. */
const MOST_SNAPSHOTS = 48;
const VALIDATION = 64;
const EXAMPLES_SHOWN = 4;
/** Of so many steps a folder has the sequences. */
const BATCHES_AHEAD = 100;

/**
 * @typedef {object} Going
 * @property {Record<string, any>} optimizer
 * @property {number} drawn
 * @property {{ step: number, state: Record<string, Tensor> }[]} snapshots
 */

/**
 * A value of every block.
 * @template T
 * @param {{ captured: Record<string, T> }} result
 * @param {string} name
 */
const layersOf = ({ captured }, name) =>
  Object.keys(captured)
    .filter((key) => key.endsWith(`.${name}`))
    .map((key) => captured[key]);

/** A tokenizer.json whose tokens are characters. @param {readonly string[]} tokens */
const characterTokenizer = (tokens) =>
  JSON.stringify({
    version: '1.0',
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: { type: 'Fuse' },
    model: { type: 'BPE', vocab: Object.fromEntries(tokens.map((token, i) => [token, i])), merges: [] },
  });

/**
 * @param {Hl} hl
 * @param {Settings} settings
 * @param {TaskKind} [task] the task that they name
 * @param {Uint8Array} [saved] the model that goes on: it knows how often it has learned
 */
export function createTrainer(hl, settings, task = taskOf(settings), saved) {
  const { batch } = task.training;
  const fresh = () =>
    hl.transformer({
      layers: settings.layers,
      dModel: settings.width,
      numHeads: settings.heads,
      mlp: settings.mlp ? task.model.mlp || 2 * settings.width : 0,
      vocab: task.tokens.length,
      context: task.context,
      dropout: settings.dropout,
      seed: settings.seed,
    });
  const model = saved ? hl.loadTransformer(saved) : fresh();
  const next = uniformSource(settings.seed);
  /** Numbers drawn for sequences: so many are passed over by who goes on from what was kept. */
  let drawn = 0;
  const random = () => {
    drawn++;
    return next();
  };
  const validation = validationBatchOf(task, uniformSource(settings.seed + 1000), VALIDATION);
  const T = validation.labels.shape[1];
  const sequence = (/** @type {Labels} */ { data }, /** @type {number} */ i) =>
    Array.from(data.subarray(i * T, (i + 1) * T));
  const suits = (/** @type {number} */ i) => task.suits?.(sequence(validation.labels, i)) ?? true;
  const shown = Math.max(Array.from({ length: VALIDATION }, (_, i) => i).findIndex(suits), 0);
  const probe = { labels: sequence(validation.labels, shown), targets: sequence(validation.targets, shown) };
  const makers = {
    adamW: () => hl.adamW([model], { lr: settings.rate, weightDecay: task.training.weightDecay ?? 0.01 }),
    adam: () => hl.adam([model], { lr: settings.rate }),
    sgd: () => hl.sgd([model], { lr: settings.rate, momentum: 0.9 }),
  };
  let optimizer = makers[settings.optimizer]();
  let rate = settings.rate;
  let steps = 0;
  /** In rising order. @type {{ step: number, state: Record<string, Tensor> }[]} */
  let snapshots = [];
  /** While an earlier state is shown: the newest one. @type {Record<string, Tensor> | null} */
  let newest = null;

  const stateOf = () =>
    Object.fromEntries(Object.entries(model.stateDict()).map(([name, { data, shape }]) => [name, { data, shape }]));

  function takeSnapshot() {
    if (snapshots.at(-1)?.step === steps) return;
    snapshots.push({ step: steps, state: stateOf() });
    if (snapshots.length > MOST_SNAPSHOTS)
      snapshots = snapshots.filter((_, i) => i % 2 === 0 || i === snapshots.length - 1);
  }

  /** Back to where training is. */
  function resume() {
    if (!newest) return;
    model.loadStateDict(newest);
    newest = null;
  }

  const trainer = {
    task,
    settings,
    model,
    probe,
    get steps() {
      return steps;
    },
    get snapshots() {
      return snapshots.map(({ step }) => step);
    },
    /** @param {number} value */
    setRate(value) {
      rate = value;
    },
    /** One step: { loss, accuracy }, the loss NaN where training has gone astray. */
    step() {
      resume();
      if (steps === 0) takeSnapshot();
      const { labels, targets } = batchOf(task, random, batch);
      optimizer.lr = rate * Math.min(1, (steps + 1) / WARM_UP);
      model.zeroGrad();
      const { loss, correct, counted } = model.learn(labels, targets);
      hl.clipGradients([model], MOST_GRADIENT);
      optimizer.step();
      steps++;
      return { loss, accuracy: correct / counted };
    },
    /** The same on sequences that are never learned from. */
    validate() {
      const { loss, correct, counted } = model.judge(validation.labels, validation.targets);
      return { loss, accuracy: correct / counted };
    },
    /** Every head on the first of these sequences, and what is written on a few of them. @returns {Seen} */
    inspect() {
      return hl.scope(() => {
        const [H, V] = [settings.heads, task.tokens.length];
        const seen = model.forward(
          { data: validation.labels.data.subarray(0, EXAMPLES_SHOWN * T), shape: [EXAMPLES_SHOWN, T] },
          { capture: ['blocks.*.weights'] },
        );
        const weights = layersOf(seen, 'weights').map((tensor) => tensor.data.slice(0, H * T * T));
        const logits = /** @type {NonNullable<typeof seen.logits>} */ (seen.logits).data;
        const examples = Array.from({ length: EXAMPLES_SHOWN }, (_, i) => ({
          labels: sequence(validation.labels, i),
          targets: sequence(validation.targets, i),
          written: Array.from({ length: T }, (_, t) => {
            const row = logits.subarray((i * T + t) * V, (i * T + t + 1) * V);
            return row.indexOf(row.reduce((a, b) => Math.max(a, b), -Infinity));
          }),
        }));
        const scores = weights.map((layer) =>
          Array.from({ length: H }, (_, h) =>
            headScores({ weights: layer.subarray(h * T * T, (h + 1) * T * T), T, S: T }, probe.labels),
          ),
        );
        return { weights, scores, examples };
      });
    },
    takeSnapshot,
    /** Shows the model as it was at the i-th snapshot; training goes on from where it is. @param {number} i */
    goBack(i) {
      newest ??= stateOf();
      model.loadStateDict(snapshots[i].state);
    },
    resume,
    /** After a NaN loss: the last snapshot whose loss is a number, with a new optimiser. The first one always is. */
    recover() {
      newest = null;
      const restore = () => model.loadStateDict(snapshots[snapshots.length - 1].state);
      restore();
      while (snapshots.length > 1 && !Number.isFinite(trainer.validate().loss)) {
        snapshots.pop();
        restore();
      }
      steps = snapshots[snapshots.length - 1].step;
      optimizer.dispose();
      optimizer = makers[settings.optimizer]();
    },
    /**
     * The folder that PyTorch goes on with: the model, the state of its optimizer, and what it would be given next.
     * @returns {Promise<Record<string, Uint8Array>>}
     */
    async folder() {
      resume();
      const ahead = uniformSource(settings.seed);
      for (let i = 0; i < drawn; i++) ahead();
      const { labels, targets } = batchOf(task, ahead, batch * BATCHES_AHEAD);
      const small = (/** @type {Labels} */ { data, shape }) => ({ data: Int8Array.from(data), shape });
      return {
        ...(await model.saveFolder({ tokenizer: characterTokenizer(task.tokens), optimizer })),
        'tokens.safetensors': writeSafetensors({ tokens: small(labels), targets: small(targets) }),
      };
    },
    /** For onnxruntime: the logits, and the weights of every head. */
    async onnx() {
      resume();
      return (await model.toOnnx({ weights: true }))['model.onnx'];
    },
    save: () => model.save({ settings: JSON.stringify(settings), steps: String(steps) }),
    /** Beside the model, what it takes to go on as if nothing had come between. @returns {Going} */
    going: () => ({ optimizer: optimizer.stateDict(), drawn, snapshots: [...snapshots] }),
    /**
     * @param {Record<string, any>} dict the tensors of a file
     * @param {number} at after how many steps
     * @param {Going} [going] without it the optimiser knows nothing of the steps before
     */
    load(dict, at, going) {
      newest = null;
      model.loadStateDict(dict);
      if (going) optimizer.loadStateDict(going.optimizer);
      while (going && drawn < going.drawn) random();
      steps = at;
      snapshots = [...(going?.snapshots ?? [])];
      takeSnapshot();
    },
    /** What the attention of a layer reads on the probe, with its weights. @param {number} l */
    layer(l) {
      return hl.scope(() => {
        const labels = { data: Int32Array.from(probe.labels), shape: [1, T] };
        const inputs = layersOf(model.forward(labels, { capture: ['blocks.*.norm1'] }), 'norm1');
        const prefix = `blocks.${l}.attention.`;
        const own = Object.entries(model.stateDict())
          .filter(([name]) => name.startsWith(prefix))
          .map(([name, tensor]) => [name.slice(prefix.length), tensor]);
        return {
          tensors: { x: { data: inputs[l].copy(), shape: [...inputs[l].shape] }, ...Object.fromEntries(own) },
          tokens: probe.labels.map((label) => task.tokens[label]),
        };
      });
    },
    dispose() {
      optimizer.dispose();
      model.dispose();
    },
  };
  return trainer;
}
