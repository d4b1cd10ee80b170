// The model goes on with a text, token by token.

/**
 * @param {object} given
 * @param {import('./sources/sources.js').Source} given.source
 * @param {number[]} given.ids
 * @param {object[]} given.edit
 * @param {number} given.max tokens
 * @param {number} given.seed
 * @param {(part: string, fields: object) => void} given.say
 * @param {() => Promise<boolean>} given.stale
 */
export async function writeOn({ source: { model, tokenizer, about }, ids, edit, max, seed, say, stale }) {
  const stop = new AbortController();
  const room = Math.min(max, about.context - ids.length);
  let text = '';
  const all = [...ids];
  // One token a call: a cancelled question ends between two of them.
  for (let i = 0; i < room && !(await stale()); i++) {
    const { ids: added } = await model.generate(all, {
      max: 1,
      temperature: 0.7,
      topK: 20,
      seed: seed + i,
      edit,
      signal: stop.signal,
    });
    if (added.length === 0) break;
    all.push(...added);
    const whole = tokenizer.decode(all.slice(ids.length));
    // Half a character is held back until its other half has come.
    if (!whole.endsWith('\ufffd') && whole !== text) {
      say('written', { text: whole });
      text = whole;
    }
  }
}
