// Splits a chat template into tokens. A template is written in Jinja: text with {{ expressions }}, {% statements %} and
// {# comments #}. White space around tags is removed as by the options trim_blocks and lstrip_blocks of Jinja, for
// which the templates of models are written.

import { TemplateError } from './templateError.js';

/**
 * A text, or a part of a tag. 'open' and 'close' are the signs at the beginning and end of a tag.
 * @typedef {{ kind: 'text' | 'open' | 'name' | 'number' | 'string' | 'sign' | 'close', value: string, line: number }}
 *   Token
 */

const TAG = /\{\{|\{%|\{#/g;
const CLOSING = { '{{': '}}', '{%': '%}', '{#': '#}' };
const SIGNS = ['**', '//', '==', '!=', '<=', '>=', ...'+-*/%~<>=.,:|()[]{}'];
const ESCAPES = /** @type {Record<string, string>} */ ({
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  0: '\0',
});

/** @param {string} template @returns {Token[]} */
export function tokenize(template) {
  const source = template.replace(/\r\n?/g, '\n').replace(/\n$/, '');
  /** @type {Token[]} */
  const tokens = [];
  const lineAt = lineCounter(source);
  // startsLine: true if the next text begins at the start of a line. strips: true if the tag before the next text
  // removes white space at the beginning of that text.
  let [at, startsLine, strips] = [0, true, false];
  for (;;) {
    TAG.lastIndex = at;
    const tag = TAG.exec(source);
    let text = source.slice(at, tag?.index);
    if (strips) text = text.trimStart();
    const sign = tag && source[tag.index + 2];
    if (tag && sign === '-') text = text.trimEnd();
    else if (tag && tag[0] !== '{{' && sign !== '+') text = withoutIndent(text, startsLine);
    if (text) tokens.push({ kind: 'text', value: text, line: lineAt(at) });
    if (!tag) return tokens;
    const begin = tag.index + 2 + Number(sign === '-' || sign === '+');
    const kind = /** @type {keyof typeof CLOSING} */ (tag[0]);
    const end = kind === '{#' ? source.indexOf('#}', begin) : readTag(source, begin, kind, tokens, lineAt);
    if (end < 0) throw new TemplateError(lineAt(tag.index), `the ${kind} is not closed`);
    const before = source[end - 1];
    strips = before === '-';
    at = end + 2;
    // A line break directly after a statement or a comment is removed.
    const trims = kind !== '{{' && before !== '+' && source[at] === '\n';
    if (trims) at++;
    startsLine = trims;
  }
}

/** Removes spaces between the start of the line and a tag. @param {string} text @param {boolean} startsLine */
function withoutIndent(text, startsLine) {
  const line = text.lastIndexOf('\n') + 1;
  const isIndent = (line > 0 || startsLine) && /^[ \t]*$/.test(text.slice(line));
  return isIndent ? text.slice(0, line) : text;
}

/**
 * @param {string} source
 * @returns {(at: number) => number} returns the line of an index; indices must not decrease between calls
 */
function lineCounter(source) {
  let [line, counted] = [1, 0];
  return (at) => {
    for (; counted < at; counted++) if (source[counted] === '\n') line++;
    return line;
  };
}

/**
 * Adds the tokens between the signs of a tag.
 * @param {string} source
 * @param {number} begin
 * @param {'{{' | '{%'} kind
 * @param {Token[]} tokens
 * @param {(at: number) => number} lineAt
 * @returns {number} index of the closing sign of the tag, −1 if there is none
 */
function readTag(source, begin, kind, tokens, lineAt) {
  const closing = CLOSING[kind];
  tokens.push({ kind: 'open', value: kind, line: lineAt(begin) });
  let depth = 0;
  for (let at = begin; at < source.length; ) {
    const line = lineAt(at);
    const rest = source.slice(at, at + 2);
    const isClosing = rest === closing || (/^[-+]/.test(rest) && source.startsWith(closing, at + 1));
    if (depth === 0 && isClosing) {
      tokens.push({ kind: 'close', value: closing, line });
      return rest === closing ? at : at + 1;
    }
    if (/\s/.test(source[at])) at++;
    else if (/['"]/.test(source[at])) at = readString(source, at, tokens, line);
    else {
      const word = /^(?:[A-Za-z_]\w*|\d+(?:\.\d+)?)/.exec(source.slice(at, at + 200))?.[0];
      const sign = word ? undefined : SIGNS.find((one) => source.startsWith(one, at));
      if (!word && !sign) throw new TemplateError(line, `unexpected ${JSON.stringify(source[at])}`);
      if (word) tokens.push({ kind: /^\d/.test(word) ? 'number' : 'name', value: word, line });
      else tokens.push({ kind: 'sign', value: /** @type {string} */ (sign), line });
      if (sign && '([{'.includes(sign)) depth++;
      if (sign && ')]}'.includes(sign)) depth--;
      at += (word ?? /** @type {string} */ (sign)).length;
    }
  }
  return -1;
}

/** @param {string} source @param {number} begin @param {Token[]} tokens @param {number} line */
function readString(source, begin, tokens, line) {
  let value = '';
  for (let at = begin + 1; at < source.length; at++) {
    if (source[at] === source[begin]) {
      tokens.push({ kind: 'string', value, line });
      return at + 1;
    }
    if (source[at] !== '\\') value += source[at];
    else {
      at++;
      const code = /^(?:x([\da-fA-F]{2})|u([\da-fA-F]{4}))/.exec(source.slice(at, at + 5));
      if (code) {
        value += String.fromCharCode(Number.parseInt(code[1] ?? code[2], 16));
        at += code[0].length - 1;
      } else if (source[at] in ESCAPES) value += ESCAPES[source[at]];
      // As in Python, a line break after a backslash is removed, and a backslash before another character is kept.
      else if (source[at] !== '\n') value += /['"\\]/.test(source[at]) ? source[at] : `\\${source[at]}`;
    }
  }
  throw new TemplateError(line, 'a text in quotes is not closed');
}
