// The task that trains the demo model further on the visitor's own text. Sequences are windows of the text's tokens.

import { argumentError } from '../../../src/js/check/errors.ts';
import type { TransformerOptions } from '../../../src/js/models/options.ts';
import { LESSONS } from '../../model/training/lessons.ts';
import { isLongEnough, MIN_CHARACTERS, MODELS, OWN_TEXT, usualTraining } from '../../model/training/settings.ts';
import type { BaseModel, Random, Sequence, SourceTokenizer, TaskKind } from '../../model/types.ts';
import type { Hl, TransformerSource } from '../sources/types.ts';

/** Tokens of a window, as in the demo model's own training. */
const WINDOW = 128;
/** The share of the text that is held out at the end. If it has fewer than MIN_HELD_OUT tokens, nothing is held out. */
const [HELD_OUT, MIN_HELD_OUT] = [0.2, 32];
/** Maximum tokens of the sentence that is shown. */
const SHOWN = 20;
/** The target of a token that has no loss. */
const NONE = -100;
const LIMITS = { validation: 4, frames: 10 };

const windowsIn = (part: number[], width: number) => part.length - width;

const drawFrom = (part: number[], width: number) => (random: Random) =>
  windowAt(part, width, Math.floor(random() * windowsIn(part, width)));

/** Returns a window of tokens. The target of each token is the next token. */
const windowAt = (part: number[], width: number, at: number): Sequence => ({
  tokens: part.slice(at, at + width),
  targets: part.slice(at + 1, at + width + 1),
});

export function ownTextTask(
  text: string,
  {
    model,
    tokenizer,
    readTokenizer,
  }: Pick<TransformerSource, 'model' | 'tokenizer'> & Pick<BaseModel, 'readTokenizer'>,
): TaskKind {
  if (!isLongEnough(text)) throw argumentError('ownTextTask', 'text', text, `at least ${MIN_CHARACTERS} characters`);
  const { ids, offsets } = tokenizer.encode(text.trim());
  const held = Math.floor(HELD_OUT * ids.length);
  const holdsOut = held >= MIN_HELD_OUT;
  const learned = holdsOut ? ids.slice(0, -held) : ids;
  const judged = holdsOut ? ids.slice(-held) : ids;
  const width = Math.min(WINDOW, learned.length - 1);
  const judgedWidth = Math.min(WINDOW, judged.length - 1);
  const { batch, steps } = LESSONS[OWN_TEXT];
  const { vocab } = model.options;
  return {
    tokens: Array.from({ length: vocab }, (_, id) => tokenizer.decode([id])),
    context: width,
    sequence: drawFrom(learned, width),
    heldOut: drawFrom(judged, judgedWidth),
    shown: sentenceOf(tokenizer, text.trim(), holdsOut ? offsets.slice(-held) : offsets),
    model: MODELS[OWN_TEXT],
    // A short text may have fewer windows than a batch has sequences.
    training: { rate: usualTraining(OWN_TEXT).rate, batch: Math.min(batch, windowsIn(learned, width)), steps },
    goal: null,
    limits: { ...LIMITS, validation: Math.min(LIMITS.validation, windowsIn(judged, judgedWidth)) },
    base: { create: (hl) => floatsOf(hl, model), tokenizer, readTokenizer, holdsOut },
  };
}

/** Copies the demo model, and converts the packed weights to floats. */
function floatsOf(hl: Hl, model: TransformerSource['model']) {
  const copy = hl.transformer({ ...model.options, dropout: 0 } as TransformerOptions);
  copy.loadStateDict(model.stateDict());
  return copy;
}

/** Chooses the part that is shown, from whole word to whole word if possible. `offsets`: of tokens for validation. */
function sentenceOf(tokenizer: SourceTokenizer, text: string, offsets: [number, number][]) {
  const first =
    offsets[0][0] === 0
      ? 0
      : Math.max(
          offsets.findIndex(([at]) => /\s/.test(text[at])),
          0,
        );
  const endsWord = offsets.findLastIndex(([at], i) => i > first && i <= first + SHOWN && /\s/.test(text[at]));
  const end = offsets.length > first + SHOWN && endsWord > first ? endsWord : first + SHOWN;
  const chosen = offsets.slice(first, end);
  const shown = text.slice(chosen[0][0], chosen[chosen.length - 1][1]).trim();
  const tokens = tokenizer.encode(shown).ids;
  return { text: shown, tokens, targets: [...tokens.slice(1), NONE] };
}
