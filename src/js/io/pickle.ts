// Reads the pickles in which torch.save describes tensors. Nothing in the file is executed: the reader knows only the
// opcodes of the table below and the globals that the caller lists, whose functions a call runs, and refuses others by
// name. Time and memory are linear in the length of the pickle.

import { HeadlightError } from '../check/errors.ts';
import { quote } from '../check/quote.ts';

export class Global {
  declare dtype: string | undefined;
  declare call: ((args: unknown[]) => unknown) | undefined;

  /** dtype: element type, if the object is a type; call: implementation, if the object is a function */
  constructor(dtype?: string, call?: (args: unknown[]) => unknown) {
    this.dtype = dtype;
    this.call = call;
  }
}

/**
 * globals: by module and name, separated by a space. persistent: returns the object of a persistent id. format: for
 * errors.
 */
export type Meaning = { globals: ReadonlyMap<string, Global>; persistent: (id: unknown) => unknown; format: string };

/** Enough for 240,000 tensors. These limits also bound the memory for values that take one byte in the file. */
const MAX_STEPS = 2 ** 23;
const MAX_CONTAINERS = 2 ** 21;
const MAX_PROTOCOL = 5;
const NEWLINE = 10;
const EMPTY: readonly unknown[] = Object.freeze([]);

export class Truncated extends HeadlightError {}

/**
 * Reads the pickle at `at`; returns its value and end. Dicts are Maps, lists and tuples arrays, integers beyond 2⁵³
 * BigInt.
 */
export function readPickle(
  caller: string,
  bytes: Uint8Array,
  at: number,
  meaning: Meaning,
): { value: unknown; end: number } {
  const reader = new Reader(caller, bytes, at, meaning);
  return { value: reader.read(), end: reader.at };
}

class Reader {
  declare caller: string;
  declare bytes: Uint8Array;
  declare view: DataView<ArrayBufferLike>;
  declare at: number;
  declare meaning: Meaning;

