// Parses a chat template to a syntax tree.

import { tokenize } from './lexer.js';
import { TemplateError } from './templateError.js';

/** @import { Token } from './lexer.js' */

/**
 * A node of the tree. The fields depend on the kind, see render.js.
 * @typedef {{ kind: string, line: number, [field: string]: any }} Node
 */

/** Maximum depth of nested expressions and statements. */
const MAX_DEPTH = 200;
/** Binary operators in the order of precedence, the lowest first. ~ joins texts. */
const LEVELS = [['+', '-'], ['~'], ['*', '/', '//', '%']];
const COMPARISONS = ['==', '!=', '<', '<=', '>', '>='];
const CONSTANTS = /** @type {Record<string, boolean | null>} */ ({
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
});
/** Words that cannot begin the argument of a test without parentheses. */
const NOT_ARGUMENTS = ['else', 'or', 'and', 'is', 'in', 'if', 'not'];

/** @param {string} template @returns {Node[]} */
export function parse(template) {
  const parser = new Parser(tokenize(template));
  return parser.block([]);
}

class Parser {
  #tokens;
  #at = 0;
  #depth = 0;

  /** @param {Token[]} tokens */
  constructor(tokens) {
    this.#tokens = tokens;
  }

  /** @returns {Token} */
  get #token() {
    const last = this.#tokens.at(-1)?.line ?? 1;
    return this.#tokens[this.#at] ?? { kind: 'close', value: 'the end of the template', line: last };
  }

  /** @param {string} value @param {Token['kind'][]} kinds */
  #is(value, kinds = ['sign', 'name']) {
    return this.#token.value === value && kinds.includes(this.#token.kind);
  }

  /** Consumes the next token if it is this sign or word. @param {string} value */
  #take(value) {
    if (!this.#is(value)) return false;
    this.#at++;
    return true;
  }

  /** @param {string} value @param {Token['kind'][]} [kinds] */
  #expect(value, kinds = ['sign', 'name', 'close']) {
    if (!this.#is(value, kinds)) throw this.#unexpected(`expected ${value}`);
    this.#at++;
  }

  #name() {
    const { kind, value } = this.#token;
    if (kind !== 'name') throw this.#unexpected('expected a name');
    this.#at++;
    return value;
  }

  /** @param {string} expected */
  #unexpected(expected) {
    return new TemplateError(this.#token.line, `unexpected ${JSON.stringify(this.#token.value)}, ${expected}`);
  }

  /** @template T @param {() => T} read @returns {T} */
  #nested(read) {
    if (++this.#depth > MAX_DEPTH) throw new TemplateError(this.#token.line, `more than ${MAX_DEPTH} nested parts`);
    const result = read();
    this.#depth--;
    return result;
  }

  /**
   * Parses nodes up to one of the ending statements. Consumes the opening sign of the ending statement's tag, but not
   * the name of the statement.
   * @param {string[]} ends
   * @returns {Node[]}
   */
  block(ends) {
    return this.#nested(() => {
      /** @type {Node[]} */
      const nodes = [];
      while (this.#at < this.#tokens.length) {
        const { kind, value, line } = this.#token;
        this.#at++;
        if (kind === 'text') nodes.push({ kind: 'text', value, line });
        else if (value === '{{') {
          nodes.push({ kind: 'output', value: this.#expression(), line });
          this.#expect('}}');
        } else {
          if (ends.includes(this.#token.value)) return nodes;
          nodes.push(this.#statement(line));
        }
      }
      if (ends.length > 0) throw this.#unexpected(`expected ${ends.join(' or ')}`);
      return nodes;
    });
  }

  /** Consumes the end of a statement's tag. */
  #close() {
    this.#expect('%}');
  }

  /** Parses the body of a statement up to its end statement. @param {string} end */
  #bodyUntil(end) {
    this.#close();
    const body = this.block([end]);
    this.#expect(end);
    this.#close();
    return body;
  }

  /** @param {number} line @returns {Node} */
  #statement(line) {
    const name = this.#name();
    if (name === 'if') return this.#if(line);
    if (name === 'for') return this.#for(line);
    if (name === 'set') return this.#set(line);
    if (name === 'macro') return this.#macro(line);
    // This statement marks the answers of the model for training. It does not change the text.
    if (name === 'generation') return { kind: 'group', body: this.#bodyUntil('endgeneration'), line };
    if (name === 'break' || name === 'continue') {
      this.#close();
      return { kind: name, line };
    }
    throw new TemplateError(line, `the statement ${JSON.stringify(name)} is not supported`);
  }

  /** @param {number} line @returns {Node} */
  #if(line) {
    const test = this.#expression();
    this.#close();
    const body = this.block(['elif', 'else', 'endif']);
    if (this.#take('elif')) return { kind: 'if', test, body, other: [this.#if(line)], line };
    /** @type {Node[]} */
    let other = [];
    if (this.#take('else')) {
      this.#close();
      other = this.block(['endif']);
    }
    this.#expect('endif');
    this.#close();
    return { kind: 'if', test, body, other, line };
  }

  /** @param {number} line @returns {Node} */
  #for(line) {
    const names = this.#names();
    this.#expect('in');
    const list = this.#or();
    const test = this.#take('if') ? this.#expression() : undefined;
    if (this.#is('recursive')) throw this.#unexpected('recursive loops are not supported');
    this.#close();
    const body = this.block(['else', 'endfor']);
    /** @type {Node[]} */
    let other = [];
    if (this.#take('else')) {
      this.#close();
      other = this.block(['endfor']);
    }
    this.#expect('endfor');
    this.#close();
    return { kind: 'for', names, list, test, body, other, line };
  }

  /** Parses the names to which a loop or an assignment assigns values. */
  #names() {
    const inside = this.#take('(');
    const names = [this.#name()];
    while (this.#take(',')) names.push(this.#name());
    if (inside) this.#expect(')');
    return names;
  }

  /** @param {number} line @returns {Node} */
  #set(line) {
    const [name, ...others] = this.#names();
    const field = others.length === 0 && this.#take('.') ? this.#name() : undefined;
    if (this.#take('=')) {
      const value = this.#tuple();
      this.#close();
      return { kind: 'set', names: [name, ...others], field, value, line };
    }
    if (this.#is('|')) throw this.#unexpected('a filter of a block is not supported');
    return { kind: 'setBlock', names: [name], field, body: this.#bodyUntil('endset'), line };
  }

  /** @param {number} line @returns {Node} */
  #macro(line) {
    const name = this.#name();
    this.#expect('(');
    /** @type {{ name: string, standard?: Node }[]} */
    const parameters = [];
    while (!this.#take(')')) {
      if (parameters.length > 0) this.#expect(',');
      parameters.push({ name: this.#name(), standard: this.#take('=') ? this.#expression() : undefined });
    }
    return { kind: 'macro', name, parameters, body: this.#bodyUntil('endmacro'), line };
  }

  /** Parses an expression. Several expressions with commas between them are a list. @returns {Node} */
  #tuple() {
    const { line } = this.#token;
    const first = this.#expression();
    if (!this.#is(',')) return first;
    const items = [first];
    while (this.#take(',')) items.push(this.#expression());
    return { kind: 'list', items, line };
  }

  /** @returns {Node} */
  #expression() {
    return this.#nested(() => {
      const value = this.#or();
      const { line } = this.#token;
      if (!this.#take('if')) return value;
      const test = this.#or();
      const other = this.#take('else') ? this.#expression() : undefined;
      return { kind: 'choice', test, value, other, line };
    });
  }

  /** @returns {Node} */
  #or() {
    let left = this.#and();
    for (let { line } = this.#token; this.#take('or'); line = this.#token.line)
      left = { kind: 'or', left, right: this.#and(), line };
    return left;
  }

  /** @returns {Node} */
  #and() {
    let left = this.#not();
    for (let { line } = this.#token; this.#take('and'); line = this.#token.line)
      left = { kind: 'and', left, right: this.#not(), line };
    return left;
  }

  /** @returns {Node} */
  #not() {
    const { line } = this.#token;
    if (this.#take('not')) return this.#nested(() => ({ kind: 'not', value: this.#not(), line }));
    return this.#comparison();
  }

  /** @returns {Node} */
  #comparison() {
    const first = this.#binary(0);
    /** @type {{ sign: string, right: Node }[]} */
    const others = [];
    const { line } = this.#token;
    for (;;) {
      const sign = COMPARISONS.find((one) => this.#is(one, ['sign']));
      if (sign) this.#at++;
      const isNotIn = !sign && this.#is('not') && this.#tokens[this.#at + 1]?.value === 'in';
      if (isNotIn) this.#at++;
      const word = sign ?? (this.#take('in') ? (isNotIn ? 'not in' : 'in') : undefined);
      if (!word) return others.length > 0 ? { kind: 'compare', first, others, line } : first;
      others.push({ sign: word, right: this.#binary(0) });
    }
  }

  /** @param {number} level @returns {Node} */
  #binary(level) {
    const next = () => (level + 1 < LEVELS.length ? this.#binary(level + 1) : this.#power());
    let left = next();
    for (;;) {
      const { line } = this.#token;
      const sign = LEVELS[level].find((one) => this.#take(one));
      if (!sign) return left;
      left = { kind: 'binary', sign, left, right: next(), line };
    }
  }

  /** @returns {Node} */
  #power() {
    let left = this.#unary();
    for (let { line } = this.#token; this.#take('**'); line = this.#token.line)
      left = { kind: 'binary', sign: '**', left, right: this.#unary(), line };
    return left;
  }

  /** @returns {Node} */
  #unary(withFilters = true) {
    const { line } = this.#token;
    /** @type {Node} */
    let value;
    if (this.#take('-')) value = { kind: 'negative', value: this.#nested(() => this.#unary(false)), line };
    else if (this.#take('+')) value = this.#nested(() => this.#unary(false));
    else value = this.#postfix(this.#primary());
    return withFilters ? this.#filters(value) : value;
  }

  /** @returns {Node} */
  #primary() {
    const { kind, value, line } = this.#token;
    this.#at++;
    if (kind === 'string') {
      let text = value;
      for (; this.#token.kind === 'string'; this.#at++) text += this.#token.value;
      return { kind: 'constant', value: text, line };
    }
    if (kind === 'number') return { kind: 'constant', value: Number(value), line };
    if (kind === 'name')
      return Object.hasOwn(CONSTANTS, value)
        ? { kind: 'constant', value: CONSTANTS[value], line }
        : { kind: 'variable', name: value, line };
    if (kind === 'sign' && value === '(') {
      if (this.#take(')')) return { kind: 'list', items: [], line };
      return this.#parenthesis(line);
    }
    if (kind === 'sign' && value === '[') return { kind: 'list', items: this.#items(']'), line };
    if (kind === 'sign' && value === '{') return this.#dictionary(line);
    this.#at--;
    throw this.#unexpected('expected an expression');
  }

  /** Parses a value in parentheses, or a tuple. @param {number} line @returns {Node} */
  #parenthesis(line) {
    const first = this.#expression();
    if (this.#take(')')) return first;
    this.#expect(',');
    return { kind: 'list', items: [first, ...this.#items(')')], line };
  }

  /** Parses expressions with commas between them, up to a sign. @param {string} end */
  #items(end) {
    /** @type {Node[]} */
    const items = [];
    while (!this.#take(end)) {
      items.push(this.#expression());
      if (!this.#is(end)) this.#expect(',');
    }
    return items;
  }

  /** @param {number} line @returns {Node} */
  #dictionary(line) {
    /** @type {[Node, Node][]} */
    const entries = [];
    while (!this.#take('}')) {
      const key = this.#expression();
      this.#expect(':');
      entries.push([key, this.#expression()]);
      if (!this.#is('}')) this.#expect(',');
    }
    return { kind: 'dictionary', entries, line };
  }

  /** Parses fields, indices and calls after a value. @param {Node} value @returns {Node} */
  #postfix(value) {
    const { line } = this.#token;
    if (this.#take('.')) {
      const { kind, value: name } = this.#token;
      if (kind !== 'name' && kind !== 'number') throw this.#unexpected('expected a name');
      this.#at++;
      const key = { kind: 'constant', value: kind === 'number' ? Number(name) : name, line };
      return this.#postfix({ kind: 'field', value, key, dotted: true, line });
    }
    if (this.#take('[')) return this.#postfix(this.#index(value, line));
    if (this.#take('(')) return this.#postfix({ kind: 'call', value, ...this.#arguments(), line });
    return value;
  }

  /** Parses an index or a slice. @param {Node} value @param {number} line @returns {Node} */
  #index(value, line) {
    /** @type {(Node | undefined)[]} */
    const parts = [undefined];
    while (!this.#take(']')) {
      if (this.#take(':')) parts.push(undefined);
      else parts[parts.length - 1] = this.#expression();
    }
    if (parts.length === 1 && parts[0]) return { kind: 'field', value, key: parts[0], line };
    if (parts.length < 2 || parts.length > 3) throw new TemplateError(line, 'an index is expected in brackets');
    return { kind: 'slice', value, parts, line };
  }

  /** Parses the arguments of a call, after the opening parenthesis. */
  #arguments() {
    /** @type {Node[]} */
    const positional = [];
    /** @type {[string, Node][]} */
    const named = [];
    while (!this.#take(')')) {
      if (this.#is('*') || this.#is('**')) throw this.#unexpected('spread arguments are not supported');
      const next = this.#tokens[this.#at + 1];
      if (this.#token.kind === 'name' && next?.kind === 'sign' && next.value === '=') {
        const name = this.#name();
        this.#expect('=');
        named.push([name, this.#expression()]);
      } else positional.push(this.#expression());
      if (!this.#is(')')) this.#expect(',');
    }
    return { positional, named };
  }

  /** Parses filters and tests after a value. @param {Node} value @returns {Node} */
  #filters(value) {
    const { line } = this.#token;
    if (this.#take('|')) {
      const name = this.#name();
      const given = this.#take('(') ? this.#arguments() : { positional: [], named: [] };
      return this.#filters({ kind: 'filter', name, value, ...given, line });
    }
    if (this.#take('is')) {
      const isNot = this.#take('not');
      const name = this.#name();
      /** @type {Node} */
      const test = { kind: 'test', name, value, ...this.#testArguments(), line };
      return this.#filters(isNot ? { kind: 'not', value: test, line } : test);
    }
    if (this.#take('(')) return this.#filters(this.#postfix({ kind: 'call', value, ...this.#arguments(), line }));
    return value;
  }

  /** Parses the arguments of a test: arguments in parentheses, or one value without parentheses. */
  #testArguments() {
    if (this.#take('(')) return this.#arguments();
    const { kind, value } = this.#token;
    const begins =
      ['string', 'number'].includes(kind) ||
      (kind === 'name' && !NOT_ARGUMENTS.includes(value)) ||
      (kind === 'sign' && ['[', '{'].includes(value));
    return { positional: begins ? [this.#postfix(this.#primary())] : [], named: [] };
  }
}
