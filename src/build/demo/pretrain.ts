// Trains a small language model on Moby-Dick: a vocabulary, a trigram model as baseline, then the transformer.
//   npm run pretrain -- [--minutes N] [--steps N] [--seed N] [--threads N] [--vocabulary] [--from FILE --stage N]
// Stops after N minutes and continues at the next run; --vocabulary makes only the vocabulary; --from FILE skips the
// stages before stage N (default: 4) and begins with the weights in FILE. The state of the training is stored in
// dist/whale, with the results of eight stages. The final results are tokenizer.json and whale.safetensors in web/demo.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { load } from 'headlight-attention';
import { readSafetensors } from 'headlight-attention/formats';
import { openDemoModel, shrinkDemoModel } from '../../../web/worker/sources/demoModel.ts';
import type { Transformer } from '../../js/models/transformer.ts';
import { openTokenizer } from '../../js/text/tokenizer.ts';
import { makeLouder, makeSharper } from './changeHeads.ts';
import { wholeWords } from './echoes.ts';
import { readWhale } from './text.ts';
import { type Before, judge, readSaved, type Settings, train } from './train.ts';
import { trigram } from './trigram.ts';
import { learnMerges, makeTokenizer, START } from './vocabulary.ts';

const VOCAB = 2048;
const WINDOW = 128;
const SETTINGS: Settings = {
  model: {
    layers: 5,
    dModel: 128,
    numHeads: 4,
    mlp: 344,
    vocab: VOCAB,
    context: 256,
    dropout: 0.1,
    std: 0.02,
    positions: 'rotary',
    norm: 'rms',
    activation: 'silu',
    gated: true,
    tied: true,
    bias: false,
  },
  steps: 2600,
  batch: 16,
  window: WINDOW,
  rate: 0.003,
  warmUp: 100,
  weightDecay: 0.1,
  repeats: 0.1,
  noise: 0.05,
  average: 0.995,
  seed: 1,
};

/**
 * The induction head, and the heads of layers 2 and 3 that would become previous-token heads besides head 3 of layer 3:
 * [layer, head].
 */
const INDUCTION = [[4, 2]];
const OTHERS = [2, 3].flatMap((layer) => [0, 1, 2].map((head) => [layer, head]));

/** The steps of the ninth and tenth stages in which only the heads and the feed-forward that copy are surely on. */
const LESIONS = {
  ...{ share: 0.3, all: 0.3, kept: [[0, 2], [3, 3], ...INDUCTION], keptMlps: [0] },
  windows: { repeats: 0, drills: 0.4, echoes: 0.6, stutters: 0, refrains: 0, noise: 0 },
};

/** The settings of stages in which two heads of layer 0 are mostly off, so that copying does not depend on them. */
const FEW_PARTS = {
  ...{ batch: 8, warmUp: 20, repeats: 0.035, drills: 0.04, echoes: 0.12, stutters: 0.05, refrains: 0.5, noise: 0.02 },
  ...{ average: 0.97, vague: { heads: [...OTHERS, ...INDUCTION], scale: 1 } },
  lesions: {
    ...{
      ...LESIONS,
      share: 0.35,
      all: 0.4,
      often: [
        [0, 1],
        [0, 3],
      ],
      rest: 0.8,
    },
    windows: { ...LESIONS.windows, drills: 0.16, echoes: 0.24, refrains: 0.6 },
  },
};

/**
 * The settings of each stage, as differences from the first. From the text alone the model learns previous-token heads,
 * in layer 3, but hardly an induction head. So the second stage repeats passages until an induction head has formed,
 * and the third trains on the text again, with just enough repeated passages to preserve this head.
 *
 * After the third stage the induction head attends to the right token, but its output hardly tells which token it is.
 * So the fourth stage mostly repeats random tokens, the next two mostly passages of whole words, and the seventh mostly
 * trains on the text again. Without vague heads, four heads of layers 2 and 3 would become previous-token heads, and
 * removing one of them alone would not matter. After the seventh stage the induction head finds only nearby tokens, so
 * the eighth stage repeats passages at all distances.
 *
 * After the eighth stage the model copies too readily: it predicts the book better without the induction head. So the
 * next two stages train mostly on the text, with this head's query and key weights fixed. Short texts that repeat
 * themselves preserve the copying in short texts. In some steps random parts are off, so that fewer parts suffice for
 * it. The eleventh stage has more of the short texts, and the next two need fewer parts again. The last has
 * more of the book.
 */
