import assert from 'node:assert/strict';
import test from 'node:test';
import { trigram } from '../../../src/build/demo/trigram.ts';
import { uniformSource } from '../../../src/js/ops/random.ts';

const V = 7;
const SEED = 2;

/** Returns chapters in which most tokens are determined by the two preceding tokens. */
function chapters(count, noise) {
  const random = uniformSource(SEED);
  return Array.from({ length: count }, () => {
    const tokens = [0, 1];
    while (tokens.length < 200) {
      const rule = (3 * tokens.at(-1) + tokens.at(-2) + 1) % V;
      tokens.push(random() < noise ? Math.floor(random() * V) : rule);
    }
    return tokens;
  });
}

test(`the probabilities after any two tokens sum to 1 (seed ${SEED})`, () => {
  const { probability } = trigram(chapters(10, 0.3), V);
  for (let u = 0; u < V; u++)
    for (let v = 0; v < V; v++) {
      const sum = Array.from({ length: V }, (_, w) => probability([u, v, w])).reduce((a, b) => a + b);
      assert.ok(Math.abs(sum - 1) < 1e-12);
    }
});

test(`tokens that two others determine are learned, random ones are not (seed ${SEED})`, () => {
  const noise = 0.2;
  const likely = 1 - noise + noise / V;
  const entropy = -likely * Math.log(likely) - (1 - likely) * Math.log((1 - likely) / (V - 1));
  const all = chapters(60, noise);
  const { loss, tokens } = trigram(all.slice(0, 40), V).judge(all.slice(40));
  assert.equal(tokens, 20 * 199);
  assert.ok(loss > entropy - 0.05 && loss < entropy + 0.05, `${loss}, the source has ${entropy}`);
  const random = chapters(60, 1);
  const { loss: most } = trigram(random.slice(0, 40), V).judge(random.slice(40));
  assert.ok(most > Math.log(V) - 0.02 && most < Math.log(V) + 0.02, `${most}, ${Math.log(V)}`);
});
