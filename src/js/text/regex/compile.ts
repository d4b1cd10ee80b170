// Compiles the syntax tree to a table of instructions for match.ts. The result of an instruction depends only on the
// position, not on the path to it, so that it can be memoized. Therefore counted repetitions are unrolled, and a body
// that can match the empty string is compiled twice, for iterations that have matched a character and for those that
// have not.

import { type CharacterSet, Characters } from './classes.ts';

import type { Look, Node, Repeat } from './parse.ts';

/** Maximum total cost of the instructions. A text of 100,000 characters takes up to about 1 ms per unit of cost. */
export const MAX_COST = 1000;
/** Cost of an instruction whose results are memoized. Other instructions cost 1. */
const COST_OF_MEMO = 4;
const COST_OF_BRANCH = 2;
const MAX_TIMES = 1000;
/** Maximum sets of a program. It is limited, because each new character of a text is tested with all of them. */
const MAX_SETS = 64;
const MAX_LOOKBEHIND = 255;

export const ACCEPT = 0;
/** Instruction that never matches. */
export const FAIL = 1;
/** Instructions that consume a certain character, or one of a set, forwards or backwards. */
export const LITERAL = 2;
export const LITERAL_BACK = 3;
export const SET = 4;
export const SET_BACK = 5;
/** Instructions that test whether the next or the previous character is (or is not) in a set, and consume nothing. */
export const NEXT = 6;
export const LAST = 7;
/** Lookahead or lookbehind, which tests whether a body matches, or whether it does not match. */
export const LOOK = 8;
/** The matcher does not backtrack into the body. Continues at `next` if it has consumed characters, else at `other`. */
export const ATOMIC = 9;
/** Instruction that tries several branches in order. */
export const SPLIT = 10;
/** Instruction that consumes as many characters of a set as possible. Backtracking releases them one by one. */
export const STAR = 11;
/** A point at which several branches continue. */
export const JOIN = 12;
/** The results of this opcode and of higher opcodes are memoized. */
const FIRST_MEMOIZED = SPLIT;

export type Program = {
  ops: Uint8Array;
  /** index of the literal, the set or the split; entry of the body of a LOOK or ATOMIC */
  args: Int32Array;
  nexts: Int32Array;
  /** for ATOMIC, the continuation if nothing was consumed; for LOOK, NEXT and LAST, 1 if negated */
  others: Int32Array;
  /** index of the memo of each instruction, −1 if the instruction has none */
  memos: Int32Array;
  /** 1 if the instruction is in the body of a LOOK or ATOMIC */
  inBody: Uint8Array;
  /** the branches of each split */
  splits: number[][];
  /** direction of each split */
  forwards: boolean[];
  literals: number[];
  sets: CharacterSet[];
  memoCounts: [main: number, body: number];
  entry: number;
  /** maximum distance of lookbehinds */
  lookbehind: number;
  cost: number;
};

const nullable: WeakMap<Node, boolean> = new WeakMap();

/** Returns true if a node can match the empty string. */
function isNullable(node: Node): boolean {
  let known = nullable.get(node);
  if (known === undefined) nullable.set(node, (known = computeNullable(node)));
  return known;
}

function computeNullable(node: Node): boolean {
  if (node.kind === 'literal' || node.kind === 'set') return false;
  if (node.kind === 'sequence') return node.parts.every(isNullable);
  if (node.kind === 'alternatives') return node.parts.some(isNullable);
  if (node.kind === 'repeat') return node.least === 0 || isNullable(node.one);
  return node.kind === 'look' || isNullable(node.one);
}

/** Returns true if a node compiles to no instruction. */
function isEmpty(node: Node): boolean {
  if (node.kind === 'sequence') return node.parts.every(isEmpty);
  return node.kind === 'repeat' && (node.most === 0 || isEmpty(node.one));
}

/** Returns the maximum number of characters that a node can match. */
function widthOf(node: Node): number {
  if (node.kind === 'literal' || node.kind === 'set') return 1;
  if (node.kind === 'sequence') return node.parts.reduce((sum, part) => sum + widthOf(part), 0);
  if (node.kind === 'alternatives') return node.parts.reduce((most, part) => Math.max(most, widthOf(part)), 0);
  if (node.kind === 'repeat') return widthOf(node.one) === 0 ? 0 : widthOf(node.one) * node.most;
  return node.kind === 'look' ? 0 : widthOf(node.one);
}

