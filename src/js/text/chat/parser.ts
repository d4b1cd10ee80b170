// Parses the statements of a chat template to a syntax tree.

import { ExpressionParser, type Node, type Target } from './expressions.ts';
import { tokenize } from './lexer.ts';
import { TemplateError } from './templateError.ts';

export function parse(template: string): Node[] {
  const parser = new Parser(tokenize(template));
  return parser.block([]);
}

class Parser extends ExpressionParser {
  /** The number of loops around the current statement, without those around a macro. */
  #loops = 0;

  /** Parses up to an ending statement, and consumes the opening sign of its tag, but not its name. */
  block(ends: string[]): Node[] {
    return this.nested(() => {
      const nodes: Node[] = [];
      for (let token = this.next(); token; token = this.next()) {
        const { kind, value, line } = token;
        if (kind === 'text') nodes.push({ kind: 'text', value, line });
        else if (value === '{{') {
          nodes.push({ kind: 'output', values: [this.tuple()], line });
          this.expect('}}');
        } else {
          if (ends.some((end) => this.is(end))) return nodes;
          nodes.push(this.#statement(line));
        }
      }
      if (ends.length > 0) throw this.unexpected(`expected ${ends.join(' or ')}`);
      return nodes;
    });
  }

  #close() {
    this.expect('%}');
  }

  /** Parses the body of a statement up to its end statement. */
  #bodyUntil(end: string) {
    this.#close();
    const body = this.block([end]);
    this.expect(end);
    return body;
  }

  /** Parses a body that statements break and continue cannot leave. */
  #separateBody(end: string) {
    const loops = this.#loops;
    this.#loops = 0;
    const body = this.#bodyUntil(end);
    this.#loops = loops;
    return body;
  }

  #statement(line: number): Node {
    const name = this.name();
    if (name === 'if') return this.#if(line);
    if (name === 'for') return this.#for(line);
    const node = this.#simple(name, line);
    this.#close();
    return node;
  }

  /** Parses a statement up to the end of its last tag. */
  #simple(name: string, line: number): Node {
    if (name === 'set') return this.#set(line);
    if (name === 'macro') {
      const macro = this.name();
      this.expect('(');
      return this.#macro(macro, this.#parameters(), 'endmacro', line);
    }
    if (name === 'call') return this.#call(line);
    if (name === 'filter')
      return { kind: 'filterBlock', chain: this.filterChain(), body: this.#bodyUntil('endfilter'), line };
    if (name === 'with') return this.#with(line);
    // This statement marks the answers of the model for training. It does not change the text.
    if (name === 'generation') return { kind: 'group', body: this.#bodyUntil('endgeneration'), line };
    if (name === 'autoescape') {
      this.expect('false');
      return { kind: 'group', body: this.#bodyUntil('endautoescape'), line };
    }
    if (name === 'block') {
      this.name();
      const body = this.#separateBody('endblock');
      if (!this.is('%}', ['close'])) this.name();
      return { kind: 'group', body, line };
    }
    if (name === 'print') return { kind: 'output', values: this.listUntilClose(), line };
    if (name !== 'break' && name !== 'continue')
      throw new TemplateError(line, `the statement ${JSON.stringify(name)} is not supported`);
    if (this.#loops === 0) throw new TemplateError(line, `${name} is outside of a loop`);
    return { kind: name, line };
  }

  #if(line: number): Node {
    const branches: { test: Node; body: Node[] }[] = [];
    do {
      const test = this.tuple();
      this.#close();
      branches.push({ test, body: this.block(['elif', 'else', 'endif']) });
    } while (this.take('elif'));
    return { kind: 'if', branches, other: this.#otherUntil('endif'), line };
  }

  /** Parses the part after else, if there is one, and the end statement. */
  #otherUntil(end: string): Node[] {
    const other = this.take('else') ? this.#bodyUntil(end) : [];
    if (other.length === 0) this.take(end);
    this.#close();
    return other;
  }

  #for(line: number): Node {
    const target = this.#targets();
    this.expect('in');
    const list = this.withoutChoice();
    const test = this.take('if') ? this.expression() : undefined;
    const recursive = this.take('recursive');
    this.#close();
    this.#loops++;
    const body = this.block(['else', 'endfor']);
    this.#loops--;
    return { kind: 'for', target, list, test, recursive, body, other: this.#otherUntil('endfor'), line };
  }

  /** Parses the names to which values are assigned. Several names, or a name and a comma, take the items of a list. */
  #targets(): Target {
    const names = [this.#target()];
    let isList = false;
    while (this.take(',')) {
      isList = true;
      if (this.is('in') || this.is('=') || this.is(')')) break;
      names.push(this.#target());
    }
    return isList ? { name: '', parts: names } : names[0];
  }

  #target(): Target {
    if (this.take('('))
      return this.nested(() => {
        const target = this.#targets();
        this.expect(')');
        return target;
      });
    const name = this.name();
    if (name === 'loop' && this.is('in')) throw this.unexpected('loop cannot be assigned');
    return this.take('.') ? { name, field: this.name() } : { name };
  }

  #set(line: number): Node {
    const target = this.#targets();
    if (this.take('=')) return { kind: 'set', target, value: this.tuple(), line };
    const chain = this.take('|') ? this.filterChain() : [];
    return { kind: 'setBlock', target, chain, body: this.#bodyUntil('endset'), line };
  }

  #with(line: number): Node {
    const values: [Target, Node][] = [];
    while (!this.is('%}', ['close'])) {
      if (values.length > 0) this.expect(',');
      const target = this.#target();
      this.expect('=');
      values.push([target, this.expression()]);
    }
    return { kind: 'with', values, body: this.#bodyUntil('endwith'), line };
  }

  /** Parses the parameters of a macro, after the opening parenthesis. */
  #parameters() {
    const parameters: { name: string; standard?: Node }[] = [];
    while (!this.take(')')) {
      if (parameters.length > 0) this.expect(',');
      const name = this.name();
      const standard = this.take('=') ? this.expression() : undefined;
      if (!standard && parameters.at(-1)?.standard) throw this.unexpected(`a default for ${name}`);
      if (parameters.some((one) => one.name === name)) throw this.unexpected(`${name} only once`);
      parameters.push({ name, standard });
    }
    return parameters;
  }

  #call(line: number): Node {
    const parameters = this.take('(') ? this.#parameters() : [];
    const call = this.expression();
    if (call.kind !== 'call') throw this.unexpected('expected a call');
    return { kind: 'callBlock', call, macro: this.#macro('caller', parameters, 'endcall', line), line };
  }

  #macro(name: string, parameters: { name: string; standard?: Node }[], end: string, line: number): Node {
    const outer = this.variables;
    this.variables = new Set();
    const body = this.#separateBody(end);
    // As in Jinja, a macro takes further arguments only if its body reads them.
    const [takesMore, takesNamed, takesCaller] = ['varargs', 'kwargs', 'caller'].map((one) => this.variables.has(one));
    for (const one of this.variables) outer.add(one);
    this.variables = outer;
    return { kind: 'macro', name, parameters, body, takesMore, takesNamed, takesCaller, line };
  }
}
