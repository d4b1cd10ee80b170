// Texts for models of speech: the tokens with which the decoder begins, the transcription, and the letters of frames.

import type { Cache } from '../../../src/js/models/cache.ts';
import type { Edit } from '../../../src/js/models/edits.ts';
import type { ModelInput, PlainInput } from '../../../src/js/models/input.ts';
import { languagesOf, promptOf, spell } from '../../../src/js/models/results/transcribe.ts';
import type { Letters } from '../../../src/js/text/letters.ts';
import type { ShownLetters } from '../../model/protocol/protocol.ts';
import type { Read } from '../run/modelInput.ts';
import { labelNames, likeliest, probabilities } from '../run/predictions.ts';
import type { Values } from '../run/runModel.ts';
import { predictsTokens } from '../sources/sources.ts';
import type { Hl, Numbers, TransformerSource } from '../sources/types.ts';
import type { Reply } from '../types.ts';

/** Letters that are listed for a frame. */
const TOP = 5;
/** Milliseconds between two messages with the text so far. Each message causes a run on the page. */
const PAUSE = 1000;

/**
 * Returns, as a text, the tokens after the decoder's first: language, task, no times; empty without a tokenizer.
 * `logits`: at the first token, which choose the language; default English.
 */
export function promptFor({ model, tokenizer }: TransformerSource, logits?: ArrayLike<number>): string {
  if (!model.tokenizer) return '';
  const known = [...languagesOf(model).keys()];
  const usual = known.includes('<|en|>') ? '<|en|>' : known[0];
  const language = logits || usual === undefined ? undefined : usual.slice(2, -2);
  return tokenizer.decode(promptOf(model, logits ?? [], { language }).ids, { skipSpecial: false });
}

/** Transcribes the sound after the visitor's tokens (`second`) or, without any, those of the likeliest language. */
export async function transcribe(
  hl: Hl,
  source: TransformerSource,
  second: string,
  read: (second: string) => Read,
  edit: Edit[],
  reply: Reply,
) {
  const { model, tokenizer, about } = source;
  // The encoder runs once, because the cache keeps its keys and values for the decoder.
  const cache = model.cache({ length: about.context });
  try {
    const begin = /^(\s*<\|[^|]*\|>)*/.exec(second)?.[0].trim() ?? '';
    const chosen = begin !== '' && begin !== about.prompt;
    const prompt = chosen ? begin : likeliestPrompt(hl, source, read('').input, { cache, edit });
    const { ids, input } = read(prompt);
    const { encoder } = input as { encoder: PlainInput };
    const stopping = new AbortController();
    const made: number[] = [];
    let [sent, at] = ['', performance.now()];
    const send = () => {
      const text = prompt + tokenizer.decode(made);
      if (text !== sent && !text.endsWith('\ufffd')) reply.send('generated', { text, isAnswer: true });
      [sent, at] = [text, performance.now()];
    };
    await model.generate(
      { encoder, ids: ids.slice(cache.length) },
      {
        temperature: 0,
        forced: [],
        cache,
        edit,
        signal: stopping.signal,
        async onToken({ id }) {
          made.push(id);
          if (performance.now() - at > PAUSE) send();
          if (await reply.checkCancelled()) stopping.abort();
        },
      },
    );
    if (!reply.isCancelled()) send();
  } finally {
    cache.dispose();
  }
}

/**
 * Returns the tokens of the likeliest language. `input`: the sound and the first token, which the cache has afterwards,
 * unless the model has no languages.
 */
function likeliestPrompt(
  hl: Hl,
  source: TransformerSource,
  input: ModelInput,
  { cache, edit }: { cache: Cache; edit: Edit[] },
) {
  const { model } = source;
  if (!model.tokenizer || languagesOf(model).size === 0) return promptFor(source);
  const logits = hl.scope(() => model.forward(input, { cache, edit }).logits?.copy());
  return promptFor(source, logits);
}

const isLetters = (tokenizer: object): tokenizer is Letters => 'blank' in tokenizer;

/** Returns the likeliest letters or classes of every frame and the spelled text; null if none are predicted. */
export function lettersOf(source: TransformerSource, { logits }: Values): ShownLetters | null {
  const { model, tokenizer } = source;
  if (!logits || model.options.encoder || model.options.head !== 'logits') return null;
  const { data, shape } = logits as Numbers;
  const [, frames, count] = shape;
  const letters = predictsTokens(model) && isLetters(tokenizer) ? tokenizer : null;
  const named = labelNames(source);
  const labels = model.config?.id2label;
  const name = (id: number) => (predictsTokens(model) ? named(id) : String(labels?.[id] ?? id));
  const top = Array.from({ length: frames }, (_, t) => {
    const row = probabilities(data.subarray(t * count, (t + 1) * count));
    return likeliest(row, TOP).map((id) => ({ id, text: name(id), now: row[id] }));
  });
  return { top, blank: letters?.blank ?? null, text: letters && spell(letters, { data, shape }, 1).text };
}
