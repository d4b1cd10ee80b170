// Tests the colours of weights on each colour scale.

import assert from 'node:assert/strict';
import test from 'node:test';
import { marksOf, RAMP, stretched } from '../../../web/drawing/colourRamp.ts';
import { change, initialState, SCALES } from '../../../web/model/state.ts';
import { readAddress, writeAddress } from '../../../web/store/address.ts';

const { light } = RAMP;

test('small weights are pale on the scale 0 to 1, and have every colour on the scale of their head', () => {
  const most = 1 / 512;
  const seen = (how) => new Set([0, 0.25, 0.5, 1].map((share) => stretched(light, how, most).css(share * most))).size;
  const paleness = (colour) => Number(colour.match(/\d+/)[0]);
  assert.ok(paleness(light.css(0)) - paleness(stretched(light, 'fixed', most).css(most)) < 8);
  assert.equal(seen('head'), 4);
  assert.equal(stretched(light, 'head', most).css(most), light.css(1));
});

test('on the logarithmic scale each decade is a quarter of the ramp; smaller weights are palest', () => {
  const log = stretched(light, 'log', 1);
  assert.equal(log.css(1), light.css(1));
  assert.equal(log.css(1e-4), light.css(0));
  assert.equal(log.css(0), light.css(0));
  assert.notEqual(log.css(0.001), log.css(0.002));
  assert.deepEqual(
    marksOf('log', 1).map(({ place }) => Number(place.toFixed(6))),
    [0, 0.5, 0.75, 1],
  );
});

test('marks of the legend match the colours', () => {
  for (const how of SCALES)
    for (const { text, place } of marksOf(how, 0.32)) {
      const colour = stretched(light, how, 0.32).css(Number(text));
      const expected = light.css(place ** (1 / 0.68));
      const apart = colour.match(/\d+/g).map((x, i) => Math.abs(Number(x) - Number(expected.match(/\d+/g)[i])));
      assert.ok(Math.max(...apart) <= 12, `${how} ${text}`);
    }
});

test('the scale is in the address, and only the three scales are accepted', () => {
  const state = change(initialState, { colours: 'log' });
  assert.equal(readAddress(writeAddress(state)).colours, 'log');
  assert.equal(readAddress('colours=loud').colours, 'fixed');
});
