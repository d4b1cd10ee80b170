import assert from 'node:assert/strict';
import test from 'node:test';
import { inkPixel } from '../../../../web/features/heatmap/paint.js';

test('a pixel of ink has its colour and is opaque', () => {
  const bytes = [...new Uint8Array(Uint32Array.of(inkPixel({ ink: '#1020f0' })).buffer)];
  assert.deepEqual(bytes, [0x10, 0x20, 0xf0, 255]);
});
