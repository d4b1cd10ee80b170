import { HeadlightError } from '../check/errors.js';

/** @param {URL} url */
export async function fetchBytes(url) {
  const advice = 'Serve the .wasm file beside the module, pass { wasm: url }, or import headlight/inline';
  /** @type {Response} */
  let response;
  try {
    response = await fetch(url);
  } catch (cause) {
    throw new HeadlightError(
      'LOAD',
      `load: cannot fetch ${url.href}: ${/** @type {Error} */ (cause).message}. ${advice}`,
      { parameter: 'wasm', cause },
    );
  }
  const type = response.headers.get('content-type') ?? 'none';
  if (!response.ok || type.startsWith('text/html')) {
    throw new HeadlightError(
      'LOAD',
      `load: ${url.href} gave status ${response.status} and type ${type}, expected 200 and application/wasm. ${advice}`,
      {
        parameter: 'wasm',
        expected: '200 application/wasm',
        got: `${response.status} ${type}`,
      },
    );
  }
  return new Uint8Array(await response.arrayBuffer());
}
