// A changed text, with the range of the original text from which each UTF-16 unit comes.

import { HeadlightError } from '../check/errors.ts';

import type { Pattern } from './pattern.ts';

/** a replacement of the range by the text */
export type Edit = [begin: number, end: number, text: string];

/** Maximum code units added per unit of the original. A Korean syllable becomes three letters of three bytes each. */
const MAX_GROWTH = 8;
/** Maximum code units added to a text of any length. */
const FREE_GROWTH = 2 ** 14;

/** begin and end of each unit's range in the original, in one list */
export type Offsets = Int32Array | number[];
/** Maximum size of offsets in a list. Larger offsets are faster to create as an Int32Array. */
const MAX_LIST = 64;
const newOffsets = (size: number): Offsets => (size > MAX_LIST ? new Int32Array(size) : new Array(size).fill(0));
const growthBudget = (text: string) => ({ left: FREE_GROWTH + MAX_GROWTH * text.length });

export class AlignedText {
  declare text: string;

  #offsets: Offsets | null;
  #at: number;
  #origin: number;
  #budget: { left: number };

  /**
   * origin: position in the original; offsets: null for an unchanged part; budget: units that parts of a text may still
   * add; at: index of the first unit in offsets, which parts share
   */
  constructor(
    text: string,
    origin = 0,
    offsets: Offsets | null = null,
    budget: { left: number } = growthBudget(text),
    at = 0,
  ) {
    this.text = text;
    this.#origin = origin;
    this.#offsets = offsets;
    this.#budget = budget;
    this.#at = at;
  }

  /** Position of a unit in the original. The end maps to the end of the last unit. */
  #begin(at: number) {
    if (!this.#offsets) return this.#origin + at;
    return at < this.text.length ? this.#offsets[2 * (this.#at + at)] : this.#end(at);
  }

  #end(at: number) {
    if (!this.#offsets) return this.#origin + at;
    return at > 0 ? this.#offsets[2 * (this.#at + at) - 1] : this.#origin;
  }

  /** Returns the range of the original from which some units come. It is empty for inserted units. */
  range(begin: number, end: number): [begin: number, end: number] {
    const from = this.#begin(begin);
    return [from, begin < end ? Math.max(from, this.#end(end)) : from];
  }

  slice(begin: number, end: number) {
    if (begin === 0 && end === this.text.length) return this;
    const text = this.text.slice(begin, end);
    return new AlignedText(text, this.#begin(begin), this.#offsets, this.#budget, this.#at + begin);
  }

  /** Each unit of a replacement is aligned to the whole range that it replaces. edits: in order, not overlapping. */
  edit(edits: Edit[]) {
    if (edits.length === 0) return this;
    const size = edits.reduce((sum, [begin, end, text]) => sum + text.length - (end - begin), this.text.length);
    this.#budget.left -= Math.max(0, size - this.text.length);
    if (this.#budget.left < 0) throw tooLong();
    const offsets = newOffsets(2 * size);
    let text = '';
    let [from, to] = [0, 0];
    const copy = (until: number) => {
      text += this.text.slice(from, until);
      for (; from < until; from++) {
        offsets[to++] = this.#begin(from);
        offsets[to++] = this.#end(from + 1);
      }
    };
    for (const [begin, end, replacement] of edits) {
      copy(begin);
      text += replacement;
      const range = this.range(begin, end);
      for (let i = 0; i < replacement.length; i++) {
        offsets[to++] = range[0];
        offsets[to++] = range[1];
      }
      from = end;
    }
    copy(this.text.length);
    return new AlignedText(text, this.#origin, offsets, this.#budget);
  }
}

const tooLong = () =>
  new HeadlightError('FORMAT', `encode: the tokenizer makes the text more than ${MAX_GROWTH} times longer`, {
    parameter: 'text',
  });

/** Returns the edits that replace every match of a pattern. returns without edits that change nothing. */
export function replaceEach(text: string, pattern: Pattern, replace: (match: string) => string): Edit[] {
  const edits: Edit[] = [];
  const matches = pattern(text);
  for (let i = 0; i < matches.length; i += 2) {
    const match = text.slice(matches[i], matches[i + 1]);
    const replaced = replace(match);
    if (replaced !== match) edits.push([matches[i], matches[i + 1], replaced]);
  }
  return edits;
}
