// Compiles the patterns of tokenizer files, which are literal texts or regular expressions.

import type { Fields } from './fields.ts';
import { compile, MAX_COST, type Program } from './regex/compile.ts';
import { Matcher } from './regex/match.ts';
import { parse } from './regex/parse.ts';

const MAX_LENGTH = 20_000;
const MAX_TEXT = 1024;

/** begin and end of each match, from left to right */
export type Pattern = (text: string) => number[];

/**
 * Linear time. Finds no empty match directly after another match or inside a surrogate pair. pattern: with the flag g.
 */
export const fromRegExp =
  (pattern: RegExp): Pattern =>
  (text) => {
    const found: number[] = [];
    let last = -1;
    // matchAll would copy the RegExp for each text.
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

/** part: not empty */
const literal =
  (part: string): Pattern =>
  (text) => {
    const found: number[] = [];
    for (let at = 0; (at = text.indexOf(part, at)) >= 0; at += part.length) found.push(at, at + part.length);
    return found;
  };

/** source: in the syntax of Oniguruma */
export const regex = (source: string, fail: (reason: string) => Error): Pattern =>
  fromProgram(compile(parse(source, fail), fail));

function fromProgram(program: Program): Pattern {
  let matcher: Matcher | undefined;
  return (text) => (matcher ??= new Matcher(program)).matches(text);
}

/** Reads a pattern of the file, which is { String } or { Regex }. returns null for an empty string. */
export function readPattern(fields: Fields, name: string): Pattern | null {
  const pattern = fields.object(name);
  const kind = pattern.get('String') === null ? 'Regex' : 'String';
  const source = pattern.string(kind);
  const most = kind === 'String' ? MAX_TEXT : MAX_LENGTH;
  if (source.length > most) throw pattern.error(kind, `at most ${most} characters`);
  // A lone surrogate becomes U+FFFD, as in the text, because it must not match half of a pair.
  if (kind === 'String') return source ? literal(source.replace(/\p{Surrogate}/gu, '\ufffd')) : null;
  const fail = (reason: string) =>
    pattern.error(kind, `a regular expression that is supported; this one is not: ${reason}`);
  const program = compile(parse(source, fail), fail);
  pattern.spend(kind, program.cost, MAX_COST);
  return fromProgram(program);
}
