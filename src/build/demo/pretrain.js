// Trains a small language model on Moby-Dick: a vocabulary, a trigram model as baseline, then the transformer.
//   npm run pretrain -- [--minutes N] [--steps N] [--seed N] [--threads N] [--vocabulary]
// Stops after N minutes and continues at the next run; --vocabulary makes only the vocabulary. Its state is stored in
// dist/whale; its results are web/demo/tokenizer.json and web/demo/whale.safetensors.

import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { load } from 'headlight-attention';
import { openDemoModel, shrinkDemoModel } from '../../../web/worker/sources/demoModel.js';
import { openTokenizer } from '../../js/text/tokenizer.js';
import { readWhale } from './text.js';
import { judge, readSaved, train } from './train.js';
import { trigram } from './trigram.js';
import { learnMerges, makeTokenizer, START } from './vocabulary.js';

const VOCAB = 2048;
const WINDOW = 128;
const SETTINGS = {
  model: {
    ...{ layers: 5, dModel: 128, numHeads: 4, mlp: 344, vocab: VOCAB, context: 256, dropout: 0.1, std: 0.02 },
    ...{ positions: 'rotary', norm: 'rms', activation: 'silu', gated: true, tied: true, bias: false },
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
 * The settings of each stage, as differences from the first. From the text alone the model learns previous-token heads,
 * in layer 3, but hardly an induction head. So the second stage repeats passages until one has formed, and the third
 * trains on the text again, with just enough repeated passages to preserve it.
 */
const STAGES = [
  {},
  { steps: 250, batch: 8, rate: 0.002, warmUp: 20, repeats: 0.6, average: 0.95 },
  { steps: 500, rate: 0.0015, warmUp: 10, repeats: 0.3, average: 0.98 },
];

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: 'Infinity' },
    steps: { type: 'string', default: String(SETTINGS.steps) },
    seed: { type: 'string', default: String(SETTINGS.seed) },
    threads: { type: 'string', default: 'auto' },
    vocabulary: { type: 'boolean' },
  },
});
const first = { ...SETTINGS, steps: Number(values.steps), seed: Number(values.seed) };
const stages = STAGES.map((stage) => ({ ...first, ...stage }));
const folder = fileURLToPath(new URL('../../../dist/whale', import.meta.url));
const beside = (/** @type {string} */ name) => fileURLToPath(new URL(`../../../web/demo/${name}`, import.meta.url));
const say = (/** @type {string} */ text) => console.log(text);

mkdirSync(folder, { recursive: true });
const text = readWhale(folder);
const file = `${JSON.stringify(makeTokenizer(learnMerges(text.train, VOCAB)), null, 2)}\n`;
writeFileSync(beside('tokenizer.json'), file);
say(`written: web/demo/tokenizer.json, ${Buffer.byteLength(file)} bytes`);
if (values.vocabulary) process.exit();

const tokenizer = openTokenizer(file);
const start = Number(tokenizer.idOf(START));
/** The tokens of each chapter. @param {string[]} chapters */
const encode = (chapters) => chapters.map((chapter) => tokenizer.encode(START + chapter).ids);
const [trainTokens, heldOutTokens] = [encode(text.train), encode(text.heldOut)];
const bytes = Buffer.byteLength(text.heldOut.join(''));
const bits = (/** @type {number} */ loss, /** @type {number} */ tokens) => (loss * tokens) / Math.LN2 / bytes;
const report = (/** @type {string} */ name, /** @type {{ loss: number, tokens: number }} */ { loss, tokens }) =>
  say(`${name}: ${loss.toFixed(4)} nats a token, ${bits(loss, tokens).toFixed(4)} bits a byte, held-out chapters`);
say(`${trainTokens.flat().length} training tokens, ${heldOutTokens.flat().length} held out (${bytes} bytes)`);
report('interpolated trigram model', trigram(trainTokens, VOCAB).judge(heldOutTokens));

const threads = values.threads === 'auto' ? 'auto' : Number(values.threads);
const hl = /** @type {any} */ (await load({ threads }));
const texts = { train: Int32Array.from(trainTokens.flat()), heldOut: Int32Array.from(heldOutTokens.flat()), start };
const stopsAt = performance.now() + 60_000 * Number(values.minutes);
const isEnough = () => performance.now() > stopsAt;
let at = Math.max(
  0,
  stages.findIndex((settings) => readSaved(folder, settings)),
);
say(`stage ${at + 1} of ${stages.length}`);
let trained = train(hl, texts, stages[at], { folder, isEnough, say });
while (trained.step === stages[at].steps && at + 1 < stages.length) {
  at++;
  trained.model.dispose();
  say(`stage ${at + 1} of ${stages.length}`);
  trained = train(hl, texts, stages[at], { folder, isEnough, say }, trained.after);
}
const { model, step, after } = trained;
const whole = judge(model, texts.heldOut, { window: WINDOW, start });
report(`transformer after step ${step} of stage ${at + 1}`, whole);
const minutes = (after.seconds / 60).toFixed(0);
const notes = { minutes, heldOutLoss: whole.loss.toFixed(4), training: JSON.stringify(stages) };
const shrunk = shrinkDemoModel(model.save(), notes);
report('with int8 weights', judge(openDemoModel(hl, shrunk), texts.heldOut, { window: WINDOW, start }));
if (at + 1 === stages.length && step === stages[at].steps) {
  writeFileSync(beside('whale.safetensors'), shrunk);
  say(`written: web/demo/whale.safetensors, ${shrunk.length} bytes, ${minutes} minutes`);
} else say('stopped: run it again to continue');
hl.dispose();
process.exit();
