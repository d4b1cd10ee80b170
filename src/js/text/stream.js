// Text as its tokens come, one by one: whole characters only, and only as far as no stop sequence may have begun.

import { argumentError } from '../check/errors.js';

/** @typedef {{ decode(ids: number[]): string }} Decodes a tokenizer */

/** What bytes decode to that are not, or not yet, a character. */
const BROKEN = '\ufffd';

/**
 * The texts that are given add up to that of all tokens.
 * @param {Decodes} tokenizer
 * @returns {{ push(id: number): string, end(): string, readonly holds: boolean }} end gives what was held back
 */
export function decodeStream(tokenizer) {
  // Tokens that were given already: what stands before a token may decide about its space.
  /** @type {number[]} */
  let before = [];
  /** @type {number[]} */
  let held = [];
  const text = () => tokenizer.decode([...before, ...held]).slice(tokenizer.decode(before).length);
  /** @param {string} given */
  const give = (given) => {
    if (given) [before, held] = [held, []];
    return given;
  };
  return {
    push(id) {
      held.push(id);
      const given = text();
      // The last bytes may be the beginning of a character.
      return given.endsWith(BROKEN) ? '' : give(given);
    },
    end: () => give(text()),
    get holds() {
      return held.length > 0 && text() !== '';
    },
  };
}

/**
 * @param {readonly string[]} stops
 * @returns {{ push(text: string): { text: string, stop: string | null }, end(): string, readonly holds: boolean }}
 *   text as far as no stop sequence begins in it; stop: the one that has been found. end gives what was held back
 */
export function stopStream(stops) {
  if (!Array.isArray(stops) || stops.some((stop) => typeof stop !== 'string' || stop === ''))
    throw argumentError('generate', 'stop', stops, 'a list of texts that are not empty');
  const longest = stops.reduce((most, stop) => Math.max(most, stop.length), 0);
  let held = '';

  /** The first place where one begins, and of those that begin there the longest. */
  function find() {
    let found = { at: Infinity, stop: '' };
    for (const stop of stops) {
      const at = held.indexOf(stop);
      if (at >= 0 && (at < found.at || (at === found.at && stop.length > found.stop.length))) found = { at, stop };
    }
    return found;
  }

  /** How much of the end of the text may be the beginning of one. */
  function countOpen() {
    for (let length = Math.min(longest - 1, held.length); length > 0; length--) {
      const end = held.slice(-length);
      if (stops.some((stop) => stop.startsWith(end))) return length;
    }
    return 0;
  }

  /** @param {number} length */
  const give = (length) => {
    const text = held.slice(0, length);
    held = held.slice(length);
    return text;
  };
  return {
    push(text) {
      held += text;
      const { at, stop } = find();
      if (stop) {
        const before = give(at);
        held = '';
        return { text: before, stop };
      }
      return { text: give(held.length - countOpen()), stop: null };
    },
    end: () => give(held.length),
    get holds() {
      return held !== '';
    },
  };
}
