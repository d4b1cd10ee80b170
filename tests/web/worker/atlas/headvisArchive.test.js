// Tests the archive of a scanned map, which is read again as a HeadVis folder.

import assert from 'node:assert/strict';
import test from 'node:test';
import { readHeadvis } from 'headlight-attention/analysis';
import { readZip, unpack } from '../../../../src/js/io/zip.ts';
import { headvisArchive } from '../../../../web/worker/atlas/headvisArchive.ts';

const NAMES = ['the', ' whale', ' sea'];
const recordOf = (layer, head) => ({
  samples: [
    { sequence: 0, interval: 1, max: 0.5, ids: Int32Array.of(0, 1), indices: [3], values: [0.5] },
    { sequence: 1, interval: 3, max: 0.75, ids: Int32Array.of(head, layer, 2), indices: [0, 8], values: [0.25, 0.75] },
  ],
  histogram: { edges: [0, 0.5, 1], values: [1, 1] },
  statistics: { samples: 2, meanMax: 0.625 },
  distances: { edges: [0, 1, 2], values: [0.5, 0.25] },
  queryTokens: [{ id: 1, text: ' whale', count: 2, mean: 0.5 }],
  keyTokens: [{ id: 0, text: 'the', count: 1, mean: 0.5 }],
});
const numbers = (first) => Float32Array.from({ length: 6 }, (_, i) => first + i / 10);
const NAMED = {
  roles: [
    ['first', null, null],
    [null, 'induction', null],
  ],
  weights: [
    [0.9, null, null],
    [null, 0.75, null],
  ],
};
const scanned = (read) => ({
  map: {
    layers: 2,
    heads: 3,
    passages: 2,
    longest: 3,
    title: 'texts',
    means: { previous: numbers(0.1), first: numbers(0.2) },
    chances: { previous: numbers(0.3), first: numbers(0.4) },
    measures: Object.fromEntries(
      ['selfAttention', 'previous', 'entropy', 'distance', 'distanceVariance', 'induction', 'first', 'duplicate'].map(
        (name, i) => [name, numbers(i)],
      ),
    ),
  },
  nameOf: (id) => NAMES[id],
  read,
});

test('every head is in the archive, with its words and measures', async () => {
  const bytes = await headvisArchive(
    scanned(async (layer, head) => recordOf(layer, head)),
    'a model',
    NAMED,
  );
  const files = {};
  for (const entry of readZip('test', bytes)) files[entry.name.replace('data/', '')] = await unpack('test', entry);
  const read = await readHeadvis(files);
  assert.equal(read.heads.length, 6);
  // The names are those of the page, although the measures of the scan show others.
  assert.deepEqual([read.roles.names, read.roles.weights], [NAMED.roles, NAMED.weights]);
  assert.ok(Math.abs(read.roles.mean.previous.data[5] - 0.6) < 1e-4);
  const { sequences } = await read.head(1, 2);
  assert.deepEqual(
    sequences.map(({ interval, max, tokens }) => [interval, max, tokens.join('')]),
    [
      [1, 0.5, 'the whale'],
      [3, 0.75, ' sea whale sea'],
    ],
  );
});

test('without the page of a head there is no archive', async () => {
  const read = async (layer, head) => (head === 2 ? null : recordOf(layer, head));
  await assert.rejects(headvisArchive(scanned(read), 'a model', NAMED), /no longer stored: scan again/);
});