/**
 * taken, none: where to continue if the enclosing iteration has consumed characters, or none; back: matches backwards.
 */
export type After = { taken: number; none: number; back: boolean };

export function compile(tree: Node, fail: (reason: string) => Error): Program {
  return new Compiler(fail).compile(tree);
}

class Compiler {
  #fail: (reason: string) => Error;
  #ops: number[] = [];
  #args: number[] = [];
  #nexts: number[] = [];
  #others: number[] = [];
  #memos: number[] = [];
  #inBody: boolean[] = [];
  #splits: number[][] = [];
  #forwards: boolean[] = [];
  #literals: Map<number, number> = new Map();
  #sets: Map<string, { set: CharacterSet; index: number }> = new Map();
  #memoCounts: [main: number, body: number] = [0, 0];
  #bodies = 0;
  #behind = 0;
  #lookbehind = 0;
  #cost = 0;

  constructor(fail: (reason: string) => Error) {
    this.#fail = fail;
  }

  compile(tree: Node): Program {
    const accept = this.#emit(ACCEPT);
    this.#emit(FAIL);
    const entry = this.#compile(tree, { taken: accept, none: accept, back: false });
    return {
      ops: Uint8Array.from(this.#ops),
      args: Int32Array.from(this.#args),
      nexts: Int32Array.from(this.#nexts),
      others: Int32Array.from(this.#others),
      memos: Int32Array.from(this.#memos),
      inBody: Uint8Array.from(this.#inBody, Number),
      splits: this.#splits,
      forwards: this.#forwards,
      literals: [...this.#literals.keys()],
      sets: Array.from(this.#sets.values(), ({ set }) => set),
      memoCounts: this.#memoCounts,
      entry,
      lookbehind: this.#lookbehind,
      cost: this.#cost,
    };
  }

  #emit(op: number, arg = 0, next = 0, other = 0) {
    this.#cost += op >= FIRST_MEMOIZED ? COST_OF_MEMO : 1;
    if (this.#cost > MAX_COST) throw this.#fail('it is too large');
    const inBody = this.#bodies > 0;
    this.#memos.push(op >= FIRST_MEMOIZED ? this.#memoCounts[Number(inBody)]++ : -1);
    this.#inBody.push(inBody);
    this.#args.push(arg);
    this.#nexts.push(next);
    this.#others.push(other);
    return this.#ops.push(op) - 1;
  }

  #split(branches: number[], back: boolean) {
    this.#forwards.push(!back);
    this.#cost += COST_OF_BRANCH * branches.length;
    return this.#emit(SPLIT, this.#splits.push(branches) - 1);
  }

  #setOf(set: CharacterSet) {
    const known = this.#sets.get(set.key);
    if (known) return known.index;
    const index = this.#sets.size;
    if (index === MAX_SETS) throw this.#fail(`more than ${MAX_SETS} different sets of characters`);
    this.#sets.set(set.key, { set, index });
    return index;
  }

  #literalOf(code: number) {
    const index = this.#literals.get(code) ?? this.#literals.size;
    this.#literals.set(code, index);
    return index;
  }

  /** Shared by branches. Memoized, unless there is a memoized instruction at most two steps ahead. */
  #join(pc: number) {
    let at = pc;
    for (let plain = 0; plain < 2 && this.#ops[at] >= LITERAL && this.#ops[at] <= LAST; plain++) at = this.#nexts[at];
    const op = this.#ops[at];
    return op >= FIRST_MEMOIZED || op === ACCEPT || op === FAIL ? pc : this.#emit(JOIN, 0, pc);
  }

  #joined({ taken, none, back }: After): After {
    const first = this.#join(taken);
    return { taken: first, none: none === taken ? first : this.#join(none), back };
  }

  /** first instruction of the node */
  #compile(node: Node, after: After): number {
    if (node.kind === 'literal')
      return this.#emit(after.back ? LITERAL_BACK : LITERAL, this.#literalOf(node.code), after.taken);
    if (node.kind === 'set') return this.#emit(after.back ? SET_BACK : SET, this.#setOf(node.set), after.taken);
    if (node.kind === 'sequence') return this.#sequence(node.parts, after);
    if (node.kind === 'alternatives') return this.#alternatives(node.parts, after);
    if (node.kind === 'repeat') return this.#repeat(node, after);
    if (node.kind === 'look') return this.#look(node, after);
    if (after.back) throw this.#fail('an atomic group or a possessive repetition within a lookbehind');
    const body = this.#body(node.one, false);
    return this.#emit(ATOMIC, body, after.taken, after.none);
  }

  #sequence(parts: readonly Node[], after: After) {
    const { back } = after;
    let { taken, none } = after;
    // In reverse order, because each part needs the first instruction of the next.
    const order = back ? parts : [...parts].reverse();
    order.forEach((part, i) => {
      const both = taken === none || !isNullable(part);
      const entry = this.#compile(part, { taken, none: both ? taken : none, back });
      // The first part always begins when nothing has been consumed.
      const isFirst = i === parts.length - 1;
      taken = both || isFirst ? entry : this.#compile(part, { taken, none: taken, back });
      none = entry;
    });
    return none;
  }

  #alternatives(parts: readonly Node[], after: After) {
    const joined = this.#joined(after);
    return this.#split(
      parts.map((part) => this.#compile(part, joined)),
      after.back,
    );
  }

  #repeat(repeat: Repeat, after: After) {
    const { one, least, most } = repeat;
    if (isEmpty(repeat)) return after.none;
    if (least > MAX_TIMES || (most > MAX_TIMES && most !== Infinity))
      throw this.#fail(`a repetition of more than ${MAX_TIMES} times`);
    if (least > 0) {
      const rest = { ...repeat, least: 0, most: most - least };
      return this.#sequence([...new Array(least).fill(one), rest], after);
    }
    return most === Infinity ? this.#unlimited(repeat, after) : this.#limited(repeat, after);
  }

  /** Compiles a repetition without a maximum. */
  #unlimited({ one, lazy }: Repeat, { taken, none, back }: After) {
    const set = one.kind === 'set' ? one.set : one.kind === 'literal' ? new Characters([one.code]) : null;
    if (set && !lazy) {
      const index = this.#setOf(set);
      const star = this.#emit(STAR, index, taken);
      return taken === none ? star : this.#split([this.#emit(SET, index, star), none], back);
    }
    const branches: number[] = [];
    const again = this.#split(branches, back);
    /** Returns the branches to the body and to the end. An iteration that consumes nothing ends the repetition. */
    const branchesTo = (end: number) => {
      const inside = this.#compile(one, { taken: again, none: isNullable(one) ? end : again, back });
      return lazy ? [end, inside] : [inside, end];
    };
    branches.push(...branchesTo(taken));
    return taken === none ? again : this.#split(branchesTo(none), back);
  }

