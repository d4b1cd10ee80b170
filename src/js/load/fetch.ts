// Fetches binaries over the network.

import { HeadlightError } from '../check/errors.ts';

const ADVICE = 'Serve the .wasm file next to the module, pass { wasm: url }, or import headlight-attention/inline';

/** Reports a missing global fetch, for example in the jsdom environment of Jest, which hides the fetch of Node. */
function noFetch(url: URL) {
  const advice =
    'Import headlight-attention/inline, which does not need fetch; or pass the bytes as { wasm }; ' +
    'or use the node environment of Jest';
  return new HeadlightError('LOAD', `load: cannot read ${url.href}, because there is no global fetch. ${advice}`, {
    parameter: 'wasm',
    expected: 'a global fetch',
  });
}

export async function fetchBytes(url: URL) {
  if (typeof globalThis.fetch !== 'function') throw noFetch(url);
  let response: Response;
  try {
    response = await fetch(url);
  } catch (cause) {
    throw new HeadlightError('LOAD', `load: cannot fetch ${url.href}: ${(cause as Error).message}. ${ADVICE}`, {
      parameter: 'wasm',
      cause,
    });
  }
  const type = response.headers.get('content-type') ?? 'none';
  if (!response.ok || type.startsWith('text/html')) {
    throw new HeadlightError(
      'LOAD',
      `load: ${url.href} gave status ${response.status} and type ${type}, expected 200 and application/wasm. ${ADVICE}`,
      {
        parameter: 'wasm',
        expected: '200 application/wasm',
        got: `${response.status} ${type}`,
      },
    );
  }
  return new Uint8Array(await response.arrayBuffer());
}
