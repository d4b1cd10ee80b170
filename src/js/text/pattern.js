// Compiles the patterns of tokenizer files, which are literal texts or regular expressions.

import { compile, MAX_COST } from './regex/compile.js';
import { Matcher } from './regex/match.js';
import { parse } from './regex/parse.js';

/** @import { Fields } from './fields.js' */
/** @import { Program } from './regex/compile.js' */

const MAX_LENGTH = 20_000;
const MAX_TEXT = 1024;

/** @typedef {(text: string) => number[]} Pattern returns the begin and end of each match, from left to right */

/**
 * Makes a pattern from a JavaScript regular expression, which must take linear time. The pattern finds no empty match
 * directly after another match or inside a surrogate pair.
 * @param {RegExp} pattern with the flag g
 * @returns {Pattern}
 */
export const fromRegExp = (pattern) => (text) => {
  /** @type {number[]} */
  const found = [];
  let last = -1;
  // exec is used, because matchAll would copy the RegExp for each text.
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const { index } = match;
    const end = index + match[0].length;
    if (end === index) pattern.lastIndex += Number(text.codePointAt(index)) > 0xffff ? 2 : 1;
    if (end === index && (index === last || Number(text.codePointAt(index - 1)) > 0xffff)) continue;
    last = end;
    found.push(index, end);
  }
  return found;
};

/** @param {string} part not empty @returns {Pattern} */
const literal = (part) => (text) => {
  /** @type {number[]} */
  const found = [];
  for (let at = 0; (at = text.indexOf(part, at)) >= 0; at += part.length) found.push(at, at + part.length);
  return found;
};

/**
 * @param {string} source in the syntax of Oniguruma
 * @param {(reason: string) => Error} fail
 * @returns {Pattern}
 */
export const regex = (source, fail) => fromProgram(compile(parse(source, fail), fail));

/** @param {Program} program @returns {Pattern} */
function fromProgram(program) {
  /** @type {Matcher | undefined} */
  let matcher;
  return (text) => (matcher ??= new Matcher(program)).matches(text);
}

/**
 * Reads a pattern of the file, which is { String } or { Regex }.
 * @param {Fields} fields
 * @param {string} name
 * @returns {Pattern | null} null for an empty string
 */
export function readPattern(fields, name) {
  const pattern = fields.object(name);
  const kind = pattern.get('String') === null ? 'Regex' : 'String';
  const source = pattern.string(kind);
  const most = kind === 'String' ? MAX_TEXT : MAX_LENGTH;
  if (source.length > most) throw pattern.error(kind, `at most ${most} characters`);
  // A lone surrogate must not match half of a pair, so it becomes U+FFFD, as in the text.
  if (kind === 'String') return source ? literal(source.replace(/\p{Surrogate}/gu, '\ufffd')) : null;
  const fail = (/** @type {string} */ reason) =>
    pattern.error(kind, `a regular expression that is supported; this one is not: ${reason}`);
  const program = compile(parse(source, fail), fail);
  pattern.spend(kind, program.cost, MAX_COST);
  return fromProgram(program);
}
