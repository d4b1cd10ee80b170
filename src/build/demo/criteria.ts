// Prints a table of the properties that the page and its story expect of the demo model, measured on its files.
//   ./build.sh demo-model [FILE of a model] [--long]
// With --long it also prints what the model writes after each sentence.

import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { load } from 'headlight-attention';
import { USUAL_SHARE } from '../../../web/model/circuit/neededLines.ts';
import { OPENING } from '../../../web/model/state.ts';
import { uniformSource } from '../../js/ops/random.ts';
import { countNeededLines } from './circuitLines.ts';
import { copies, cutKey, likeliest, probabilities, REPEATED, splitWords, weightOf, writeOn } from './copying.ts';
import { headCosts } from './headCosts.ts';
import { mainHeads } from './nameHeads.ts';
import { draw } from './opening.ts';
import { openWhale, TOKENIZER, WEIGHTS } from './openWhale.ts';
import { readWhale } from './text.ts';
import { judge } from './train.ts';
import { trigram } from './trigram.ts';
import { START } from './vocabulary.ts';

export type Row = [what: string, wanted: string, measured: string, isMet: boolean];

const WINDOW = 128;
/** Beginnings of texts without a repetition. */
const BEGINNINGS = ['The white', 'In the', 'The captain', 'He was', 'Then the ship', 'The sea', 'When I', 'My friend'];
const MORE_BEGINNINGS = [...BEGINNINGS, 'There was', 'A man'];
const WRITTEN = 20;
const DRAWN = 300;
/** Minimum share of the sentences drawn at random of which four tokens are copied. */
const MIN_COPIED = 0.9;
/** Tokens that are written with a temperature, the temperature, and the number of beginnings that may loop. */
const [SAMPLED, TEMPERATURE, MAX_LOOPS] = [40, 0.8, 2];
/**
 * Maximum number of edges that must keep USUAL_SHARE of the guess, and the passages over which cut edges are averaged.
 */
const [LINES, AVERAGED, AVERAGED_LENGTH] = [12, 32, 64];
/** Minimum cost of the induction head in bits per token where something repeats, and the maximum gain without it. */
const [MIN_COST, MAX_GAIN] = [0.1, 0.01];

const percent = (p: number) => `${(100 * p).toFixed(0)}%`;
const least = (list: number[]) => Math.min(...list);
const spread = (texts: string[]) => texts.join('').replaceAll('\n', '/');

/**
 * Returns the number of tokens after which a text has a phrase of up to six tokens three times in a row; otherwise
 * Infinity.
 */
export function loopsAt(ids: number[]) {
  for (let end = 3; end <= ids.length; end++)
    for (let n = 1; n <= 6 && 3 * n <= end; n++) {
      const [a, b, c] = [3, 2, 1].map((k) => ids.slice(end - k * n, end - (k - 1) * n).join());
      if (a === b && b === c) return end;
    }
  return Infinity;
}

function copyingRows(hl: any, model: any, isLong: boolean): Row[] {
  const all = REPEATED.map((text) => {
    const ids = [...model.tokenizer.encode(text).ids];
    const { guesses, copied } = copies(hl, model, ids, WRITTEN);
    const p = guesses.map(({ probability }) => probability);
    if (isLong)
      console.log(copied, p.slice(0, 5).map(percent).join(' '), `${text} >${spread(guesses.map((g) => g.text))}`);
    return { copied, first: p[0], others: least(p.slice(1, 4)) };
  });
  const random = uniformSource(1);
  const drawn = Array.from({ length: DRAWN }, () => draw(random)).filter(
    (text) => splitWords(model.tokenizer, text).length === 0,
  );
  const alsoCopied = drawn.filter((text) => copies(hl, model, [...model.tokenizer.encode(text).ids], 4).copied === 4);
  const pieces = REPEATED.flatMap((text) => splitWords(model.tokenizer, text)).length;
  const met = all.filter(({ copied, first, others }) => copied >= 4 && first > 0.8 && others > 0.6).length;
  return [
    ['sentences that are copied', `${all.length}`, `${met}`, met === all.length],
    ['… tokens, at least', '4', `${least(all.map(({ copied }) => copied))}`, all.every(({ copied }) => copied >= 4)],
    ['… the first', '> 80%', percent(least(all.map(({ first }) => first))), all.every(({ first }) => first > 0.8)],
    ['… the next three', '> 60%', percent(least(all.map((x) => x.others))), all.every((x) => x.others > 0.6)],
    ['… words in pieces', '0', `${pieces}`, pieces === 0],
    [
      'sentences drawn at random, copied',
      `≥ ${percent(MIN_COPIED)}`,
      `${alsoCopied.length} of ${drawn.length}`,
      alsoCopied.length >= MIN_COPIED * drawn.length,
    ],
  ];
}

