// Continues a text with the model's first guess, token by token. A guess that repeats a phrase is left out.

import { runOf } from '../../store/runInput.js';
import { readRun } from '../run/modelInput.js';
import { repeating } from '../run/repetition.js';
import { transformerOf } from '../sources/sources.js';

/** @import { Edit } from '../../../src/js/models/edits.js' */
/** @import { TransformerSource } from '../sources/types.js' */
/** @import { Handler, Reply } from '../types.js' */

/** @type {Handler<'generate'>} */
export const generate = {
  answersEvery: true,
  async answer({ state, max }, reply, worker) {
    const source = transformerOf(await worker.sourceOf(state, reply));
    const hl = await worker.core();
    const { ids } = readRun(source, state);
    const { layer, pinned } = state;
    const edit = worker.runs.edits(hl, source, runOf(state), { layer, pinned, T: ids.length });
    await continueText(source, ids, { edit, max }, reply);
  },
};

/**
 * @param {TransformerSource} source
 * @param {number[]} ids
 * @param {{ edit: Edit[], max: number }} how max: tokens
 * @param {Reply} reply
 */
async function continueText({ model, tokenizer, about }, ids, { edit, max }, reply) {
  const room = Math.min(max, about.context - ids.length);
  let text = '';
  const all = [...ids];
  // One token a call, so that a cancelled request ends between two tokens.
  for (let i = 0; i < room && !(await reply.checkCancelled()); i++) {
    const suppress = [...(model.generation.suppress ?? []), ...(about.words ? repeating(all.slice(ids.length)) : [])];
    const { ids: next } = await model.generate(all, { max: 1, temperature: 0, suppress, edit });
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
