// Runs a program with the results of a backtracking engine in linear time. Success depends neither on the path to an
// instruction nor on the beginning of the match, so one that failed at a position is not tried there again. In
// lookarounds and atomic groups, successes are memoized too.

import { Alphabet } from './alphabet.ts';
import type { Program } from './compile.ts';
import * as OP from './compile.ts';
import { Memory, PAGE_BITS } from './memory.ts';

/** Maximum number of kinds of characters for which the possible branches of a split are cached. */
const MAX_CACHED_KINDS = 256;
/** Maximum number of instructions that are visited to determine if a branch can begin with a character. */
const MAX_STEPS = 40;
/** Words of a stack entry: instruction, position, and the current branch of a SPLIT or the current end of a STAR. */
const ENTRY = 3;
const CONTINUES = -1;
const FAILS = -2;
/** Number of positions after which the memoized results before the current match are freed. */
const FREE_INTERVAL = 4 << PAGE_BITS;

export class Matcher {
  #program: Program;
  #alphabet: Alphabet;
  #args: Int32Array<ArrayBuffer>;
  #memories: Memory[];
  #stack = new Int32Array(300);
  #top = 0;
  #kinds = new Int32Array(256);
  #length = 0;
  /** Instruction and position at which the match continues. */
  #pc = 0;
  #at = 0;
  /** UTF-16 offset of each character, if the text has surrogate pairs. */
  #units: Int32Array | null = null;
  /** For each kind, 1 if a match may begin with it, −1 if none can, 0 if unknown yet. */
  #begins = new Int8Array(MAX_CACHED_KINDS);
  /** By split and kind, the branches that can begin with that kind. */
  #branches: (number[] | undefined)[][];

  constructor(program: Program) {
    this.#program = program;
    this.#alphabet = new Alphabet(program.sets, program.literals);
    const { literals } = this.#alphabet;
    const isLiteral = (op: number) => op === OP.LITERAL || op === OP.LITERAL_BACK;
    this.#args = program.args.map((arg, pc) => (isLiteral(program.ops[pc]) ? literals[arg] : arg));
    this.#memories = [new Memory(program.memoCounts[0], true), new Memory(program.memoCounts[1], false)];
    this.#branches = program.splits.map(() => []);
  }

