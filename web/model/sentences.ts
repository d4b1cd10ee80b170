// The sentences that are compared with an image. In the state, `text` is the chosen sentence, `second` has all others,
// one per line, and `entry` is the index of the chosen sentence among all sentences.

import type { State } from './state.ts';

export const MAX_SENTENCES = 8;

/** Returns all sentences in order, and the index of the chosen one. */
export function sentencesOf({ text, second = '', entry = 0 }: { text: string; second?: string; entry?: number }) {
  const others = second ? second.split('\n').slice(0, MAX_SENTENCES - 1) : [];
  const chosen = Math.min(entry, others.length);
  return { sentences: others.toSpliced(chosen, 0, text), chosen };
}

/** Returns the fields of the state for sentences. Empty sentences are left out, except the chosen one. */
export function fieldsOf(sentences: readonly string[], chosen: number): Pick<State, 'text' | 'second' | 'entry'> {
  const lines = sentences.map((sentence) => sentence.replace(/\s*\n\s*/g, ' '));
  const isKept = (line: string) => line.trim() !== '';
  return {
    text: sentences[chosen],
    second: lines.filter((line, i) => i !== chosen && isKept(line)).join('\n'),
    entry: lines.slice(0, chosen).filter(isKept).length,
  };
}