function openingRows(hl: any, model: any, isLong: boolean): Row[] {
  const { tokenizer } = model;
  const { induction, previous, heads, loss } = mainHeads(hl, model);
  const ids = [...tokenizer.encode(OPENING).ids];
  const { from, guesses, copied } = copies(hl, model, ids, WRITTEN);
  const off = [{ at: `blocks.${induction.layer}.heads`, head: induction.head, set: 'zero' }];
  const [on, without, cut] = [[], off, [cutKey(hl, model, ids, previous, induction)]].map((edit) =>
    probabilities(hl, model, ids, edit),
  );
  const guess = ids[from];
  const name = ({ layer, head }) => `layer ${layer}, head ${head}`;
  const weight = weightOf(hl, model, ids, induction, ids.length - 1, from);
  const back = weightOf(hl, model, ids, previous, from, from - 1);
  const other = tokenizer.decode([likeliest(without)]);
  const share = (on[guess] - cut[guess]) / (on[guess] - without[guess]);
  const p = guesses.map(({ probability }) => probability);
  if (isLong) console.log(`${OPENING} >${spread(guesses.map(({ text }) => text))}`);
  const pieces = splitWords(tokenizer, OPENING).length;
  return [
    ['opening: tokens', '11 to 16', `${ids.length}`, ids.length >= 11 && ids.length <= 16],
    ['opening: letters', '≤ 70', `${OPENING.length}`, OPENING.length <= 70],
    ['opening: words in pieces', '0', `${pieces}`, pieces === 0],
    [`guess ${tokenizer.decode([guess])}`, '≥ 80%', percent(on[guess]), on[guess] >= 0.8],
    [`without ${name(induction)}`, '≤ 5%', percent(without[guess]), without[guess] <= 0.05],
    ['… other guess', 'a word', other, /^ \p{L}{3,}$/u.test(other)],
    ['copied tokens', '≥ 5', `${copied} (${p.slice(0, 5).map(percent).join(' ')})`, copied >= 5],
    [`weight, ${name(induction)}`, '≥ 0.8', weight.toFixed(2), weight >= 0.8],
    [`weight, ${name(previous)}`, '≥ 0.8', back.toFixed(2), back >= 0.8],
    ['cost of the line between them', '≥ 60%', percent(share), share >= 0.6],
    ['loss of what is said twice', '', loss.toFixed(2), true],
    ...heads
      .filter((head) => head.without > loss + 1)
      .map((head) => [`… without ${name(head)}`, '', head.without.toFixed(2), true] as Row),
  ];
}

function writingRows(hl: any, model: any, isLong: boolean): Row[] {
  const texts = [OPENING, ...REPEATED, ...BEGINNINGS];
  const ends = texts.map((text) => {
    const ids = [...model.tokenizer.encode(text).ids];
    const guesses = writeOn(hl, model, ids, WRITTEN);
    if (isLong && BEGINNINGS.includes(text)) console.log(`${text} >${spread(guesses.map((g) => g.text))}`);
    return loopsAt(guesses.map(({ id }) => id));
  });
  const loops = ends.filter((end) => end <= WRITTEN).length;
  return [[`texts that loop within ${WRITTEN} tokens`, '0', `${loops} of ${texts.length}`, loops === 0]];
}

