import assert from 'node:assert/strict';
import test from 'node:test';
import { fuzzCheckpoints } from '../../fuzz/checkpoints.js';

const SEED = 5;

test(`valid, damaged and interrupted checkpoints open or are refused, without a leak (seed ${SEED})`, async () => {
  const { opened, refused, stopped } = await fuzzCheckpoints(250, SEED);
  assert.equal(opened + refused + stopped, 250);
  assert.ok(opened > 50 && refused > 50 && stopped > 5, `${opened}, ${refused}, ${stopped}`);
});