  stack: unknown[] = [];
  /** Lengths of the stack at each MARK. */
  marks: number[] = [];
  memo: Map<number, unknown> = new Map();
  #containers = 0;
  #text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  constructor(caller: string, bytes: Uint8Array, at: number, meaning: Meaning) {
    this.caller = caller;
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = at;
    this.meaning = meaning;
  }

  read() {
    for (let steps = 0; ; steps++) {
      if (steps === MAX_STEPS) throw this.error(`has more than ${MAX_STEPS} opcodes`);
      const code = this.bytes[this.take(1)];
      if (code === STOP) break;
      const run = RUN[code];
      if (!run) throw this.error(`has the opcode ${nameOf(code)} at byte ${this.at - 1}, which weights do not need`);
      run(this);
    }
    return this.pop();
  }

  error(reason: string) {
    return new HeadlightError('FORMAT', `${this.caller}: the pickle ${reason}`, { parameter: 'bytes' });
  }

  take(count: number): number {
    const from = this.at;
    if (count > this.bytes.length - from)
      throw new Truncated('FORMAT', `${this.caller}: the pickle is truncated at byte ${this.bytes.length}`, {
        parameter: 'bytes',
      });
    this.at += count;
    return from;
  }

  string(length: number) {
    const from = this.take(length);
    try {
      // A copy, because TextDecoder refuses shared memory.
      return this.#text.decode(this.bytes.slice(from, this.at));
    } catch {
      throw this.error(`has a string at byte ${from} that is not UTF-8`);
    }
  }

  line() {
    const end = this.bytes.indexOf(NEWLINE, this.at);
    const text = this.string(end < 0 ? Infinity : end - this.at);
    this.take(1);
    return text;
  }

  pop() {
    if (this.stack.length <= (this.marks.at(-1) ?? 0)) throw this.error(`needs a value before byte ${this.at}`);
    return this.stack.pop();
  }

  popMany(count: number): unknown[] {
    const from = this.stack.length - count;
    if (from < (this.marks.at(-1) ?? 0)) throw this.error(`needs ${count} values before byte ${this.at}`);
    return this.stack.splice(from);
  }

  /** Pops the values since the last MARK. */
  popMarked(): unknown[] {
    const mark = this.marks.pop();
    if (mark === undefined) throw this.error(`has no MARK before byte ${this.at}`);
    return this.stack.splice(mark);
  }

  /** Returns the value on top of the stack without popping it. Opcodes change this value. */
  top() {
    const value = this.pop();
    this.stack.push(value);
    return value;
  }

  counted<T>(container: T): T {
    if (++this.#containers > MAX_CONTAINERS)
      throw this.error(`has more than ${MAX_CONTAINERS} tuples, lists and dicts`);
    return container;
  }

  get(index: number) {
    if (!this.memo.has(index))
      throw this.error(`refers to the memo entry ${index}, which does not exist, before byte ${this.at}`);
    this.stack.push(this.memo.get(index));
  }

  /** pairs: key, value, key, value … */
  setItems(pairs: unknown[]) {
    const dict = this.top();
    if (!(dict instanceof Map) || pairs.length % 2 > 0) throw this.error(`sets items of a non-dict at byte ${this.at}`);
    for (let i = 0; i < pairs.length; i += 2) dict.set(pairs[i], pairs[i + 1]);
  }

  append(items: unknown[]) {
    const list = this.top();
    if (!Array.isArray(list) || Object.isFrozen(list)) throw this.error(`appends to a non-list at byte ${this.at}`);
    for (const item of items) list.push(item);
  }

  global(module: unknown, name: unknown) {
    if (typeof module !== 'string' || typeof name !== 'string')
      throw this.error(`identifies a global by a value that is not a string before byte ${this.at}`);
    const found = this.meaning.globals.get(`${module} ${name}`);
    const { format } = this.meaning;
    if (!found) throw this.error(`needs the global ${quote(`${module}.${name}`)}, which is not part of ${format}`);
    this.stack.push(found);
  }

  reduce() {
    const args = this.pop();
    const callee = this.pop();
    if (!(callee instanceof Global) || !callee.call || !Array.isArray(args))
      throw this.error(`calls a value that is not a function at byte ${this.at - 1}`);
    this.stack.push(this.counted(callee.call(args)));
  }

  /** Ignores the attributes of a dict, such as _metadata of a state_dict, because they are no weights. */
  build() {
    this.pop();
    if (!(this.top() instanceof Map)) throw this.error(`sets attributes of a non-dict at byte ${this.at - 1}`);
  }

  integer(length: number): number | bigint {
    const from = this.take(length);
    let hex = '';
    for (let i = this.at - 1; i >= from; i--) hex += this.bytes[i].toString(16).padStart(2, '0');
    const value = BigInt.asIntN(8 * length, BigInt(`0x${hex || 0}`));
    return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  }

  /** Reads the length of a value, which follows the opcode in 8 bytes. */
  length8() {
    return Number(this.view.getBigUint64(this.take(8), true));
  }
}

/** Returns the function of an opcode that pushes the value that `make` returns. */
const push =
  (make: (r: Reader) => unknown): ((r: Reader) => void) =>
  (r) => {
    r.stack.push(make(r));
  };
const tuple = (count: number) => push((r) => r.counted(r.popMany(count)));
const uint1 = (r: Reader) => r.bytes[r.take(1)];
const uint2 = (r: Reader) => r.view.getUint16(r.take(2), true);
const uint4 = (r: Reader) => r.view.getUint32(r.take(4), true);

