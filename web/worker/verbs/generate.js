// Continues a text, token by token.

import { runOf } from '../../store/runInput.js';
import { readRun } from '../run/modelInput.js';
import { transformerOf } from '../sources/sources.js';

/** @import { Edit } from '../../../src/js/models/edits.js' */
/** @import { TransformerSource } from '../sources/types.js' */
/** @import { Handler, Reply } from '../worker.js' */

/** @type {Handler<'generate'>} */
export const generate = {
  answersEvery: true,
  async answer({ state, max, seed }, reply, worker) {
    const source = transformerOf(await worker.sourceOf(state, reply));
    const hl = await worker.core();
    const { ids } = readRun(source, state);
    const { layer, pinned } = state;
    const edit = worker.runs.edits(hl, source, runOf(state), { layer, pinned, T: ids.length });
    await continueText(source, ids, { edit, max, seed }, reply);
  },
};

/**
 * @param {TransformerSource} source
 * @param {number[]} ids
 * @param {{ edit: Edit[], max: number, seed: number }} how max: tokens
 * @param {Reply} reply
 */
async function continueText({ model, tokenizer, about }, ids, { edit, max, seed }, reply) {
  const room = Math.min(max, about.context - ids.length);
  let text = '';
  const all = [...ids];
  // One token a call, so that a cancelled request ends between two tokens.
  for (let i = 0; i < room && !(await reply.checkCancelled()); i++) {
    const { ids: next } = await model.generate(all, { max: 1, temperature: 0.7, topK: 20, seed: seed + i, edit });
    if (next.length === 0) break;
    all.push(...next);
    const whole = tokenizer.decode(all.slice(ids.length));
    // The first half of a character is not sent before its second half.
    if (!whole.endsWith('\ufffd') && whole !== text) {
      reply.send('generated', { text: whole });
      text = whole;
    }
  }
}
