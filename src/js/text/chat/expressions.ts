// Parses the expressions of a chat template.

import type { Token } from './lexer.ts';
import { TemplateError } from './templateError.ts';
import { float } from './values.ts';

/** A node of the tree. The fields depend on the kind, see render.ts and evaluate.ts. */
export type Node = { kind: string; line: number; [field: string]: any };
/** A variable, a field of a namespace, or several targets, which take the items of a list. */
export type Target = { name: string; field?: string; parts?: Target[] };
/** The arguments of a call. `spread` is a list of more arguments, `spreadNamed` a dictionary of them. */
export type Given = { positional: Node[]; named: [string, Node][]; spread?: Node; spreadNamed?: Node };
export type Filter = { name: string; line: number } & Given;

/** Maximum depth of nested expressions and statements. */
const MAX_DEPTH = 200;
const COMPARISONS = ['==', '!=', '<', '<=', '>', '>='];
const CONSTANTS = new Map([
  ...['true', 'True'].map((name) => [name, true] as const),
  ...['false', 'False'].map((name) => [name, false] as const),
  ...['none', 'None'].map((name) => [name, null] as const),
]);
/** Words that cannot begin the argument of a test without parentheses. */
const NOT_ARGUMENTS = ['else', 'or', 'and', 'in', 'if', 'not', 'recursive'];

export class ExpressionParser {
  #tokens: Token[];
  #at = 0;
  #depth = 0;
  /** Names of the variables that the current macro reads. */
  variables: Set<string> = new Set();

  constructor(tokens: Token[]) {
    this.#tokens = tokens;
  }

