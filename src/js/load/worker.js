// The program of a thread in a browser, which runs the same module on the same memory, with a stack of its own.

/** @import { CoreExports } from '../../../dist/abi/abi.js' */
/** @import { Post } from './threads.js' */

globalThis.onmessage = async (/** @type {MessageEvent<Post>} */ { data: { module, memory, stack, number } }) => {
  // Only the calling thread waits for the others, so watch() does nothing here.
  const instance = await WebAssembly.instantiate(module, { env: { memory }, host: { watch() {} } });
  const core = /** @type {CoreExports} */ (/** @type {unknown} */ (instance.exports));
  core.__stack_pointer.value = stack;
  globalThis.postMessage('ready');
  core.hl_pool_work(number);
  globalThis.postMessage('ended');
  globalThis.close();
};