  /** Compiles a repetition with a maximum. */
  #limited({ one, most, lazy }: Repeat, after: After) {
    let rest = this.#joined(after);
    const { taken: end, none: start, back } = rest;
    for (let i = 0; i < most; i++) {
      const splitAt = (stop: number, next: After) => {
        const inside = this.#compile(one, next);
        return this.#split(lazy ? [stop, inside] : [inside, stop], back);
      };
      const { taken, none } = rest;
      const then = splitAt(end, { taken, none: taken, back });
      rest = { taken: then, none: start === end ? then : splitAt(start, { taken, none, back }), back };
    }
    return rest.none;
  }

  #look({ one, ahead, negated }: Look, { none }: After) {
    if (one.kind === 'set' || one.kind === 'literal') {
      const set = this.#setOf(one.kind === 'set' ? one.set : new Characters([one.code]));
      if (!ahead) this.#lookbehind = Math.max(this.#lookbehind, this.#behind + 1);
      return this.#emit(ahead ? NEXT : LAST, set, none, Number(negated));
    }
    const width = ahead ? 0 : widthOf(one);
    if (width > MAX_LOOKBEHIND) throw this.#fail(`a lookbehind of more than ${MAX_LOOKBEHIND} characters`);
    this.#behind += width;
    this.#lookbehind = Math.max(this.#lookbehind, this.#behind);
    const body = this.#body(one, !ahead);
    this.#behind -= width;
    return this.#emit(LOOK, body, none, Number(negated));
  }

  /** Compiles the body of a LOOK or ATOMIC, which ends with an ACCEPT of its own. */
  #body(one: Node, back: boolean) {
    this.#bodies++;
    const accept = this.#emit(ACCEPT);
    const entry = this.#compile(one, { taken: accept, none: accept, back });
    this.#bodies--;
    return entry;
  }
}