const STOP = 0x2e;
/** The opcodes that pickles of weights use, with their names in pickletools. */
const OPCODES: [number, string, (r: Reader) => void][] = [
  [0x80, 'PROTO', checkProtocol],
  [0x95, 'FRAME', (r) => void r.length8()],
  [0x28, 'MARK', (r) => void r.marks.push(r.stack.length)],
  [0x4e, 'NONE', push(() => null)],
  [0x88, 'NEWTRUE', push(() => true)],
  [0x89, 'NEWFALSE', push(() => false)],
  [0x4a, 'BININT', push((r) => r.view.getInt32(r.take(4), true))],
  [0x4b, 'BININT1', push(uint1)],
  [0x4d, 'BININT2', push(uint2)],
  [0x8a, 'LONG1', push((r) => r.integer(uint1(r)))],
  [0x47, 'BINFLOAT', push((r) => r.view.getFloat64(r.take(8)))],
  [0x58, 'BINUNICODE', push((r) => r.string(uint4(r)))],
  [0x8c, 'SHORT_BINUNICODE', push((r) => r.string(uint1(r)))],
  // Files of Python 2 contain names as byte strings.
  [0x55, 'SHORT_BINSTRING', push((r) => r.string(uint1(r)))],
  [0x7d, 'EMPTY_DICT', push((r) => r.counted(new Map()))],
  [0x5d, 'EMPTY_LIST', push((r) => r.counted([]))],
  [0x29, 'EMPTY_TUPLE', push(() => EMPTY)],
  [0x74, 'TUPLE', push((r) => r.counted(r.popMarked()))],
  [0x85, 'TUPLE1', tuple(1)],
  [0x86, 'TUPLE2', tuple(2)],
  [0x87, 'TUPLE3', tuple(3)],
  [0x61, 'APPEND', (r) => r.append([r.pop()])],
  [0x65, 'APPENDS', (r) => r.append(r.popMarked())],
  [0x73, 'SETITEM', (r) => r.setItems(r.popMany(2))],
  [0x75, 'SETITEMS', (r) => r.setItems(r.popMarked())],
  [0x71, 'BINPUT', (r) => void r.memo.set(uint1(r), r.top())],
  [0x72, 'LONG_BINPUT', (r) => void r.memo.set(uint4(r), r.top())],
  [0x94, 'MEMOIZE', (r) => void r.memo.set(r.memo.size, r.top())],
  [0x68, 'BINGET', (r) => r.get(uint1(r))],
  [0x6a, 'LONG_BINGET', (r) => r.get(uint4(r))],
  [0x63, 'GLOBAL', (r) => r.global(r.line(), r.line())],
  [0x93, 'STACK_GLOBAL', (r) => r.global(...(r.popMany(2) as [unknown, unknown]))],
  [0x52, 'REDUCE', (r) => r.reduce()],
  [0x62, 'BUILD', (r) => r.build()],
  [0x51, 'BINPERSID', push((r) => r.meaning.persistent(r.pop()))],
];
const RUN: ((r: Reader) => void)[] = [];
for (const [code, , run] of OPCODES) RUN[code] = run;

const OTHERS: Record<string, string> = {
  ...{ 0: 'POP', 1: 'POP_MARK', 2: 'DUP', F: 'FLOAT', I: 'INT', L: 'LONG', S: 'STRING', V: 'UNICODE', P: 'PERSID' },
  ...{ g: 'GET', p: 'PUT', d: 'DICT', l: 'LIST', i: 'INST', o: 'OBJ', T: 'BINSTRING', B: 'BINBYTES' },
  ...{ C: 'SHORT_BINBYTES', '\x81': 'NEWOBJ', '\x82': 'EXT1', '\x83': 'EXT2', '\x84': 'EXT4', '\x8b': 'LONG4' },
  ...{ '\x8d': 'BINUNICODE8', '\x8e': 'BINBYTES8', '\x8f': 'EMPTY_SET', '\x90': 'ADDITEMS', '\x91': 'FROZENSET' },
  ...{ '\x92': 'NEWOBJ_EX', '\x96': 'BYTEARRAY8', '\x97': 'NEXT_BUFFER', '\x98': 'READONLY_BUFFER' },
};

const nameOf = (code: number) => OTHERS[String.fromCharCode(code)] ?? `0x${code.toString(16).padStart(2, '0')}`;

function checkProtocol(r: Reader) {
  const protocol = uint1(r);
  if (protocol > MAX_PROTOCOL) throw r.error(`has protocol ${protocol}, expected at most ${MAX_PROTOCOL}`);
}
