// Streams of generated text: decodeStream holds back incomplete characters, stopStream what may begin a stop sequence.

import { argumentError } from '../check/errors.ts';

/** a tokenizer */
export type Decodes = { decode(ids: number[]): string };

/** The decoded form of invalid or incomplete UTF-8. */
const INVALID = '\ufffd';

/**
 * The texts that push and end return concatenate to the text of all tokens; push leaves out what is incomplete. holds:
 * text remains.
 */
export function decodeStream(tokenizer: Decodes): { push(id: number): string; end(): string; readonly holds: boolean } {
  // Of the last returned text: the space before a token may depend on the previous one.
  let previous: number[] = [];
  let held: number[] = [];
  const heldText = () => tokenizer.decode([...previous, ...held]).slice(tokenizer.decode(previous).length);
  const emit = (text: string) => {
    if (text) [previous, held] = [held, []];
    return text;
  };
  return {
    push(id) {
      held.push(id);
      const text = heldText();
      // The last bytes may be the beginning of a character.
      return text.endsWith(INVALID) ? '' : emit(text);
    },
    end: () => emit(heldText()),
    get holds() {
      return held.length > 0 && heldText() !== '';
    },
  };
}

/** returns text: before the first possible stop sequence; stop: that was found; end returns the remaining text */
export function stopStream(stops: readonly string[]): {
  push(text: string): { text: string; stop: string | null };
  end(): string;
  readonly holds: boolean;
} {
  if (!Array.isArray(stops) || stops.some((stop) => typeof stop !== 'string' || stop === ''))
    throw argumentError('generate', 'stop', stops, 'a list of non-empty strings');
  const longest = stops.reduce((most, stop) => Math.max(most, stop.length), 0);
  let held = '';

  /** Finds the first stop sequence in the text. If several begin at the same position, it is the longest. */
  function find() {
    let found = { at: Infinity, stop: '' };
    for (const stop of stops) {
      const at = held.indexOf(stop);
      if (at >= 0 && (at < found.at || (at === found.at && stop.length > found.stop.length))) found = { at, stop };
    }
    return found;
  }

  /** Returns the length of the longest suffix of the text that is a prefix of a stop sequence. */
  function countOpen() {
    for (let length = Math.min(longest - 1, held.length); length > 0; length--) {
      const end = held.slice(-length);
      if (stops.some((stop) => stop.startsWith(end))) return length;
    }
    return 0;
  }

  const emit = (length: number) => {
    const text = held.slice(0, length);
    held = held.slice(length);
    return text;
  };
  return {
    push(text) {
      held += text;
      const { at, stop } = find();
      if (stop) {
        const before = emit(at);
        held = '';
        return { text: before, stop };
      }
      return { text: emit(held.length - countOpen()), stop: null };
    },
    end: () => emit(held.length),
    get holds() {
      return held !== '';
    },
  };
}
