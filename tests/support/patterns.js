// Makes random regular expressions of all supported constructs, and texts that some of them match.

const SIGNS = ['a', 'b', 'c', ' ', '1', 'é', '猫', '👍', '\n', '\u0301', 'A', '-'];
const ATOMS = ['a', 'b', 'c', ' ', '1', 'é', '👍', '[ab]', '[^ab]', '[a-c1]', '\\p{L}', '[^\\p{L} ]', '\\n'];
const CLASSES = ['\\s', '\\S', '\\d', '\\w', '\\W', '[[:alpha:]]', '[\\p{L}&&[^b]]', '(?i:a)', '(?i:[b-c])', '\\P{L}'];
const ASSERTIONS = ['\\b', '\\B', '^', '$', '\\A', '\\z', '\\Z'];
const QUANTIFIERS = ['*', '+', '?', '{2}', '{1,2}', '{0,3}', '{2,}'];

export const randomText = (source, length = source.below(14)) =>
  Array.from({ length }, () => source.pick(source.chance(0.6) ? SIGNS.slice(0, 4) : SIGNS)).join('');

/**
 * Returns a random pattern. Assertions in it are not repeated, because Oniguruma ignores repeated assertions.
 * @param {object} source a source of random choices
 * @param {number} [depth] maximum depth of groups
 */
export function randomPattern({ pick, chance, between }, depth = 2) {
  const character = () => pick(chance(0.3) ? CLASSES : ATOMS);
  const alternatives = (deeper, first = () => '') =>
    Array.from({ length: chance(0.4) ? 2 : 1 }, () => first() + sequence(deeper)).join('|');
  const sequence = (deeper) => Array.from({ length: between(1, 3) }, () => item(deeper)).join('');
  const assertion = (deeper) => {
    if (chance(0.5)) return pick(ASSERTIONS);
    if (chance(0.5)) return `(?<${pick(['=', '!'])}${pick(ATOMS.slice(0, 13))})`;
    return `(?${pick(['=', '!'])}${alternatives(deeper)})`;
  };
  /**
   * Returns a group that can match the empty string. Such a group is not repeated a counted number of times, because
   * Oniguruma counts repetitions of the empty string inconsistently.
   */
  const optional = () => {
    const part = () => `${character()}${pick(['?', '*', '??', '*?', '{0,2}', ''])}`;
    return `(?:${part()}${part()}${chance(0.5) ? `|${part()}` : ''})`;
  };
  const item = (deeper) => {
    if (chance(0.15)) return assertion(Math.max(deeper - 1, 0));
    const grouped = deeper > 0 && chance(0.4);
    if (chance(0.1)) return optional() + pick(['*', '+', '?', '*?', '+?', '??']);
    const one = grouped ? `(?${pick([':', ':', '>'])}${alternatives(deeper - 1, character)})` : character();
    if (!chance(0.45)) return one;
    const times = pick(QUANTIFIERS);
    if (chance(0.25) && times !== '{2}') return `(?:${one})${times}?`;
    return `(?:${one})${times}${times.length === 1 && chance(0.2) ? '+' : ''}`;
  };
  return alternatives(depth);
}
