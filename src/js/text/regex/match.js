// Runs a program over a text. It finds what a backtracking engine finds, in time that is linear in the text. Whether an
// instruction leads to a match depends neither on how it was reached nor on where the match began, so an instruction
// that has failed at a place is not tried there again. Within a look or an atomic group, successes are known too.

import { Alphabet } from './alphabet.js';
import * as OP from './compile.js';
import { Memory, PAGE_BITS } from './memory.js';

/** @import { Program } from './compile.js' */

/** Kinds of characters of which the ways of a split are known. */
const MOST_KINDS = 256;
/** Instructions that are looked at to find out whether a way can begin with a character. */
const MOST_STEPS = 40;
/** Of an entry of the stack: an instruction, the place where it began, and the way or the end that it is trying. */
const ENTRY = 3;
const GOES_ON = -1;
const FAILS = -2;
/** Places after which those before a match are forgotten. */
const PLACES_KEPT = 4 << PAGE_BITS;

export class Matcher {
  #program;
  #alphabet;
  #args;
  #memories;
  #stack = new Int32Array(300);
  #top = 0;
  #kinds = new Int32Array(256);
  #length = 0;
  /** Where an instruction goes on. */
  #pc = 0;
  #at = 0;
  /** Of each character in the text, where it has some that take two units. @type {Int32Array | null} */
  #units = null;
  /** By kind: whether a match can begin with it. 0 where it is not known. */
  #begins = new Int8Array(MOST_KINDS);
  /** By split and kind: the ways that can begin with it. @type {(number[] | undefined)[][]} */
  #ways;

  /** @param {Program} program */
  constructor(program) {
    this.#program = program;
    this.#alphabet = new Alphabet(program.sets, program.literals);
    const { literals } = this.#alphabet;
    const isLiteral = (/** @type {number} */ op) => op === OP.LITERAL || op === OP.LITERAL_BACK;
    this.#args = program.args.map((arg, pc) => (isLiteral(program.ops[pc]) ? literals[arg] : arg));
    this.#memories = [new Memory(program.memoCounts[0], true), new Memory(program.memoCounts[1], false)];
    this.#ways = program.splits.map(() => []);
  }

