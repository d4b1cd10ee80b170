// Runs wllama, which is llama.cpp as WebAssembly in a worker. It reports the time of the prompt and of the tokens
// itself, without the time of messages to the worker and of sampling.

import { Wllama } from '@wllama/wllama';

const quiet = () => {};
const LOGGER = { debug: quiet, log: quiet, warn: quiet, error: console.error };
/** Number of most probable tokens whose probabilities are compared. */
const TOP = 20;

/**
 * @param {Blob} file a GGUF file
 * @param {{ threads: number, options: { context: number }, words: string[] }} given words: each is one token
 */
export async function open(file, { threads, options, words }) {
  const wllama = new Wllama({ default: new URL('wllama.wasm', location.href).href }, { logger: LOGGER });
  await wllama.loadModel([file], { n_ctx: options.context, n_threads: threads, n_gpu_layers: 0, n_parallel: 1 });
  const complete = (length, more) =>
    wllama.createCompletion({
      prompt: words.slice(0, length).join(''),
      temperature: 0,
      top_k: 1,
      ignore_eos: true,
      ...more,
    });
  return {
    name: `wllama ${Wllama.getLibllamaVersion()}`,
    /** Returns a turn that computes a prompt without using the cache. */
    prefill: (length) => async () => {
      const { timings } = await complete(length, { max_tokens: 1, cache_prompt: false });
      if (timings.prompt_n !== length) throw new Error(`wllama read ${timings.prompt_n} of ${length} tokens`);
      return timings.prompt_ms;
    },
    /**
     * Returns a turn that generates tokens after a prompt in the cache. One token more is requested, because the first
     * one is the result of the prompt.
     */
    token: (past) => async (times) => {
      const { timings } = await complete(past, { max_tokens: times + 1, cache_prompt: true });
      if (timings.predicted_n !== times + 1) throw new Error(`wllama gave ${timings.predicted_n} tokens`);
      return timings.predicted_ms / times;
    },
    /**
     * Returns the most probable tokens after a prompt as { id, logprob }. If `cached` is true, the beginning of the
     * prompt may come from the cache.
     */
    async likeliest(length, cached) {
      const more = { max_tokens: 1, n_probs: TOP, logprobs: TOP, cache_prompt: cached };
      const { choices } = await complete(length, more);
      return choices[0].logprobs.content[0].top_logprobs;
    },
    close: () => wllama.exit(),
  };
}
