// The passages of a scan as token ids.

import type { TransformerSource } from '../sources/types.ts';
import type { Reply, WorkerContext } from '../types.ts';
export type Passages = { ids: Int32Array[]; truncated: number };

/** The file with the passages of the demo model, which src/build/demo/passages.ts writes. */
const FILE = 'whale.passages.txt';
/** The number of passages that are tokenized before the worker reads newer messages. */
const AT_ONCE = 32;
/** Maximum tokens of the passage whose run is timed. */
const TIMED = 128;

export async function readDemoPassages({ fetchFile }: Pick<WorkerContext, 'fetchFile'>) {
  const bytes = await fetchFile(FILE, () => {});
  return new TextDecoder().decode(bytes).split('\n').filter(Boolean);
}

/** `length`: maximum tokens of a passage. */
export async function encodePassages(
  { tokenizer, about, model }: TransformerSource,
  texts: readonly string[],
  length: number,
  reply: Pick<Reply, 'checkCancelled'>,
): Promise<Passages> {
  const most = Math.min(length, about.context);
  const { vocab } = model.options;
  let truncated = 0;
  const ids: Int32Array[] = [];
  for (const [n, text] of texts.entries()) {
    if (n % AT_ONCE === 0 && (await reply.checkCancelled())) break;
    const all = tokenizer.encode(text).ids.filter((id) => id < vocab);
    if (all.length > most) truncated++;
    ids.push(Int32Array.from(all.slice(0, most)));
  }
  return { ids, truncated };
}

/** Measures the time of a run that captures all attention weights of a passage; null if no token can be read. */
export async function timeOfPassage(source: TransformerSource, texts: readonly string[]) {
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