  /** Begin and end of all matches from left to right, without empty ones directly after another. */
  matches(text: string): number[] {
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
    const found: number[] = [];
    const units = this.#units;
    const { entry, lookbehind } = this.#program;
    let last = -1;
    for (let at = 0, next = FREE_INTERVAL; at <= this.#length; ) {
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
      for (const memory of this.#memories) memory.freeBefore(at - lookbehind);
      next = at + FREE_INTERVAL;
    }
    return found;
  }

  /** Determines the kinds and the offsets of the characters of a text. */
  #read(text: string) {
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

  /** Returns false if no match can begin with a character of this kind. */
  #canBegin(kind: number) {
    if (kind >= MAX_CACHED_KINDS) return true;
    if (this.#begins[kind] === 0) this.#begins[kind] = this.#mayConsume(this.#program.entry, kind) ? 1 : -1;
    return this.#begins[kind] > 0;
  }

  /** False if a match that continues at pc cannot begin with this kind, true if it can or if this is unknown. */
  #mayConsume(pc: number, kind: number) {
    let steps = MAX_STEPS;
    const may: (pc: number) => boolean = (pc) => {
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

  /** Returns the branches of a split that may begin with a kind of character. */
  #branchesOf(split: number, kind: number) {
    const branches = this.#program.splits[split];
    if (branches.length < 3 || kind >= MAX_CACHED_KINDS || !this.#program.forwards[split]) return branches;
    return (this.#branches[split][kind] ??= branches.filter((branch) => this.#mayConsume(branch, kind)));
  }

  /** entry: first instruction of the program or of a body; returns the end of the match, −1 for no match */
  #run(entry: number, begin: number): number {
    const { ops, nexts, others, inBody } = this.#program;
    const { members, width } = this.#alphabet;
    const [args, kinds] = [this.#args, this.#kinds];
    const memory = this.#memories[inBody[entry]];
    const base = this.#top;
    let [pc, at] = [entry, begin];
    for (;;) {
      let matches = false;
      let to = nexts[pc];
      switch (ops[pc]) {
        case OP.ACCEPT:
          return this.#accept(base, at, memory);
        case OP.FAIL:
          break;
        case OP.LITERAL:
          matches = kinds[at++] === args[pc];
          break;
        case OP.SET:
          matches = members[kinds[at++] * width + args[pc]] === 1;
          break;
        case OP.LITERAL_BACK:
          matches = at > 0 && kinds[--at] === args[pc];
          break;
        case OP.SET_BACK:
          matches = at > 0 && members[kinds[--at] * width + args[pc]] === 1;
          break;
        case OP.NEXT:
          matches = members[kinds[at] * width + args[pc]] !== others[pc];
          break;
        case OP.LAST:
          matches = (at > 0 ? members[kinds[at - 1] * width + args[pc]] : 0) !== others[pc];
          break;
        case OP.LOOK:
          matches = this.#run(args[pc], at) < 0 === (others[pc] === 1);
          break;
        case OP.ATOMIC: {
          const end = this.#run(args[pc], at);
          if (end === at) to = others[pc];
          matches = end >= 0;
          at = end;
          break;
        }
        default: {
          const end = this.#enter(pc, at, memory);
          if (end >= 0) return this.#accept(base, end, memory);
          matches = end === CONTINUES;
          to = this.#pc;
          at = this.#at;
        }
      }
      if (matches) pc = to;
      else if (this.#retry(base, memory)) [pc, at] = [this.#pc, this.#at];
      else return -1;
    }
  }

  /** Tries the first branch. Returns the memoized end of the match, CONTINUES or FAILS. */
  #enter(pc: number, at: number, memory: Memory): number {
    const { ops, nexts, memos } = this.#program;
    const known = memory.get(memos[pc], at);
    if (known !== 0) return known > 0 ? known - 1 : FAILS;
    this.#pc = nexts[pc];
    this.#at = at;
    if (ops[pc] === OP.STAR) return this.#enterStar(pc, at, memory);
    if (ops[pc] === OP.SPLIT) {
      const branches = this.#branchesOf(this.#args[pc], this.#kinds[at]);
      if (branches.length === 0) return FAILS;
      this.#pc = branches[0];
    }
    this.#push(pc, at, 0);
    return CONTINUES;
  }

  /** Consumes characters of the set of a STAR, up to the first position with a memoized result. */
  #enterStar(pc: number, begin: number, memory: Memory) {
    const { members, width } = this.#alphabet;
    const [kinds, set, memo] = [this.#kinds, this.#args[pc], this.#program.memos[pc]];
    let at = begin;
    let known = 0;
    while (known === 0 && members[kinds[at] * width + set] === 1) {
      at++;
      if (!memory.isBlank(at)) known = memory.get(memo, at);
    }
    // If the STAR has failed from this position, all ends at or after it fail, so only earlier ends are tried.
    if (known !== 0) at--;
    this.#push(pc, begin, at);
    this.#at = at;
    return known > 0 ? known - 1 : CONTINUES;
  }

  #push(pc: number, at: number, trying: number) {
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
   * Backtracks to the last untried branch; instructions without one have failed. base: stack size at the beginning of
   * the run.
   */
  #retry(base: number, memory: Memory) {
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
        const branches = this.#branchesOf(this.#args[pc], this.#kinds[at]);
        const branch = ++stack[entry + 2];
        if (branch < branches.length) {
          this.#pc = branches[branch];
          this.#at = at;
          return true;
        }
      }
      memory.fail(memos[pc], at);
    }
    return false;
  }

  /**
   * Memoizes success of the stack in a body. Elsewhere the next match begins after this one. base: stack size at the
   * beginning of the run.
   */
  #accept(base: number, end: number, memory: Memory) {
    const { ops, memos } = this.#program;
    for (let entry = base; entry < this.#top && memory === this.#memories[1]; entry += ENTRY) {
      const [pc, at] = [this.#stack[entry], this.#stack[entry + 1]];
      const last = ops[pc] === OP.STAR ? this.#stack[entry + 2] : at;
      for (let from = at; from <= last; from++) memory.succeed(memos[pc], from, end);
    }
    this.#top = base;
    return end;
  }
}
