// Tests sound for models: the log-mel spectrogram against its definition in float64, and resampling from other rates.

import assert from 'node:assert/strict';
import test from 'node:test';
import { logMel, resample } from 'headlight-attention/formats';
import { uniformSource } from '../../../src/js/ops/random.ts';
import { build, hl } from '../../support/headlight.js';
import { inTier } from '../../support/tier.js';

const noise = (length, seed = 1) => {
  const next = uniformSource(seed);
  return Float32Array.from({ length }, (_, i) => 0.3 * Math.sin(i / 5) + 0.2 * (next() - 0.5));
};

/** Computes the spectrogram from its definition, with every sum as a plain loop. */
function expectedLogMel(samples, bins, frames) {
  const sound = Array.from({ length: frames * 160 }, (_, i) => samples[i] ?? 0);
  const mirrored = (i) => sound[i < 0 ? -i : i < sound.length ? i : 2 * (sound.length - 1) - i];
  const mel = (f) => (f < 1000 ? (3 * f) / 200 : 15 + (27 * Math.log(f / 1000)) / Math.log(6.4));
  const hertz = (m) => (m < 15 ? (200 * m) / 3 : 1000 * Math.exp((Math.log(6.4) / 27) * (m - 15)));
  const edges = Array.from({ length: bins + 2 }, (_, i) => hertz((mel(8000) * i) / (bins + 1)));
  const logs = [];
  for (let frame = 0; frame < frames; frame++) {
    const part = Array.from({ length: 400 }, (_, n) => {
      const window = 0.5 * (1 - Math.cos((2 * Math.PI * n) / 400));
      return window * mirrored(160 * frame + n - 200);
    });
    const power = Array.from({ length: 201 }, (_, k) => {
      let [re, im] = [0, 0];
      part.forEach((x, n) => {
        re += x * Math.cos((2 * Math.PI * k * n) / 400);
        im -= x * Math.sin((2 * Math.PI * k * n) / 400);
      });
      return re * re + im * im;
    });
    for (let bin = 0; bin < bins; bin++) {
      const [low, middle, high] = edges.slice(bin, bin + 3);
      const sum = power.reduce((all, p, k) => {
        const f = 40 * k;
        return all + p * Math.max(Math.min((f - low) / (middle - low), (high - f) / (high - middle)), 0);
      }, 0);
      logs.push([bin * frames + frame, Math.log10(Math.max((2 / (high - low)) * sum, 1e-10))]);
    }
  }
  const most = Math.max(...logs.map(([, log]) => log));
  const data = new Float64Array(bins * frames);
  for (const [at, log] of logs) data[at] = (Math.max(log, most - 8) + 4) / 4;
  return data;
}

const [USUAL, LARGE] = [
  [80, 9000],
  [128, 20000],
];
for (const [bins, length] of inTier([USUAL, LARGE], [USUAL]))
  test(`the log-mel spectrogram with ${bins} bins is that of its definition`, () => {
    const samples = noise(length, bins);
    const { data, shape } = logMel(samples, { bins, seconds: 1 });
    assert.deepEqual(shape, [1, bins, 100]);
    const expected = expectedLogMel(samples, bins, 100);
    data.forEach((x, i) => assert.ok(Math.abs(x - expected[i]) <= 1e-6, `${i}: ${x}, expected ${expected[i]}`));
  });

test('the shortest spectrogram has two frames, as an encoder with one position reads', () => {
  const samples = noise(320, 3);
  const { data, shape } = logMel(samples, { seconds: 0.02 });
  assert.deepEqual(shape, [1, 80, 2]);
  const expected = expectedLogMel(samples, 80, 2);
  assert.ok(data.every((x, i) => Math.abs(x - expected[i]) < 1e-5));
  const other = logMel(samples, { seconds: 0.32 });
  assert.deepEqual(other.shape, [1, 80, 32]);
  assert.throws(() => logMel(samples, { seconds: 0.01 }), { code: 'ARGUMENT', parameter: 'seconds' });
});

test('samples that are not numbers are refused by their index', () => {
  for (const read of [(samples) => logMel(samples), (samples) => resample(samples, 8000, 16000)]) {
    const refused = (samples, parameter) => assert.throws(() => read(samples), { code: 'ARGUMENT', parameter });
    refused(BigInt64Array.of(1n), 'samples[0]');
    refused([0, 1n], 'samples[1]');
    refused([0, '1'], 'samples[1]');
    refused([[0, 1]], 'samples[0]');
  }
  assert.equal(resample(new Float32Array(0), 8000, 16000).length, 0);
});

test('thirty seconds by default; silence has the lowest value', () => {
  const { data, shape } = logMel([]);
  assert.deepEqual(shape, [1, 80, 3000]);
  assert.ok(data.every((x) => x === -1.5));
});

test('a model of sound reads the spectrogram', () => {
  const options = { layers: 1, dModel: 8, numHeads: 2, context: 50, causal: false, positions: 'sinusoidal' };
  const model = build(hl, { ...options, input: 'audio', channels: 80, head: 'none' });
  const { hidden } = model.forward({ features: logMel(noise(5000), { seconds: 1 }) });
  assert.deepEqual(hidden.shape, [1, 50, 8]);
  model.dispose();
});

const tone = (hertz, rate, length) =>
  Float64Array.from({ length }, (_, i) => Math.sin((2 * Math.PI * hertz * i) / rate));

test('sound at another rate: a tone stays, and tones that the new rate cannot represent are removed', () => {
  for (const [from, to] of [
    [44100, 16000],
    [48000, 16000],
    [8000, 16000],
    [22050, 16000],
  ]) {
    const got = resample(tone(440, from, from / 4), from, to);
    assert.equal(got.length, to / 4);
    const expected = tone(440, to, to / 4);
    for (let i = 200; i < got.length - 200; i++) assert.ok(Math.abs(got[i] - expected[i]) < 2e-3, `${from}, ${i}`);
  }
  const high = resample(tone(11000, 44100, 11025), 44100, 16000);
  assert.ok(high.slice(200, -200).every((x) => Math.abs(x) < 1e-2));
  assert.deepEqual(resample([1, 2, 3], 16000, 16000), Float64Array.of(1, 2, 3));
});

test('logMel converts the rate of its samples', () => {
  const at = (rate) => logMel(tone(440, rate, rate), { rate, seconds: 1 }).data;
  const [same, other] = [at(16000), at(44100)];
  const loudest = (data) => Array.from({ length: 80 }, (_, bin) => data[bin * 100 + 50]).indexOf(Math.max(...data));
  assert.equal(loudest(other), loudest(same));
});

test('wrong arguments are named', () => {
  const refused = (act, parameter) => assert.throws(act, { parameter, code: 'ARGUMENT' });
  refused(() => logMel('a'), 'samples');
  refused(() => logMel([], { rate: 0 }), 'rate');
  refused(() => logMel([], { bins: 0.5 }), 'bins');
  refused(() => logMel([], { second: 1 }), 'second');
  refused(() => resample([], 16000, Number.NaN), 'to');
  refused(() => resample(null, 16000, 8000), 'samples');
  refused(() => resample('abc', 16000, 8000), 'samples');
});
