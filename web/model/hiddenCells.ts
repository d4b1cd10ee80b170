// Cells that are masked by hand, written as a short text that remains valid when the sentence grows. The text lists
// rows with their masked keys: '16.4.6-9_17.3' masks the keys 4 and 6 to 9 for query 16, and key 3 for query 17.

/** Maximum length of a text that the page accepts, and of a text that is written into a link. */
export const MAX_PAINTED = 200_000;
const MAX_LINKED = 1500;

export const isPainted = (text: unknown) =>
  typeof text === 'string' &&
  text.length <= MAX_PAINTED &&
  /^$|^\d{1,4}(\.\d{1,4}(-\d{1,4})?)+(_\d{1,4}(\.\d{1,4}(-\d{1,4})?)+)*$/.test(text);

/** Calls `each` for every group of neighbouring masked cells in a row, with the query t and the keys from…to. */
export function eachRun(text: string, each: (t: number, from: number, to: number) => void) {
  for (const row of text.split('_')) {
    const [t, ...runs] = row.split('.');
    for (const run of runs) {
      const [from, to = from] = run.split('-').map(Number);
      each(Number(t), from, to);
    }
  }
}

export function countOf(text: string) {
  let count = 0;
  if (text) eachRun(text, (_, from, to) => (count += to - from + 1));
  return count;
}

/**
 * Returns a mask (tokens, keys), 1 if visible, with the cells masked by hand. `mask`: 'causal' (the model's own),
 * 'none', 'past', or the number of keys of a window.
 */
export function visible(text: string, mask: string, tokens: number, causal: boolean, keys: number = tokens) {
  const data = new Float32Array(tokens * keys);
  const back = /^\d/.test(mask) ? Number(mask) : keys;
  const ahead = mask === 'none' || (!causal && mask === 'causal') ? keys : causal || mask === 'past' ? 0 : back;
  const to = (t: number) => t * keys;
  for (let t = 0; t < tokens; t++)
    data.fill(1, to(t) + Math.min(Math.max(t - back, 0), keys), to(t) + Math.min(t + ahead + 1, keys));
  eachRun(text, (t, from, last) => {
    if (t < tokens && from < keys) data.fill(0, to(t) + from, to(t) + Math.min(last + 1, keys));
  });
  return { data, shape: [tokens, keys] };
}

/** Returns true if the masked cells fit into a link. */
export const isLinked = (map: Record<string, string>) => Object.values(map).join().length <= MAX_LINKED;