  /**
   * All matches from left to right, but no empty one right after another.
   * @param {string} text
   * @returns {number[]} the beginning and the end of each
   */
  matches(text) {
    this.#read(text);
    for (const memory of this.#memories) memory.open(this.#length);
    try {
      return this.#scan();
    } finally {
      this.#top = 0;
      for (const memory of this.#memories) memory.close();
    }
  }

  #scan() {
    /** @type {number[]} */
    const found = [];
    const units = this.#units;
    const { entry, lookbehind } = this.#program;
    let last = -1;
    for (let at = 0, next = PLACES_KEPT; at <= this.#length; ) {
      if (!this.#canBegin(this.#kinds[at])) {
        at++;
        continue;
      }
      const end = this.#run(entry, at);
      if (end > at || (end === at && at !== last)) {
        found.push(units ? units[at] : at, units ? units[end] : end);
        last = end;
      }
      at = Math.max(end, at + 1);
      if (at < next) continue;
      for (const memory of this.#memories) memory.forget(at - lookbehind);
      next = at + PLACES_KEPT;
    }
    return found;
  }

  /** The characters of a text, and where they are. @param {string} text */
  #read(text) {
    const { length } = text;
    if (this.#kinds.length <= length) this.#kinds = new Int32Array(2 * length);
    this.#units = null;
    let count = 0;
    for (let at = 0; at < length; count++) {
      const code = text.charCodeAt(at);
      const isPair = (code & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
      if (isPair && !this.#units) this.#units = Int32Array.from({ length: length + 1 }, (_, i) => i);
      if (this.#units) this.#units[count] = at;
      this.#kinds[count] = this.#alphabet.kindOf(isPair ? Number(text.codePointAt(at)) : code);
      at += isPair ? 2 : 1;
    }
    this.#kinds[count] = 0;
    if (this.#units) this.#units[count] = length;
    this.#length = count;
  }

  /** Whether a match may begin with a kind of character. @param {number} kind */
  #canBegin(kind) {
    if (kind >= MOST_KINDS) return true;
    if (this.#begins[kind] === 0) this.#begins[kind] = this.#mayTake(this.#program.entry, kind) ? 1 : -1;
    return this.#begins[kind] > 0;
  }

  /** @param {number} pc @param {number} kind */
  #mayTake(pc, kind) {
    let steps = MOST_STEPS;
    /** @type {(pc: number) => boolean} */
    const may = (pc) => {
      const { ops, nexts, others, splits } = this.#program;
      const isMember = this.#alphabet.members[kind * this.#alphabet.width + this.#args[pc]] === 1;
      if (--steps < 0) return true;
      if (ops[pc] === OP.FAIL) return false;
      if (ops[pc] === OP.LITERAL) return kind === this.#args[pc];
      if (ops[pc] === OP.SET) return isMember;
      if (ops[pc] === OP.NEXT) return isMember !== (others[pc] === 1) && may(nexts[pc]);
      if (ops[pc] === OP.SPLIT) return splits[this.#args[pc]].some(may);
      if (ops[pc] === OP.STAR) return isMember || may(nexts[pc]);
      return ops[pc] === OP.JOIN || ops[pc] === OP.LAST || ops[pc] === OP.LOOK ? may(nexts[pc]) : true;
    };
    return may(pc);
  }

  /** The ways of a split that may begin with a kind of character. @param {number} split @param {number} kind */
  #waysOf(split, kind) {
    const ways = this.#program.splits[split];
    if (ways.length < 3 || kind >= MOST_KINDS || !this.#program.forwards[split]) return ways;
    return (this.#ways[split][kind] ??= ways.filter((way) => this.#mayTake(way, kind)));
  }

  /**
   * @param {number} entry of the program or of a body
   * @param {number} begin
   * @returns {number} where it ends, −1 where it does not match
   */
  #run(entry, begin) {
    const { ops, nexts, others, inBody } = this.#program;
    const { members, width } = this.#alphabet;
    const [args, kinds] = [this.#args, this.#kinds];
    const memory = this.#memories[inBody[entry]];
    const base = this.#top;
    let [pc, at] = [entry, begin];
    for (;;) {
      let goes = false;
      let to = nexts[pc];
      switch (ops[pc]) {
        case OP.ACCEPT:
          return this.#accept(base, at, memory);
        case OP.FAIL:
          break;
        case OP.LITERAL:
          goes = kinds[at++] === args[pc];
          break;
        case OP.SET:
          goes = members[kinds[at++] * width + args[pc]] === 1;
          break;
        case OP.LITERAL_BACK:
          goes = at > 0 && kinds[--at] === args[pc];
          break;
        case OP.SET_BACK:
          goes = at > 0 && members[kinds[--at] * width + args[pc]] === 1;
          break;
        case OP.NEXT:
          goes = members[kinds[at] * width + args[pc]] !== others[pc];
          break;
        case OP.LAST:
          goes = (at > 0 ? members[kinds[at - 1] * width + args[pc]] : 0) !== others[pc];
          break;
        case OP.LOOK:
          goes = this.#run(args[pc], at) < 0 === (others[pc] === 1);
          break;
        case OP.ATOMIC: {
          const end = this.#run(args[pc], at);
          if (end === at) to = others[pc];
          goes = end >= 0;
          at = end;
          break;
        }
        default: {
          const end = this.#enter(pc, at, memory);
          if (end >= 0) return this.#accept(base, end, memory);
          goes = end === GOES_ON;
          to = this.#pc;
          at = this.#at;
        }
      }
      if (goes) pc = to;
      else if (this.#retry(base, memory)) [pc, at] = [this.#pc, this.#at];
      else return -1;
    }
  }

  /**
   * Begins an instruction that can go on in several ways: with the first of them.
   * @param {number} pc
   * @param {number} at
   * @param {Memory} memory
   * @returns {number} where it is known to end; GOES_ON or FAILS
   */
  #enter(pc, at, memory) {
    const { ops, nexts, memos } = this.#program;
    const known = memory.get(memos[pc], at);
    if (known !== 0) return known > 0 ? known - 1 : FAILS;
    this.#pc = nexts[pc];
    this.#at = at;
    if (ops[pc] === OP.STAR) return this.#enterStar(pc, at, memory);
    if (ops[pc] === OP.SPLIT) {
      const ways = this.#waysOf(this.#args[pc], this.#kinds[at]);
      if (ways.length === 0) return FAILS;
      this.#pc = ways[0];
    }
    this.#push(pc, at, 0);
    return GOES_ON;
  }

  /**
   * As far as the characters belong to the set, or up to a place of which something is known.
   * @param {number} pc
   * @param {number} begin
   * @param {Memory} memory
   */
  #enterStar(pc, begin, memory) {
    const { members, width } = this.#alphabet;
    const [kinds, set, memo] = [this.#kinds, this.#args[pc], this.#program.memos[pc]];
    let at = begin;
    let known = 0;
    while (known === 0 && members[kinds[at] * width + set] === 1) {
      at++;
      if (!memory.isBlank(at)) known = memory.get(memo, at);
    }
    // From a place that fails no end further on is any good.
    if (known !== 0) at--;
    this.#push(pc, begin, at);
    this.#at = at;
    return known > 0 ? known - 1 : GOES_ON;
  }

  /** @param {number} pc @param {number} at @param {number} trying */
  #push(pc, at, trying) {
    if (this.#top + ENTRY > this.#stack.length) {
      const stack = new Int32Array(2 * this.#stack.length);
      stack.set(this.#stack);
      this.#stack = stack;
    }
    this.#stack[this.#top++] = pc;
    this.#stack[this.#top++] = at;
    this.#stack[this.#top++] = trying;
  }

  /**
   * The next way of what was begun last and has one; what has none has failed.
   * @param {number} base of the stack
   * @param {Memory} memory
   */
  #retry(base, memory) {
    const { ops, nexts, memos } = this.#program;
    const stack = this.#stack;
    for (; this.#top > base; this.#top -= ENTRY) {
      const entry = this.#top - ENTRY;
      const [pc, at] = [stack[entry], stack[entry + 1]];
      if (ops[pc] === OP.STAR) {
        const tried = stack[entry + 2]--;
        memory.fail(memos[pc], tried);
        if (tried === at) continue;
        this.#pc = nexts[pc];
        this.#at = tried - 1;
        return true;
      }
      if (ops[pc] === OP.SPLIT) {
        const ways = this.#waysOf(this.#args[pc], this.#kinds[at]);
        const way = ++stack[entry + 2];
        if (way < ways.length) {
          this.#pc = ways[way];
          this.#at = at;
          return true;
        }
      }
      memory.fail(memos[pc], at);
    }
    return false;
  }

  /**
   * What is on the stack has led to the end, from each of its places. Of the program itself this need not be known:
   * the next match begins later.
   * @param {number} base of the stack
   * @param {number} end
   * @param {Memory} memory
   */
  #accept(base, end, memory) {
    const { ops, memos } = this.#program;
    for (let entry = base; entry < this.#top && memory === this.#memories[1]; entry += ENTRY) {
      const [pc, at] = [this.#stack[entry], this.#stack[entry + 1]];
      const last = ops[pc] === OP.STAR ? this.#stack[entry + 2] : at;
      for (let place = at; place <= last; place++) memory.succeed(memos[pc], place, end);
    }
    this.#top = base;
    return end;
  }
}
