import assert from 'node:assert/strict';
import test from 'node:test';
import { inkPixel } from '../../../web/drawing/paintWeights.ts';

test('the pixel of a colour is opaque and has its bytes in order', () => {
  const bytes = [...new Uint8Array(Uint32Array.of(inkPixel({ ink: '#1020f0' })).buffer)];
  assert.deepEqual(bytes, [0x10, 0x20, 0xf0, 255]);
});
