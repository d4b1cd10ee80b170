import { expect, test } from 'vitest';
import { compute } from './compute.js';

test('computes', async () => {
  expect(await compute()).toEqual({
    shape: [1, 200, 128],
    rows: true,
    formats: true,
    same: true,
    threads: 2,
    note: '',
  });
});
