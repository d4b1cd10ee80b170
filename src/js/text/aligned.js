// A text that has been changed, with the place in the original that each of its units comes from. Units are UTF-16
// code units, as everywhere in JavaScript.

import { HeadlightError } from '../check/errors.js';

/** @import { Pattern } from './pattern.js' */

/** @typedef {[begin: number, end: number, text: string]} Edit what stands from begin to end is replaced by a text */

/** Units that may be added per unit of the original: a syllable of Korean becomes three letters of three bytes each. */
const MOST_GROWTH = 8;
/** And to any. */
const FREE_GROWTH = 2 ** 14;

/** @typedef {Int32Array | number[]} Places begin and end of each unit in the original, one after the other */
/** Size above which an Int32Array is cheaper to make than a list. */
const FEW = 64;
/** @param {number} size @returns {Places} */
const placesFor = (size) => (size > FEW ? new Int32Array(size) : new Array(size).fill(0));
const roomFor = (/** @type {string} */ text) => ({ left: FREE_GROWTH + MOST_GROWTH * text.length });

export class AlignedText {
  #places;
  #at;
  #origin;
  #room;

  /**
   * @param {string} text
   * @param {number} [origin] where it begins in the original, of which it is a part as it is
   * @param {Places | null} [places] where it is not
   * @param {{ left: number }} [room] units that may still be added, shared by all parts of a text
   * @param {number} [at] index of its first unit in places, which parts share
   */
  constructor(text, origin = 0, places = null, room = roomFor(text), at = 0) {
    this.text = text;
    this.#origin = origin;
    this.#places = places;
    this.#room = room;
    this.#at = at;
  }

  /** Where in the original a unit begins. What is inserted at the end begins and ends where the text ends. */
  #begin(/** @type {number} */ at) {
    if (!this.#places) return this.#origin + at;
    return at < this.text.length ? this.#places[2 * (this.#at + at)] : this.#end(at);
  }

  #end(/** @type {number} */ at) {
    if (!this.#places) return this.#origin + at;
    return at > 0 ? this.#places[2 * (this.#at + at) - 1] : this.#origin;
  }

  /**
   * The part of the original that some units come from: an empty one for what was inserted.
   * @param {number} begin
   * @param {number} end
   * @returns {[begin: number, end: number]}
   */
  range(begin, end) {
    const from = this.#begin(begin);
    return [from, begin < end ? Math.max(from, this.#end(end)) : from];
  }

  /** @param {number} begin @param {number} end */
  slice(begin, end) {
    if (begin === 0 && end === this.text.length) return this;
    const text = this.text.slice(begin, end);
    return new AlignedText(text, this.#begin(begin), this.#places, this.#room, this.#at + begin);
  }

  /**
   * With some parts replaced: each unit of a replacement comes from all that it replaces.
   * @param {Edit[]} edits in order, not overlapping
   */
  edit(edits) {
    if (edits.length === 0) return this;
    const size = edits.reduce((sum, [begin, end, text]) => sum + text.length - (end - begin), this.text.length);
    this.#room.left -= Math.max(0, size - this.text.length);
    if (this.#room.left < 0) throw tooLong();
    const places = placesFor(2 * size);
    let text = '';
    let [from, to] = [0, 0];
    const copy = (/** @type {number} */ until) => {
      text += this.text.slice(from, until);
      for (; from < until; from++) {
        places[to++] = this.#begin(from);
        places[to++] = this.#end(from + 1);
      }
    };
    for (const [begin, end, instead] of edits) {
      copy(begin);
      text += instead;
      const range = this.range(begin, end);
      for (let i = 0; i < instead.length; i++) {
        places[to++] = range[0];
        places[to++] = range[1];
      }
      from = end;
    }
    copy(this.text.length);
    return new AlignedText(text, this.#origin, places, this.#room);
  }
}

const tooLong = () =>
  new HeadlightError('FORMAT', `encode: the tokenizer makes the text more than ${MOST_GROWTH} times longer`, {
    parameter: 'text',
  });

/**
 * The edits that replace every match of a pattern.
 * @param {string} text
 * @param {Pattern} pattern
 * @param {(match: string) => string} replace
 * @returns {Edit[]} without those that change nothing
 */
export function replaceEach(text, pattern, replace) {
  /** @type {Edit[]} */
  const edits = [];
  const places = pattern(text);
  for (let i = 0; i < places.length; i += 2) {
    const match = text.slice(places[i], places[i + 1]);
    const replaced = replace(match);
    if (replaced !== match) edits.push([places[i], places[i + 1], replaced]);
  }
  return edits;
}