const STAGES: Partial<Settings>[] = [
  {},
  { steps: 250, batch: 8, rate: 0.002, warmUp: 20, repeats: 0.6, average: 0.95 },
  { steps: 500, rate: 0.0015, warmUp: 10, repeats: 0.3, average: 0.98 },
  {
    ...{ steps: 240, batch: 8, rate: 0.003, warmUp: 20, repeats: 0, drills: 0.5, echoes: 0.3, average: 0.95 },
    vague: { heads: OTHERS, scale: 0.1 },
  },
  {
    ...{ steps: 300, batch: 8, rate: 0.0015, warmUp: 20, repeats: 0, drills: 0.15, echoes: 0.5, stutters: 0.1 },
    ...{ average: 0.97, vague: { heads: OTHERS, scale: 1 }, louder: { heads: INDUCTION, scale: 3 } },
  },
  {
    ...{ steps: 200, batch: 8, rate: 0.001, warmUp: 20, repeats: 0, drills: 0.1, echoes: 0.6, stutters: 0.05 },
    ...{ average: 0.97, vague: { heads: OTHERS, scale: 1 } },
  },
  {
    ...{ steps: 160, batch: 8, rate: 0.001, warmUp: 10, repeats: 0, echoes: 0.25, stutters: 0.2, noise: 0.02 },
    ...{ average: 0.97, vague: { heads: OTHERS, scale: 1 } },
  },
  {
    ...{ steps: 300, batch: 8, rate: 0.001, warmUp: 10, repeats: 0.1, drills: 0.1, echoes: 0.5, stutters: 0.1 },
    ...{ noise: 0.02, average: 0.97, vague: { heads: OTHERS, scale: 1 } },
  },
  {
    ...{ steps: 1500, batch: 8, rate: 0.001, warmUp: 20, repeats: 0.05, drills: 0.1, echoes: 0.12, stutters: 0.08 },
    ...{ refrains: 0.3, noise: 0.02, average: 0.97, sharper: { heads: INDUCTION, scale: 2.5 } },
    ...{ vague: { heads: [...OTHERS, ...INDUCTION], scale: 1 }, lesions: LESIONS },
  },
  {
    ...{ steps: 1500, batch: 8, rate: 0.001, warmUp: 20, repeats: 0.05, drills: 0.08, echoes: 0.1, stutters: 0.08 },
    ...{ refrains: 0.42, noise: 0.02, average: 0.97, vague: { heads: [...OTHERS, ...INDUCTION], scale: 1 } },
    lesions: {
      ...LESIONS,
      often: [
        [0, 1],
        [0, 3],
      ],
      rest: 0.5,
    },
  },
  {
    ...{ steps: 1800, batch: 8, rate: 0.001, warmUp: 20, repeats: 0.03, drills: 0.05, echoes: 0.08, stutters: 0.05 },
    ...{ refrains: 0.6, noise: 0.02, average: 0.97, louder: { heads: INDUCTION, scale: 1.3 } },
    ...{ vague: { heads: [...OTHERS, ...INDUCTION], scale: 1 }, lesions: { ...LESIONS, share: 0 } },
  },
  { ...FEW_PARTS, steps: 1000, rate: 0.0008, sharper: { heads: INDUCTION, scale: 2.5 } },
  { ...FEW_PARTS, steps: 900, rate: 0.0007 },
  {
    ...{ ...FEW_PARTS, steps: 500, rate: 0.0007, repeats: 0.015, drills: 0.02, echoes: 0.08, stutters: 0.04 },
    ...{ refrains: 0.25, lesions: { ...FEW_PARTS.lesions, share: 0.2 } },
  },
];

/**
 * Factors by which the induction head's output and query weights are multiplied after the last stages, by stage.
 * Training on a text makes the output smaller, because in a text the token after a repeated token is usually another
 * one. So the factors raise the loss on the text a little.
 */
const FACTORS: Map<number, [louder: number, sharper: number]> = new Map([
  [6, [1.7, 1.4]],
  [7, [1.6, 1]],
]);

/**
 * By stage, the weight of its result in a mean with the weights that it began with. Such a mean has a lower loss than
 * both.
 */
const SHARES: Map<number, number> = new Map([
  [12, 0.45],
  [13, 0.6],
]);
/**
 * Returns the weighted mean of two states.
 * @param share the weight of b
 */
const mixed = (a: Before['model'], b: Before['model'], share: number) =>
  Object.fromEntries(
    Object.entries(a).map(([name, { data, shape }]) => [
      name,
      { shape, data: data.map((x, i) => (1 - share) * x + share * b[name].data[i]) },
    ]),
  );

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: 'Infinity' },
    steps: { type: 'string', default: String(SETTINGS.steps) },
    seed: { type: 'string', default: String(SETTINGS.seed) },
    threads: { type: 'string', default: 'auto' },
    vocabulary: { type: 'boolean' },
    from: { type: 'string' },
    stage: { type: 'string' },
  },
});
const first = { ...SETTINGS, steps: Number(values.steps), seed: Number(values.seed) };
const stages = STAGES.map((stage) => ({ ...first, ...stage }));
const folder = fileURLToPath(new URL('../../../dist/whale', import.meta.url));
const beside = (name: string) => fileURLToPath(new URL(`../../../web/demo/${name}`, import.meta.url));
const say = (text: string) => console.log(text);

mkdirSync(folder, { recursive: true });
const text = readWhale(folder);
const file = `${JSON.stringify(makeTokenizer(learnMerges(text.train, VOCAB)), null, 2)}\n`;
writeFileSync(beside('tokenizer.json'), file);
say(`written: web/demo/tokenizer.json, ${Buffer.byteLength(file)} bytes`);
if (values.vocabulary) process.exit();

