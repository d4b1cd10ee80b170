// Tries thousands of sentences with the model, and prints the best candidates for the text that the page opens with.
// Each candidate repeats words, and the model's prediction copies the token that followed these words before.
//   node src/build/demo/opening.ts [FILE of a model] [--count N] [--seed N] [--letters N]

import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { load } from 'headlight-attention';
import { uniformSource } from '../../js/ops/random.ts';
import { copiedFrom, likeliest, probabilities, splitWords, weightOf, writeOn } from './copying.ts';
import { mainHeads } from './nameHeads.ts';
import { openWhale } from './openWhale.ts';

/** Pairs of times or places, for the two parts of a sentence. */
const PLACES = [
  ['In the morning', 'at night'],
  ['In the morning', 'in the night'],
  ['In the morning', 'all night'],
  ['In port', 'at sea'],
  ['In the cabin', 'on deck'],
  ['In the boat', 'on the ship'],
  ['In the sun', 'in the dark'],
  ['In the light', 'in the dark'],
  ['In his cabin', 'in his dream'],
  ['In fair weather', 'in the storm'],
  ['In those days', 'in these days'],
  ['In the first watch', 'in the second watch'],
  ['In the house', 'on the ship'],
  ['In Nantucket', 'at sea'],
];
const ADJECTIVES =
  'old young poor good strange first little black silent great second wild famous noble savage white strong other ' +
  'tall brave quiet same mad';
const NOUNS =
  'captain sailor mate carpenter cook stranger man harpooneer whaleman friend savage Indian officer king fisherman ' +
  'seamen whale ship sailors harpooneers';
/** Predicates, each with four tokens. */
const DEEDS = `
  went to his cabin, slept in his cabin, looked for his boat, stood by his boat, sat by his fire,
  thought of his home, thought of his wife, spoke of his home, looked for his friend, looked at his men,
  spoke to his men, took his long lance, told a strange story, had a strange dream, saw a great ship,
  saw a strange ship, saw a small boat, saw a black ship, heard a strange sound, heard a strange voice,
  heard a wild cry, spoke of a whale, looked like a king, thought of a storm, read a great book,
  cried to his men, called to his crew, looked at his ship, thought of his ship, came on deck again,
  stood alone on deck, was seen on deck, stood on deck alone, never said a word, thought of his soul,
  sat down on deck, looked at his watch, spoke of his dream, turned to his boat, looked for the whale,
  thought of the whale, looked at the sea, spoke to the crew, sat by the fire, saw the white whale,
  stood by the mast, told the same story
`
  .split(',')
  .map((deed) => deed.trim());

const capital = (text: string) => text[0].toUpperCase() + text.slice(1);

/** Returns a random sentence, whose beginning is repeated at its end. */
export function draw(random: () => number) {
  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)];
  const [first, second] = oneOf(PLACES);
  const subject = `the ${oneOf(ADJECTIVES.split(' '))}`;
  const comma = oneOf(['', ',']);
  const next = oneOf([`. ${capital(second)}`, `, and ${second}`, `, ${second}`]);
  return `${first}${comma} ${subject} ${oneOf(NOUNS.split(' '))} ${oneOf(DEEDS)}${next}${comma} ${subject}`;
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      count: { type: 'string', default: '5000' },
      seed: { type: 'string', default: '1' },
      letters: { type: 'string', default: '70' },
    },
  });
  const hl = await load();
  const model = openWhale(hl, positionals[0]);
  const { tokenizer } = model;
  const { induction, previous } = mainHeads(hl, model);
  const random = uniformSource(Number(values.seed));
  const seen: Set<string> = new Set();
  /** True for a content word. The prediction without the induction head must be a content word. */
  const isSensible = (text: string) => /^ \p{L}{3,}$/u.test(text);
  const found = [];
  let tried = 0;
  while (tried < Number(values.count)) {
    const text = draw(random);
    if (seen.has(text) || text.length > Number(values.letters) || splitWords(tokenizer, text).length > 0) continue;
    seen.add(text);
    const ids = [...tokenizer.encode(text).ids];
    if (ids.length < 11 || ids.length > 16) continue;
    tried++;
    const from = copiedFrom(ids);
    const p = probabilities(hl, model, ids);
    const on = p[ids[from]];
    if (on < 0.8 || likeliest(p) !== ids[from]) continue;
    const off = [{ at: `blocks.${induction.layer}.heads`, head: induction.head, set: 'zero' }];
    const without = probabilities(hl, model, ids, off);
    const other = tokenizer.decode([likeliest(without)]);
    if (without[ids[from]] > 0.05 || !isSensible(other)) continue;
    const guesses = writeOn(hl, model, ids, 5);
    if (guesses.some(({ id }, i) => id !== ids[from + i])) continue;
    const weights = weightOf(hl, model, ids, induction, ids.length - 1, from);
    const back = weightOf(hl, model, ids, previous, from, from - 1);
    const least = Math.min(...guesses.map(({ probability }) => probability));
    found.push({ text, on, off: without[ids[from]], other, least, weights, back, sum: on + least + weights + back });
  }
  console.log(`${found.length} of ${tried} sentences`);
  for (const { text, on, off, other, least, weights, back } of found.sort((a, b) => b.sum - a.sum).slice(0, 60)) {
    const numbers = [on, off, least, weights, back].map((x) => x.toFixed(2)).join(' ');
    console.log(`${numbers}  ${text} |${other}`);
  }
  hl.dispose();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
