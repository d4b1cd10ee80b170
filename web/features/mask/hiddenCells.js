// Cells that are hidden by hand, as a text that is short and stays as it is when the sentence grows: rows with their
// keys, '16.4.6-9_17.3' hides of row 16 the keys 4 and 6 to 9, and of row 17 the key 3.

/** What a page can hold; a link holds less. */
export const MOST_PAINTED = 200_000;
const MOST_LINKED = 1500;

/** @param {unknown} text */
export const isPainted = (text) =>
  typeof text === 'string' &&
  text.length <= MOST_PAINTED &&
  /^$|^\d{1,4}(\.\d{1,4}(-\d{1,4})?)+(_\d{1,4}(\.\d{1,4}(-\d{1,4})?)+)*$/.test(text);

/** Every run of hidden cells. @param {string} text @param {(t: number, from: number, to: number) => void} each */
export function eachRun(text, each) {
  for (const row of text.split('_')) {
    const [t, ...runs] = row.split('.');
    for (const run of runs) {
      const [from, to = from] = run.split('-').map(Number);
      each(Number(t), from, to);
    }
  }
}

/**
 * 1 where a key may be seen: as the mask says, without what is painted.
 * @param {string} text
 * @param {string} mask 'causal' (as ever), 'none', 'past', or the number of keys of a window
 * @param {number} tokens
 * @param {boolean} causal
 * @param {number} [keys]
 */
export function visible(text, mask, tokens, causal, keys = tokens) {
  const data = new Float32Array(tokens * keys);
  const back = /^\d/.test(mask) ? Number(mask) : keys;
  const ahead = mask === 'none' || (!causal && mask === 'causal') ? keys : causal || mask === 'past' ? 0 : back;
  const to = (/** @type {number} */ t) => t * keys;
  for (let t = 0; t < tokens; t++)
    data.fill(1, to(t) + Math.min(Math.max(t - back, 0), keys), to(t) + Math.min(t + ahead + 1, keys));
  eachRun(text, (t, from, last) => {
    if (t < tokens && from < keys) data.fill(0, to(t) + from, to(t) + Math.min(last + 1, keys));
  });
  return { data, shape: [tokens, keys] };
}

/** Whether a link holds what is painted. @param {Record<string, string>} map */
export const isLinked = (map) => Object.values(map).join().length <= MOST_LINKED;