const tokenizer = openTokenizer(file);
const start = Number(tokenizer.idOf(START));
/** Returns the tokens of each chapter. */
const encode = (chapters: string[]) => chapters.map((chapter) => tokenizer.encode(START + chapter).ids);
const [trainTokens, heldOutTokens] = [encode(text.train), encode(text.heldOut)];
const bytes = Buffer.byteLength(text.heldOut.join(''));
const bits = (loss: number, tokens: number) => (loss * tokens) / Math.LN2 / bytes;
const report = (name: string, { loss, tokens }: { loss: number; tokens: number }) =>
  say(`${name}: ${loss.toFixed(4)} nats a token, ${bits(loss, tokens).toFixed(4)} bits a byte, held-out chapters`);
say(`${trainTokens.flat().length} training tokens, ${heldOutTokens.flat().length} held out (${bytes} bytes)`);
report('interpolated trigram model', trigram(trainTokens, VOCAB).judge(heldOutTokens));

const minutesOf = (seconds: number) => (seconds / 60).toFixed(0);
/** Returns the contents of the file of a model. */
const shrink = (model: Transformer, seconds: number, loss?: number) => {
  const heldOutLoss: Record<string, string> = loss === undefined ? {} : { heldOutLoss: loss.toFixed(4) };
  const notes = {
    minutes: minutesOf(seconds),
    ...heldOutLoss,
    training: JSON.stringify(stages),
    factors: JSON.stringify([...FACTORS]),
  };
  return shrinkDemoModel(model.save(), notes);
};

const threads = values.threads === 'auto' ? 'auto' : Number(values.threads);
const hl = await load({ threads });
const tokens = trainTokens.flat();
const whole = wholeWords(tokens, (token) => tokenizer.decode([token]));
const distinct = (list: number[]) => Int32Array.from(new Set(list)).sort();
const texts = {
  train: Int32Array.from(tokens),
  heldOut: Int32Array.from(heldOutTokens.flat()),
  whole,
  words: distinct(tokens.filter((_, t) => whole[t] > 0)),
  vocabulary: distinct(tokens),
  start,
};
const stopsAt = performance.now() + 60_000 * Number(values.minutes);
const isEnough = () => performance.now() > stopsAt;
const runStage = (at: number, before?: Before | null) => {
  say(`stage ${at + 1} of ${stages.length}`);
  return train(hl, texts, stages[at], { folder, isEnough, say }, before);
};
const last = stages.length - 1;
/** Changes the weights after a stage, by FACTORS and SHARES. */
const finishStage = (model: Transformer, stage: number) => {
  const [louder, sharper] = FACTORS.get(stage) ?? [1, 1];
  makeLouder(model, INDUCTION, louder);
  makeSharper(model, INDUCTION, sharper);
  const share = SHARES.get(stage);
  if (share) model.loadStateDict(mixed(readWeights(stored(stage)).model, model.stateDict(), share));
};
/** The stages that begin with the int8 weights of the previous stage, without the state of its optimizer. */
const AGAIN = [3, 7, 8, 9, 10, 11, 12, 13];
const stored = (stage: number) => join(folder, `whale.${stage}.safetensors`);
/** Reads the weights of a file. */
const readWeights = (file: string): Before => {
  const opened = openDemoModel(hl, readFileSync(file));
  const seconds = 60 * Number(readSafetensors(readFileSync(file)).metadata.minutes);
  return { model: opened.stateDict(), optimizer: null, seconds };
};
const isSaved = (settings: Settings) => readSaved(folder, settings) !== null;
const saved = stages.findIndex(isSaved);
const firstStage = values.stage ? Number(values.stage) - 1 : AGAIN[0];
let at = saved >= 0 ? saved : values.from ? firstStage : 0;
let trained = runStage(at, values.from ? readWeights(values.from) : null);
while (trained.step === stages[at].steps && at < last) {
  const { model, after } = trained;
  finishStage(model, at);
  at++;
  const isAgain = AGAIN.includes(at);
  if (isAgain) writeFileSync(stored(at), shrink(model, after.seconds));
  model.dispose();
  trained = runStage(at, isAgain ? readWeights(stored(at)) : after);
}
const { model, step, after } = trained;
const isComplete = at === last && step === stages[at].steps;
if (isComplete) finishStage(model, at);
const judged = judge(model, texts.heldOut, { window: WINDOW, start });
report(`transformer after step ${step} of stage ${at + 1}`, judged);
const shrunk = shrink(model, after.seconds, judged.loss);
report('with int8 weights', judge(openDemoModel(hl, shrunk), texts.heldOut, { window: WINDOW, start }));
if (isComplete) {
  writeFileSync(beside('whale.safetensors'), shrunk);
  say(`written: web/demo/whale.safetensors, ${shrunk.length} bytes, ${minutesOf(after.seconds)} minutes`);
} else say('stopped: run it again to continue');
hl.dispose();
process.exit();