  get #token(): Token {
    const last = this.#tokens.at(-1)?.line ?? 1;
    return this.#tokens[this.#at] ?? { kind: 'close', value: 'the end of the template', line: last };
  }

  /** Consumes a token. returns undefined at the end. */
  next(): Token | undefined {
    return this.#tokens[this.#at++];
  }

  is(value: string, kinds: Token['kind'][] = ['sign', 'name']) {
    return this.#token.value === value && kinds.includes(this.#token.kind);
  }

  /** Consumes the next token if it is this sign or word. */
  take(value: string) {
    if (!this.is(value)) return false;
    this.#at++;
    return true;
  }

  expect(value: string) {
    if (!this.is(value, ['sign', 'name', 'close'])) throw this.unexpected(`expected ${value}`);
    this.#at++;
  }

  name() {
    const { kind, value } = this.#token;
    if (kind !== 'name') throw this.unexpected('expected a name');
    this.#at++;
    return value;
  }

  unexpected(expected: string) {
    return new TemplateError(this.#token.line, `unexpected ${JSON.stringify(this.#token.value)}, ${expected}`);
  }

  nested<T>(read: () => T): T {
    if (++this.#depth > MAX_DEPTH) throw new TemplateError(this.#token.line, `more than ${MAX_DEPTH} nested parts`);
    const result = read();
    this.#depth--;
    return result;
  }

  /** Parses an expression. Several expressions with commas between them are a tuple. */
  tuple(): Node {
    const { line } = this.#token;
    const first = this.expression();
    if (!this.is(',')) return first;
    return { kind: 'tuple', items: [first, ...this.#rest()], line };
  }

  listUntilClose() {
    return [this.expression(), ...this.#rest()];
  }

  #rest() {
    const items: Node[] = [];
    while (this.take(',') && this.#token.kind !== 'close') items.push(this.expression());
    return items;
  }

  /** Parses the list of a loop, after which `if` begins the condition of the loop. */
  withoutChoice(): Node {
    const { line } = this.#token;
    const items = [this.#or()];
    while (this.take(',')) items.push(this.#or());
    return items.length > 1 ? { kind: 'tuple', items, line } : items[0];
  }

  expression(): Node {
    return this.nested(() => {
      const value = this.#or();
      const { line } = this.#token;
      if (!this.take('if')) return value;
      const test = this.#or();
      const other = this.take('else') ? this.expression() : undefined;
      return { kind: 'choice', test, value, other, line };
    });
  }

  /** Parses operators of one level. next: parses the operands. */
  #chain(signs: string[], next: () => Node, make: (sign: string, left: Node, right: Node, line: number) => Node) {
    let left = next();
    for (;;) {
      const { line } = this.#token;
      const sign = signs.find((one) => this.take(one));
      if (!sign) return left;
      left = make(sign, left, next(), line);
    }
  }

  #binary(signs: string[], next: () => Node) {
    return this.#chain(signs, next, (sign, left, right, line) => ({ kind: 'binary', sign, left, right, line }));
  }

  #or(): Node {
    const and = () =>
      this.#chain(
        ['and'],
        () => this.#not(),
        (_, left, right, line) => ({ kind: 'and', left, right, line }),
      );
    return this.#chain(['or'], and, (_, left, right, line) => ({ kind: 'or', left, right, line }));
  }

  #not(): Node {
    const { line } = this.#token;
    if (this.take('not')) return this.nested(() => ({ kind: 'not', value: this.#not(), line }));
    return this.#comparison();
  }

  #comparison(): Node {
    const first = this.#sum();
    const others: { sign: string; right: Node }[] = [];
    const { line } = this.#token;
    for (;;) {
      const sign = COMPARISONS.find((one) => this.is(one, ['sign']));
      if (sign) this.#at++;
      const isNotIn = !sign && this.is('not') && this.#tokens[this.#at + 1]?.value === 'in';
      if (isNotIn) this.#at++;
      const word = sign ?? (this.take('in') ? (isNotIn ? 'not in' : 'in') : undefined);
      if (!word) return others.length > 0 ? { kind: 'compare', first, others, line } : first;
      others.push({ sign: word, right: this.#sum() });
    }
  }

  #sum() {
    return this.#binary(['+', '-'], () => this.#texts());
  }

  /** Parses ~, which joins texts. */
  #texts(): Node {
    const { line } = this.#token;
    const product = () => this.#binary(['*', '/', '//', '%'], () => this.#binary(['**'], () => this.#unary()));
    const items = [product()];
    while (this.take('~')) items.push(product());
    return items.length > 1 ? { kind: 'texts', items, line } : items[0];
  }

  #unary(withFilters = true): Node {
    const { line } = this.#token;
    const sign = ['-', '+'].find((one) => this.take(one));
    const value = this.#postfix(
      sign ? { kind: 'signed', sign, value: this.nested(() => this.#unary(false)), line } : this.#primary(),
    );
    return withFilters ? this.#filters(value) : value;
  }

  #primary(): Node {
    const { kind, value, line } = this.#token;
    this.#at++;
    if (kind === 'string') {
      let text = value;
      for (; this.#token.kind === 'string'; this.#at++) text += this.#token.value;
      return { kind: 'constant', value: text, line };
    }
    if (kind === 'number') return { kind: 'constant', value: numberOf(value, line), line };
    if (kind === 'name') {
      if (CONSTANTS.has(value)) return { kind: 'constant', value: CONSTANTS.get(value), line };
      this.variables.add(value);
      return { kind: 'variable', name: value, line };
    }
    if (kind === 'sign' && value === '(') return this.#parenthesis(line);
    if (kind === 'sign' && value === '[') return { kind: 'list', items: this.#items(']'), line };
    if (kind === 'sign' && value === '{') return this.#dictionary(line);
    this.#at--;
    throw this.unexpected('expected an expression');
  }

  /** Parses a value in parentheses, or a tuple. */
  #parenthesis(line: number): Node {
    if (this.take(')')) return { kind: 'tuple', items: [], line };
    const first = this.expression();
    if (this.take(')')) return first;
    this.expect(',');
    return { kind: 'tuple', items: [first, ...this.#items(')')], line };
  }

  /** Parses expressions with commas between them, up to a sign. */
  #items(end: string) {
    const items: Node[] = [];
    while (!this.take(end)) {
      items.push(this.expression());
      if (!this.is(end)) this.expect(',');
    }
    return items;
  }

  #dictionary(line: number): Node {
    const entries: [Node, Node][] = [];
    while (!this.take('}')) {
      const key = this.expression();
      this.expect(':');
      entries.push([key, this.expression()]);
      if (!this.is('}')) this.expect(',');
    }
    return { kind: 'dictionary', entries, line };
  }

  /** Parses fields, indices and calls after a value. */
  #postfix(first: Node): Node {
    for (let value = first; ; ) {
      const { line } = this.#token;
      if (this.take('.')) value = { kind: 'field', value, key: this.#key(line), dotted: true, line };
      else if (this.take('[')) value = this.#index(value, line);
      else if (this.take('(')) value = { kind: 'call', value, ...this.#arguments(), line };
      else return value;
    }
  }

  /** Parses the name or number after a dot. */
  #key(line: number): Node {
    const { kind, value } = this.#token;
    if (kind !== 'name' && kind !== 'number') throw this.unexpected('expected a name');
    this.#at++;
    return { kind: 'constant', value: kind === 'number' ? numberOf(value, line) : value, line };
  }

  /** Parses an index or a slice. */
  #index(value: Node, line: number): Node {
    const parts: (Node | undefined)[] = [undefined];
    while (!this.take(']')) {
      if (this.take(':')) parts.push(undefined);
      else if (parts.at(-1)) throw this.unexpected('expected ]');
      else parts[parts.length - 1] = this.tuple();
    }
    if (parts.length === 1 && parts[0]) return { kind: 'field', value, key: parts[0], line };
    if (parts.length < 2 || parts.length > 3) throw new TemplateError(line, 'an index is expected in brackets');
    return { kind: 'slice', value, parts, line };
  }

  /** Parses the arguments of a call, after the opening parenthesis. */
  #arguments(): Given {
    const given: Given = { positional: [], named: [] };
    while (!this.take(')')) {
      const next = this.#tokens[this.#at + 1];
      if (this.take('*')) given.spread = this.expression();
      else if (this.take('**')) given.spreadNamed = this.expression();
      else if (this.#token.kind === 'name' && next?.kind === 'sign' && next.value === '=') {
        const name = this.name();
        this.expect('=');
        given.named.push([name, this.expression()]);
      } else if (given.named.length > 0) throw this.unexpected('expected an argument with a name');
      else given.positional.push(this.expression());
      if (!this.is(')')) this.expect(',');
    }
    return given;
  }

  /** Parses filters with | between them, after the first |. */
  filterChain(): Filter[] {
    const chain: Filter[] = [];
    do chain.push(this.#filter());
    while (this.take('|'));
    return chain;
  }

  #filter(): Filter {
    const { line } = this.#token;
    const name = this.name();
    return { name, line, ...(this.take('(') ? this.#arguments() : { positional: [], named: [] }) };
  }

  /** Parses filters and tests after a value. */
  #filters(first: Node): Node {
    for (let value = first; ; ) {
      const { line } = this.#token;
      if (this.take('|')) value = { kind: 'filter', value, ...this.#filter() };
      else if (this.take('is')) value = this.#test(value, line);
      else if (this.take('(')) value = { kind: 'call', value, ...this.#arguments(), line };
      else return value;
    }
  }

  #test(value: Node, line: number): Node {
    const isNot = this.take('not');
    const name = this.name();
    const given = this.take('(') ? this.#arguments() : { positional: this.#testArgument(), named: [] };
    const test: Node = { kind: 'test', name, value, ...given, line };
    return isNot ? { kind: 'not', value: test, line } : test;
  }

  /** Parses the argument of a test without parentheses, if there is one. */
  #testArgument(): Node[] {
    const { kind, value } = this.#token;
    if (kind === 'name' && value === 'is') throw this.unexpected('two tests need parentheses');
    const begins =
      ['string', 'number'].includes(kind) ||
      (kind === 'name' && !NOT_ARGUMENTS.includes(value)) ||
      (kind === 'sign' && ['[', '{'].includes(value));
    return begins ? [this.#postfix(this.#primary())] : [];
  }
}

function numberOf(written: string, line: number) {
  const value = Number(written.replaceAll('_', ''));
  if (/^0[xob]/i.test(written) || !/[.e]/i.test(written)) {
    if (Number.isSafeInteger(value)) return value;
    throw new TemplateError(line, `the integer ${written.slice(0, 40)} is beyond 2^53`);
  }
  return float(value);
}