async function sampledRows(model: any): Promise<Row[]> {
  const ends = await Promise.all(
    MORE_BEGINNINGS.map(async (text, i) => {
      const { ids } = await model.generate(text, { max: SAMPLED, temperature: TEMPERATURE, seed: i + 1 });
      return loopsAt([...ids]);
    }),
  );
  const loops = ends.filter((end) => end <= SAMPLED).length;
  const what = `${SAMPLED} tokens at temperature ${TEMPERATURE}, loops`;
  return [[what, `≤ ${MAX_LOOPS}`, `${loops} of ${MORE_BEGINNINGS.length}`, loops <= MAX_LOOPS]];
}

async function passageRows(hl: any, model: any): Promise<Row[]> {
  const file = new URL('../../../web/demo/whale.passages.txt', import.meta.url);
  const passages = readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((text) => [...model.tokenizer.encode(text).ids].slice(0, WINDOW));
  const { induction } = mainHeads(hl, model);
  // The second half of the passages is from chapters that the model was trained on.
  const { all, repeated, holding } = headCosts(
    hl,
    model,
    passages.slice(0, passages.length / 2),
    induction,
    'induction',
  );
  const ids = [...model.tokenizer.encode(OPENING).ids];
  const averaged = passages.slice(0, AVERAGED).map((list) => list.slice(0, AVERAGED_LENGTH));
  const lines = await countNeededLines(model, ids, ids[copies(hl, model, ids, 1).from], averaged);
  const name = `layer ${induction.layer}, head ${induction.head}`;
  const bits = (cost: number) => `${cost.toFixed(3)} bits per token`;
  return [
    [`cost of ${name}, repeated tokens`, `≥ ${MIN_COST}`, bits(repeated), repeated >= MIN_COST],
    ['… all tokens', `≥ −${MAX_GAIN}`, bits(all), all >= -MAX_GAIN],
    ['… rows that follow its rule', `≥ −${MAX_GAIN}`, bits(holding), holding >= -MAX_GAIN],
    [`edges that keep ${percent(USUAL_SHARE)} of the guess`, `≤ ${LINES}`, `${lines}`, lines > 0 && lines <= LINES],
  ];
}

function lossRows(model: any): Row[] {
  const { tokenizer } = model;
  const { train, heldOut } = readWhale(fileURLToPath(new URL('../../../dist/whale', import.meta.url)));
  const encode = (texts: string[]) => texts.map((text) => [...tokenizer.encode(START + text).ids]);
  const tokens = encode(heldOut);
  const baseline = trigram(encode(train), model.options.vocab).judge(tokens).loss;
  const { loss } = judge(model, Int32Array.from(tokens.flat()), {
    window: WINDOW,
    start: Number(tokenizer.idOf(START)),
  });
  return [['held-out loss, nats', `< ${baseline.toFixed(3)} (trigram)`, loss.toFixed(3), loss < baseline]];
}

async function main() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { long: { type: 'boolean' } } });
  const hl = (await load()) as any;
  const [file = WEIGHTS] = positionals;
  const model = openWhale(hl, file);
  const bytes = statSync(file).size + statSync(TOKENIZER).size;
  const isLong = values.long === true;
  const rows: Row[] = [
    ['bytes', '≤ 1,500,000', `${bytes}`, bytes <= 1_500_000],
    ...copyingRows(hl, model, isLong),
    ...openingRows(hl, model, isLong),
    ...writingRows(hl, model, isLong),
    ...(await sampledRows(model)),
    ...(await passageRows(hl, model)),
    ...lossRows(model),
  ];
  for (const [what, wanted, measured, isMet] of rows)
    console.log(`${isMet ? ' ' : '!'} ${what.padEnd(36)} ${wanted.padEnd(18)} ${measured}`);
  hl.dispose();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
