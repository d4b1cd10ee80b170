// Restricts the next token by the options of generate() and generation_config.json, as the logits processors of
// transformers do.

import { restrict } from '../../text/sampling.ts';

import type { Request } from './generateOptions.ts';

/** Returns the tokens that would complete an n-gram that is already in the sequence. */
function repeating(ids: readonly number[], n: number) {
  const begin = ids.length - (n - 1);
  const follows = (at: number) => {
    for (let i = 0; i < n - 1; i++) if (ids[at + i] !== ids[begin + i]) return false;
    return true;
  };
  const found = [];
  for (let at = 0; at + n <= ids.length; at++) if (follows(at)) found.push(ids[at + n - 1]);
  return found;
}

/** The last tokens of sequences whose other tokens end the text. As in transformers, longer sequences are ignored. */
function completing(ids: readonly number[], sequences: readonly (readonly number[])[]) {
  const found = sequences.filter(
    (sequence) =>
      sequence.length === 1 ||
      (sequence.length <= ids.length && sequence.slice(0, -1).every((id, i) => ids.at(i + 1 - sequence.length) === id)),
  );
  return found.map((sequence) => sequence[sequence.length - 1]);
}

/**
 * Changes logits or log-probabilities. at: before: returns the ids before; index: of the next token; first: index of
 * the first generated token.
 */
export function restrictNext(
  logits: Float32Array,
  request: Request,
  { before, index, first }: { before: () => readonly number[]; index: number; first: number },
) {
  const { forced, forcedEnd, suppress, suppressFirst, repetitionPenalty, noRepeatNgram, badWords } = request;
  const { max, min, minLength, stop } = request;
  const begin = Math.max(first, ...[...forced.keys()].map((forcedIndex) => forcedIndex + 1));
  const ids = repetitionPenalty !== 1 || noRepeatNgram > 0 || badWords.length > 0 ? before() : [];
  const isShort = index < minLength || index - first < min;
  const isLast = index - first === max - 1;
  restrict(logits, {
    repeated: repetitionPenalty === 1 ? [] : ids,
    repetitionPenalty,
    suppress: [
      ...suppress,
      ...(index === begin ? suppressFirst : []),
      ...(noRepeatNgram > 0 ? repeating(ids, noRepeatNgram) : []),
      ...completing(ids, badWords),
      ...(isShort ? stop.ids : []),
    ],
    forced: isLast && forcedEnd.length > 0 ? forcedEnd : forced.has(index) ? [Number(forced.get(index))] : [],
  });
}
