import assert from 'node:assert/strict';
import test from 'node:test';
import { fuzzCheckpoints } from '../../fuzz/checkpoints.js';

const SEED = 5;

test(`checkpoints, right, damaged or stopped, open or are refused, and lose no memory (seed ${SEED})`, async () => {
  const { opened, refused, stopped } = await fuzzCheckpoints(250, SEED);
  assert.equal(opened + refused + stopped, 250);
  assert.ok(opened > 50 && refused > 50 && stopped > 5, `${opened}, ${refused}, ${stopped}`);
});
