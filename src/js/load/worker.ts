// The program of a thread in a browser, which runs the same module on the same memory, with a stack of its own.

import type { CoreExports } from '../../../dist/abi/abi.js';
import type { Post } from './threads.ts';

globalThis.onmessage = async ({ data: { module, memory, stack, number } }: MessageEvent<Post>) => {
  // Only the calling thread waits for the others, so watch() does nothing here.
  const instance = await WebAssembly.instantiate(module, { env: { memory }, host: { watch() {} } });
  const core = instance.exports as unknown as CoreExports;
  core.__stack_pointer.value = stack;
  globalThis.postMessage('ready');
  core.hl_pool_work(number);
  globalThis.postMessage('ended');
  globalThis.close();
};
