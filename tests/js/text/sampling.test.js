import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { uniformSource } from '../../../src/js/ops/random.ts';
import { sample } from '../../../src/js/text/sampling.ts';
import { refuses } from '../../support/refuses.js';
import { inTier } from '../../support/tier.js';

const SEED = 77;
const logits = Float32Array.of(1, 3, -2, 3, 0.5, -Infinity);

function softmax(values, temperature = 1) {
  const exps = Array.from(values, (value) => Math.exp(value / temperature));
  const total = exps.reduce((a, b) => a + b);
  return exps.map((value) => value / total);
}

/** Returns how often each token is chosen, as a share of `count` samples. */
function shares(values, options, count = 20000) {
  const random = uniformSource(SEED);
  const counts = new Array(values.length).fill(0);
  for (let i = 0; i < count; i++) counts[sample(values, { ...options, random }).id]++;
  return counts.map((n) => n / count);
}

/** Returns the expected shares if only a set of tokens may be chosen. */
function expected(values, temperature, allowed) {
  return softmax(
    Array.from(values, (value, i) => (allowed.includes(i) ? value : -Infinity)),
    temperature,
  );
}

const near = (actual, wanted) =>
  actual.forEach((share, i) => assert.ok(Math.abs(share - wanted[i]) < 0.015, `${i}: ${actual}`));

test('without a temperature the largest logit is chosen, the first of equal ones', () => {
  assert.equal(sample(logits).id, 1);
  assert.equal(sample(logits, { temperature: 0, topK: 3 }).id, 1);
});

test('the probability is computed from the unchanged logits, for any choice', () => {
  const random = uniformSource(SEED);
  for (let i = 0; i < 50; i++) {
    const { id, logProb } = sample(logits, { temperature: 3, topK: 5, random });
    assert.ok(Math.abs(logProb - Math.log(softmax(logits)[id])) < 1e-6);
  }
  const large = Float32Array.of(1e30, 1e30);
  assert.ok(Math.abs(sample(large).logProb - Math.log(0.5)) < 1e-12);
});

test(`tokens are chosen in proportion to their probabilities (seed ${SEED})`, () => {
  near(shares(logits, { temperature: 1 }), softmax(logits));
  near(shares(logits, { temperature: 2.5 }), softmax(logits, 2.5));
  near(shares(logits, { temperature: 1.5, topK: 3 }), expected(logits, 1.5, [0, 1, 3]));
  near(shares(logits, { temperature: 1, topK: 1 }), expected(logits, 1, [1]));
  // The two most probable tokens have a total probability of 0.77, the three most probable ones 0.87.
  near(shares(logits, { temperature: 2, topP: 0.3 }), expected(logits, 2, [1]));
  near(shares(logits, { temperature: 2, topP: 0.7 }), expected(logits, 2, [1, 3]));
  near(shares(logits, { temperature: 2, topP: 0.8 }), expected(logits, 2, [0, 1, 3]));
  near(shares(logits, { temperature: 2, topP: 0 }), expected(logits, 2, [1]));
  // topP applies to the tokens that remain after topK. The two most probable ones of these three have 0.84.
  near(shares(logits, { temperature: 2, topK: 3, topP: 0.83 }), expected(logits, 2, [1, 3]));
});

test(`the tokens that remain are the same as by sorting (seed ${SEED})`, () => {
  const value = fc.integer({ min: -4, max: 4 });
  fc.assert(
    fc.property(
      fc.array(value, { minLength: 1, maxLength: 40 }),
      fc.nat(45),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (values, k, share) => {
        const all = Float32Array.from(values);
        const order = values.map((_, i) => i).sort((a, b) => values[b] - values[a] || a - b);
        const kept = order.slice(0, k + 1);
        const weights = softmax(kept.map((i) => values[i]));
        let rest = share;
        const wanted = kept.find((_, i) => (rest -= weights[i]) < -1e-9) ?? kept.at(-1);
        const near = Math.abs(rest) < 1e-6;
        const { id } = sample(all, { temperature: 1, topK: k + 1, random: () => share * (1 - 1e-12) });
        // If topK removes no token, tokens are drawn in the order of the ids, so the result differs.
        if (k + 1 < values.length && !near) assert.equal(id, wanted);
      },
    ),
    { seed: SEED, numRuns: inTier(2000, 400) },
  );
});

test('an excluded token is never chosen, even for the largest random number', () => {
  assert.equal(sample(Float32Array.of(0, -Infinity), { temperature: 1, random: () => 1 - 2 ** -24 }).id, 0);
  assert.equal(sample(Float32Array.of(-Infinity, 0), { temperature: 1, random: () => 0 }).id, 1);
});

test('the same seed gives the same tokens, in a vocabulary of any size', () => {
  const random = uniformSource(5);
  const many = Float32Array.from({ length: 50_000 }, () => 8 * random());
  const run = () => {
    const source = uniformSource(9);
    return Array.from({ length: 5 }, () => sample(many, { temperature: 0.8, topK: 50, topP: 0.9, random: source }).id);
  };
  assert.deepEqual(run(), run());
  const largest = [...many.keys()].sort((a, b) => many[b] - many[a]).slice(0, 50);
  for (const id of run()) assert.ok(largest.includes(id));
});

test('wrong options and logits are refused by name', () => {
  const isRefused = (values, options, parameter, got) =>
    refuses(() => sample(values, options), 'ARGUMENT', parameter, { got });
  isRefused(logits, { temperature: -1 }, 'temperature', -1);
  isRefused(logits, { temperature: 1 }, 'random', undefined);
  isRefused(logits, { topK: 0 }, 'topK', 0);
  isRefused(logits, { topP: 1.1 }, 'topP', 1.1);
  refuses(() => sample(logits, { top_k: 1 }), 'ARGUMENT', 'top_k');
  isRefused(Float32Array.of(1, NaN), {}, 'logits', NaN);
  isRefused(Float32Array.of(Infinity), {}, 'logits', Infinity);
  for (const none of [Float32Array.of(-Infinity), new Float32Array(0)])
    refuses(() => sample(none, {}), 'ARGUMENT', 'logits');
});
