import { TextDecoder, TextEncoder } from 'node:util';
import { readNpy, writeNpy } from 'headlight-attention/formats';
import { load } from 'headlight-attention/inline';
import { computed } from './computed.js';

// jsdom does not define these two classes.
Object.assign(globalThis, { TextDecoder, TextEncoder });

test('computes', async () => {
  expect(document.body.textContent).toBe('');
  const { threads, note, ...said } = await computed({ load, readNpy, writeNpy });
  expect(said).toEqual({ shape: [1, 200, 128], rows: true, formats: true, same: true });
  expect([threads, note]).toEqual([1, expect.stringContaining('headlight-attention/inline')]);
});
