// The passages of a scan as token ids.

/** @import { TransformerSource } from '../sources/types.js' */
/** @import { Reply, WorkerContext } from '../types.js' */
/** truncated: the number of truncated passages. @typedef {{ ids: Int32Array[], truncated: number }} Passages */

/** The file with the passages of the demo model, which src/build/demo/passages.js writes. */
const FILE = 'whale.passages.txt';
/** The number of passages that are tokenized before the worker reads newer messages. */
const AT_ONCE = 32;
/** Maximum tokens of the passage whose run is timed. */
const TIMED = 128;

/** @param {Pick<WorkerContext, 'fetchFile'>} worker */
export async function readDemoPassages({ fetchFile }) {
  const bytes = await fetchFile(FILE, () => {});
  return new TextDecoder().decode(bytes).split('\n').filter(Boolean);
}

/**
 * @param {TransformerSource} source
 * @param {readonly string[]} texts
 * @param {number} length maximum tokens of a passage
 * @param {Pick<Reply, 'checkCancelled'>} reply
 * @returns {Promise<Passages>}
 */
export async function encodePassages({ tokenizer, about, model }, texts, length, reply) {
  const most = Math.min(length, about.context);
  const { vocab } = model.options;
  let truncated = 0;
  /** @type {Int32Array[]} */
  const ids = [];
  for (const [n, text] of texts.entries()) {
    if (n % AT_ONCE === 0 && (await reply.checkCancelled())) break;
    const all = tokenizer.encode(text).ids.filter((id) => id < vocab);
    if (all.length > most) truncated++;
    ids.push(Int32Array.from(all.slice(0, most)));
  }
  return { ids, truncated };
}

/**
 * Measures the time of a run that captures the attention weights of all heads for one passage. Returns null if the
 * model's tokenizer reads no token of the passages.
 * @param {TransformerSource} source
 * @param {readonly string[]} texts
 */
export async function timeOfPassage(source, texts) {
  const { ids } = await encodePassages(source, texts.slice(0, 1), TIMED, { checkCancelled: async () => false });
  if (ids[0].length < 2) return null;
  const run = () => source.model.forward([Array.from(ids[0])], { capture: ['blocks.*.weights'], last: true }).dispose();
  const begun = performance.now();
  run();
  const first = performance.now() - begun;
  // The first run of a small model is slower than later ones, so a second run is timed.
  const again = performance.now();
  if (first < 300) run();
  const milliseconds = first < 300 ? performance.now() - again : first;
  return { milliseconds, tokens: ids[0].length, passages: texts.length };
}
