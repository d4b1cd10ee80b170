// Splits a chat template, in Jinja, into tokens: text with {{ expressions }}, {% statements %} and {# comments #}.
// White space around tags is removed as by trim_blocks and lstrip_blocks, for which models' templates are written.

import { TemplateError } from './templateError.ts';
import { strip } from './texts.ts';

/** A text, or a part of a tag. 'open' and 'close' are the signs at the beginning and end of a tag. */
export type Token = {
  kind: 'text' | 'open' | 'name' | 'number' | 'string' | 'sign' | 'close';
  value: string;
  line: number;
};

const TAG = /\{\{|\{%|\{#/g;
const RAW = /\{%[-+]?\s*raw\s*(-?)%\}/y;
const END_RAW = /\{%([-+]?)\s*endraw\s*([-+]?)%\}/g;
const CLOSING = { '{{': '}}', '{%': '%}', '{#': '#}' };
const PART = new RegExp(
  [
    /([\p{L}_][\p{L}\p{N}_]*)/u,
    /(0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][-+]?\d+)?)/u,
    /(\*\*|\/\/|[=!<>]=|[-+*/%~<>=.,:|()[\]{}])/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'uy',
);
const ESCAPE = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3})|([^]))/g;
const ESCAPES = {
  ...{ n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', a: '\x07' },
  // As in Python, a line break after a backslash is removed.
  '\n': '',
} as Record<string, string>;
/** Maximum characters of a template. */
const MAX_LENGTH = 2 ** 18;

export function tokenize(template: string): Token[] {
  if (template.length > MAX_LENGTH) throw new TemplateError(1, `it has more than ${MAX_LENGTH} characters`);
  return new Lexer(template.replace(/\r\n?/g, '\n').replace(/\n$/, '')).run();
}

class Lexer {
  #source: string;
  #tokens: Token[] = [];
  #line = 1;
  #counted = 0;
  /** True if the next text begins at the start of a line. */
  #startsLine = true;
  /** True if the tag before the next text removes white space at the beginning of that text. */
  #strips = false;

  constructor(source: string) {
    this.#source = source;
  }

  run() {
    for (let at = 0; ; ) {
      TAG.lastIndex = at;
      const tag = TAG.exec(this.#source);
      this.#text(at, tag ? tag.index : this.#source.length, tag && tag[0] !== '{{', tag && this.#source[tag.index + 2]);
      if (!tag) return this.#tokens;
      at = this.#tag(tag.index, tag[0] as keyof typeof CLOSING);
    }
  }

  /** Returns the line of an index, which must not decrease between calls. */
  #lineAt(at: number) {
    for (; this.#counted < at; this.#counted++) if (this.#source[this.#counted] === '\n') this.#line++;
    return this.#line;
  }

  #add(kind: Token['kind'], value: string, at: number) {
    this.#tokens.push({ kind, value, line: this.#lineAt(at) });
  }

  /** isBlock: a statement or comment follows, before which an indent is removed; sign: of that tag */
  #text(begin: number, end: number, isBlock: unknown, sign: string | null) {
    let text = this.#source.slice(begin, end);
    text = strip(text, null, this.#strips, sign === '-');
    if (isBlock && sign !== '-' && sign !== '+') text = withoutIndent(text, this.#startsLine);
    if (text) this.#add('text', text, begin);
  }

  /** Adds the tokens of a tag. Returns the index after it. */
  #tag(index: number, kind: keyof typeof CLOSING) {
    const source = this.#source;
    RAW.lastIndex = index;
    const raw = RAW.exec(source);
    if (raw) return this.#raw(index, raw);
    const begin = index + 2 + Number(/[-+]/.test(source[index + 2]));
    const end = kind === '{#' ? source.indexOf('#}', begin) : this.#parts(begin, kind);
    if (end < 0) throw new TemplateError(this.#lineAt(index), `the ${kind} is not closed`);
    return this.#after(end + 2, source[end - 1], kind !== '{{');
  }

  /** at: index after a tag; sign: before its end */
  #after(at: number, sign: string, isBlock: boolean) {
    this.#strips = sign === '-';
    // A line break directly after a statement or a comment is removed.
    const trims = isBlock && sign !== '+' && this.#source[at] === '\n';
    this.#startsLine = trims;
    return trims ? at + 1 : at;
  }

  /** Adds the text between raw and endraw. */
  #raw(index: number, raw: RegExpExecArray) {
    const begin = index + raw[0].length;
    END_RAW.lastIndex = begin;
    const end = END_RAW.exec(this.#source);
    if (!end) throw new TemplateError(this.#lineAt(index), 'raw is not closed');
    [this.#strips, this.#startsLine] = [raw[1] === '-', false];
    this.#text(begin, end.index, true, end[1] || null);
    return this.#after(end.index + end[0].length, end[2], true);
  }

  /** Adds the tokens between the signs of a tag. returns index of the closing sign of the tag, −1 if there is none. */
  #parts(begin: number, kind: '{{' | '{%'): number {
    const [source, closing] = [this.#source, CLOSING[kind]];
    this.#add('open', kind, begin);
    for (let at = begin, depth = 0; at < source.length; ) {
      const signed = at + Number(/[-+]/.test(source[at]));
      if (depth === 0 && source.startsWith(closing, signed)) {
        this.#add('close', closing, at);
        return signed;
      }
      PART.lastIndex = at;
      if (/\s/.test(source[at])) at++;
      else if (/['"]/.test(source[at])) at = this.#string(at);
      else {
        const found = PART.exec(source);
        if (!found) throw new TemplateError(this.#lineAt(at), `unexpected ${JSON.stringify(source[at])}`);
        const [value, name, number] = found;
        this.#add(name ? 'name' : number ? 'number' : 'sign', value, at);
        if ('([{'.includes(value)) depth++;
        if (')]}'.includes(value)) depth--;
        at += value.length;
      }
    }
    return -1;
  }

  /** index after the text in quotes */
  #string(begin: number): number {
    const source = this.#source;
    let end = begin + 1;
    while (end < source.length && source[end] !== source[begin]) end += source[end] === '\\' ? 2 : 1;
    if (end >= source.length) throw new TemplateError(this.#lineAt(begin), 'a text in quotes is not closed');
    const value = source.slice(begin + 1, end).replace(ESCAPE, (all, x, u, long, octal, char) => {
      if (octal) return String.fromCodePoint(Number.parseInt(octal, 8));
      const code = Number.parseInt(x ?? u ?? long, 16);
      if (code <= 0x10ffff) return String.fromCodePoint(code);
      return /['"\\]/.test(char) ? char : (ESCAPES[char] ?? all);
    });
    this.#add('string', value, begin);
    return end + 1;
  }
}

/** Removes spaces between the start of the line and a tag. */
function withoutIndent(text: string, startsLine: boolean) {
  const line = text.lastIndexOf('\n') + 1;
  const isIndent = (line > 0 || startsLine) && strip(text.slice(line), null) === '';
  return isIndent ? text.slice(0, line) : text;
}
