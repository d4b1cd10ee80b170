// Continues a text with the model's likeliest token, one token after another. In an encoder–decoder it continues the
// text of the decoder. A token that would repeat a phrase is skipped. A model of speech transcribes the sound.

import type { Edit } from '../../../src/js/models/edits.ts';
import type { ModelInput, PlainInput } from '../../../src/js/models/input.ts';
import { runOf } from '../../model/runInput.ts';
import { readRun } from '../run/modelInput.ts';
import { repeating } from '../run/repetition.ts';
import { transformerOf } from '../sources/sources.ts';
import type { TransformerSource } from '../sources/types.ts';
import type { Handler, Reply } from '../types.ts';

export const generate: Handler<'generate'> = {
  answersEvery: true,
  async answer({ state, max }, reply, worker) {
    const source = transformerOf(await worker.sourceOf(state, reply));
    const hl = await worker.core();
    const { ids, input } = readRun(source, state, 'decoder');
    const { layer, pinned, second = '' } = state;
    const edit = worker.runs.edits(hl, source, runOf(state), { layer, pinned, T: ids.length });
    if (source.sound) {
      const { transcribe } = await import('../sound/speech.ts');
      const read = (text: string) => readRun(source, { ...runOf(state), second: text });
      return transcribe(hl, source, second, read, edit, reply);
    }
    await continueText(source, { ids, encoder: encoderOf(input) }, { edit, max }, reply);
  },
};

const encoderOf = (input: ModelInput): PlainInput | undefined =>
  typeof input === 'object' && 'encoder' in input ? (input.encoder as PlainInput) : undefined;

/** `max`: maximum number of tokens. */
async function continueText(
  { model, tokenizer, about }: TransformerSource,
  { ids, encoder }: { ids: number[]; encoder?: PlainInput },
  { edit, max }: { edit: Edit[]; max: number },
  reply: Reply,
) {
  const room = Math.min(max, about.context - ids.length);
  const { suppress: never = [], suppressFirst = [], forced = [], forcedEnd = [], min = 0 } = model.generation;
  /** The index of the first token that the model's files do not choose. */
  const begin = Math.max(ids.length, ...forced.map(([index]) => index + 1));
  let text = '';
  // The space before a token depends on the tokens before it, so all new tokens are decoded together.
  const from = encoder ? 1 : ids.length;
  const all = [...ids];
  // Each call generates one token, so that a cancelled request ends between two tokens.
  for (let i = 0; i < room && !(await reply.checkCancelled()); i++) {
    const suppress = [...never, ...(about.words ? repeating(all.slice(ids.length)) : [])];
    const { ids: next } = await model.generate(encoder ? { encoder, ids: all } : all, {
      max: 1,
      temperature: 0,
      suppress,
      // The model's settings for the first and for the last token are for the whole text, not for each call.
      suppressFirst: all.length === begin ? suppressFirst : [],
      forcedEnd: i === room - 1 ? forcedEnd : [],
      min: i < min ? 1 : 0,
      edit,
    });
    if (next.length === 0) break;
    for (const id of next) all.push(id);
    const whole = tokenizer.decode(all.slice(from), { skipSpecial: encoder !== undefined });
    // If the last token ends in the middle of a character, nothing is sent until the next token completes it.
    if (!whole.endsWith('\ufffd') && whole !== text) {
      reply.send('generated', { text: whole, isAnswer: encoder !== undefined });
      text = whole;
    }
  }
}
