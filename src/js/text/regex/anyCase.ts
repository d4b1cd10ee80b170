// Nodes of characters without case. One may be equal to several others, such as ß to ss, so that a text of the pattern
// matches other lengths.

import { anyCaseOf, type CharacterClass, Characters, manyOf, onesFor } from './classes.ts';

import type { Character, Node } from './parse.ts';

/** Maximum characters of a text that is equal to one character. */
const MAX_TEXT = 3;
/** Classes with more texts of several characters, such as those of all letters, match single characters only. */
const MAX_OF_CLASS = 8;

function single(code: number): Character {
  const codes = anyCaseOf(code);
  return codes.length > 1
    ? { kind: 'set', set: new Characters(codes), folded: code }
    : { kind: 'literal', code, folded: code };
}

const textNode = (text: string): Node => ({
  kind: 'sequence',
  parts: [...text].map((char) => single(Number(char.codePointAt(0)))),
});

/** Returns the node of the characters that are equal to a text of several, and of the text itself. */
const eitherNode = (many: string): Node => ({
  kind: 'alternatives',
  parts: [{ kind: 'set', set: new Characters(onesFor(many)) }, textNode(many)],
});

/** Returns the node of a character. alone: true for single characters only. */
export function anyCaseNode(code: number, alone: boolean): Node {
  const many = alone ? undefined : manyOf(code);
  return many === undefined ? single(code) : eitherNode(many);
}

export function anyCaseClass(set: CharacterClass): Node {
  const many = set.many();
  if (many.length === 0 || many.length > MAX_OF_CLASS) return { kind: 'set', set };
  return { kind: 'alternatives', parts: [{ kind: 'set', set }, ...many.map(textNode)] };
}

/**
 * Replaces parts that together equal one character. As in Oniguruma, the first and longest text counts: sss matches ßs,
 * but not sß.
 */
export function joinAnyCase(parts: readonly Node[]): readonly Node[] {
  const joined: Node[] = [];
  for (let at = 0; at < parts.length; ) {
    const many = manyAt(parts, at);
    joined.push(many === undefined ? parts[at] : eitherNode(many));
    at += many === undefined ? 1 : [...many].length;
  }
  return joined;
}

function manyAt(parts: readonly Node[], at: number) {
  let [text, found] = ['', undefined as string | undefined];
  for (let i = at; i < Math.min(at + MAX_TEXT, parts.length); i++) {
    const code = (parts[i] as Character).folded;
    if (code === undefined) break;
    text += lower(code);
    if (onesFor(text).length > 0) found = text;
  }
  return found;
}

/** Returns the lower case in which texts of several characters are known. */
const lower = (code: number) => String.fromCodePoint(code).toUpperCase().toLowerCase();
