// Predefined pairs of sentences: five tasks, each with several pairs from a template. The tokenizer decides which pairs
// can be used, because the two sentences must have the same number of tokens, and each answer must be one token.

import { idsOfAnswer, type Words } from './measures.ts';
import { TASKS } from './settings.ts';

/** upper: the sentence whose values are patched into the other; answers: of the upper and the lower sentence */
export type Pair = { upper: string; lower: string; answers: [string, string] };
export type TaskName = 'indirect' | 'induction' | 'greater' | 'agreement' | 'gender';

/** Maximum number of pairs of one task on the page. */
export const MAX_PAIRS = 8;

const NAMES =
  'Mary John, Anna Tom, Sarah James, Lisa Peter, Emma David, Kate Paul, Alice Mark, Rose Jack, ' +
  'Jane Bill, Helen George, Laura Henry, Susan Robert';
const NOUNS =
  'ship whale, whale ship, boat captain, captain fire, gold oil, book table, hand head, sea land, ' +
  'night world, goose fox, king horse, house tree, dog woman, door letter, boy girl, river mountain';
const COUNTED =
  'keys key, doors door, roads road, ships ship, boats boat, men man, boys boy, kings king, ' +
  'horses horse, letters letter, houses house, whales whale, women woman, trees tree';
const PEOPLE = 'woman man, queen king, girl boy, mother father, sister brother, wife husband, daughter son, lady lord';
/** In the upper sentence a war begins late in its century, so that few years are later. */
const YEARS =
  '1762 1704, 1771 1711, 1658 1603, 1847 1806, 1568 1512, 1763 1708, 1857 1809, 1674 1605, 1756 1702, 1472 1409';

const pairsIn = (list: string): [string, string][] =>
  list.split(', ').map((pair) => pair.split(' ') as [string, string]);

/** Returns two sentences that differ in one word. `words`: in the upper and in the lower sentence. */
const pairOf = (
  sentence: (word: string) => string,
  [upper, lower]: [string, string],
  answers: [string, string],
): Pair => ({ upper: sentence(upper), lower: sentence(lower), answers });

/** Functions that return the candidates of each task, before a tokenizer selects among them. */
const CANDIDATES: Record<TaskName, () => Pair[]> = {
  indirect: () =>
    pairsIn(NAMES).map(([a, b]) =>
      pairOf((giver) => `When ${b} and ${a} went to the shops, ${giver} gave the bag to`, [b, a], [a, b]),
    ),
  induction: () =>
    pairsIn(NOUNS).map((nouns) => pairOf((noun) => `They gave the ${noun} to me. They gave the`, nouns, nouns)),
  greater: () =>
    pairsIn(YEARS).map(([late, early]) => {
      const [after, low] = [late, early].map((year) => Number(year.slice(2)));
      const two = (n: number) => String(n).padStart(2, '0');
      return pairOf(
        (year) => `The war lasted from the year ${year} to the year ${year.slice(0, 2)}`,
        [late, early],
        [`${two(after + 1)}–99`, `${two(low + 1)}–${two(after)}`],
      );
    }),
  agreement: () =>
    [
      ['are', 'is'],
      ['were', 'was'],
    ].flatMap((verbs) =>
      pairsIn(COUNTED).map((nouns) =>
        pairOf((noun) => `The ${noun} near the old house`, nouns, verbs as [string, string]),
      ),
    ),
  gender: () =>
    pairsIn(PEOPLE).map((people) => pairOf((who) => `The ${who} went home, because`, people, ['she', 'he'])),
};

/** Returns a pair's shape in tokens; null if unusable. Only pairs of one shape can be averaged. */
function shapeOf(words: Words, { upper, lower, answers }: Pair) {
  const [a, b] = [upper, lower].map(words.encode);
  const first = a.findIndex((id, i) => id !== b[i]);
  if (a.length !== b.length || first < 0) return null;
  if (answers.some((answer) => [upper, lower].some((text) => idsOfAnswer(words, text, answer).length === 0)))
    return null;
  return `${a.length} ${first}`;
}

/** Returns each task's pairs that the tokenizer supports and that have the commonest shape; none if it does not fit. */
export function fittingTasks(words: Words): { name: TaskName; pairs: Pair[] }[] {
  return TASKS.map((name) => {
    const byShape: Map<string, Pair[]> = new Map();
    for (const pair of CANDIDATES[name]()) {
      const covered = words.mask === null ? pair : covering(pair, words.mask);
      const shape = shapeOf(words, covered);
      if (shape !== null) byShape.set(shape, [...(byShape.get(shape) ?? []), covered]);
    }
    const [most = []] = [...byShape.values()].sort((a, b) => b.length - a.length);
    return { name, pairs: most };
  });
}

/** Returns a pair for a masked language model, with a mask token in the place of the answer. */
const covering = ({ upper, lower, answers }: Pair, mask: string): Pair => ({
  upper: `${upper} ${mask}.`,
  lower: `${lower} ${mask}.`,
  answers,
});
