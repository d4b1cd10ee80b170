// Measures how well a model copies. After the beginning of a passage has occurred again, the rest of the passage is
// expected.

import { repeating } from '../../../web/worker/run/repetition.ts';
import type { Headlight } from '../../js/index.ts';
import type { Edit } from '../../js/models/edits.ts';
import type { Transformer } from '../../js/models/transformer.ts';
import type { Tokenizer } from '../../js/text/tokenizer.ts';
import type { Whale } from './openWhale.ts';

export type Head = { layer: number; head: number };
export type Guess = { id: number; text: string; probability: number };

/**
 * Sentences with a repeated beginning, in words that are one token each. No sentence is from Moby-Dick. The model also
 * copies other sentences, but often with lower probabilities.
 */
export const REPEATED = [
  'In Nantucket, the first mate stood on deck alone. At sea, the first',
  'In port the second mate looked for his friend. At sea the second',
  'There lay our little island in deep water, and our little',
  'There stood a strange carpenter with one leg, and a strange',
  'And his whole body lay in deep water, and his whole',
  'In Nantucket, the good harpooneer thought of his home. At sea, the good',
  'In the cabin, the good man thought of his home, and on deck, the good',
  'In port the little cook looked for his ship. At sea the little',
  'In the morning, the other cook stood on deck alone, in the night, the other',
  'In fair weather the little harpooneer looked at his ship, and in the storm the little',
  'In his cabin the wild captain looked at his watch, and in his dream the wild',
];

/** Returns the probabilities of the next token. */
export const probabilities = (hl: Headlight, model: Transformer, ids: number[], edit: Edit[] = []) =>
  hl.scope(() => {
    const logits = model.forward({ ids }, { last: true, edit }).logits.data;
    const most = logits.reduce((a: number, x: number) => Math.max(a, x), -Infinity);
    const weights = Float64Array.from(logits, (x) => Math.exp(x - most));
    const sum = weights.reduce((a, x) => a + x, 0);
    return weights.map((x) => x / sum);
  });

/** Returns the likeliest id. */
export const likeliest = (p: ArrayLike<number>) => Array.from(p).reduce((best, x, id) => (x > p[best] ? id : best), 0);

/**
 * Continues a text with the likeliest token, `count` times. As on the page, a token is excluded if the last three
 * tokens would then occur twice in the continuation.
 */
export function writeOn(hl: Headlight, model: Whale, ids: number[], count: number, edit: Edit[] = []): Guess[] {
  const all = [...ids];
  return Array.from({ length: count }, () => {
    const p = probabilities(hl, model, all, edit);
    const repeated = repeating(all.slice(ids.length));
    const id = likeliest(p.map((x, i) => (repeated.includes(i) ? 0 : x)));
    all.push(id);
    return { id, text: model.tokenizer.decode([id]), probability: p[id] };
  });
}

/**
 * Returns the position of the token that is expected next: the token that followed the longest end of the text when
 * this end occurred before. −1 if the last token does not occur before.
 */
export function copiedFrom(ids: ArrayLike<number>) {
  const T = ids.length;
  let [best, longest] = [-1, 0];
  for (let t = 0; t < T - 1; t++) {
    let n = 0;
    while (n <= t && ids[t - n] === ids[T - 1 - n]) n++;
    if (n >= longest && n > 0) [best, longest] = [t + 1, n];
  }
  return best;
}

/** Returns the predictions after a text, and how many of them copy the tokens that followed the same text before. */
export function copies(hl: Headlight, model: Whale, ids: number[], count: number) {
  const from = copiedFrom(ids);
  const guesses = writeOn(hl, model, ids, count);
  const others = guesses.findIndex(({ id }, i) => id !== ids[from + i]);
  return { from, guesses, copied: others < 0 ? count : others };
}

/** Returns the attention weight of a head for query t and key s. */
export const weightOf = (
  hl: Headlight,
  model: Transformer,
  ids: number[],
  { layer, head }: Head,
  t: number,
  s: number,
): number =>
  hl.scope(() => {
    const at = `blocks.${layer}.weights` as const;
    const { data, shape } = model.forward({ ids }, { capture: [at] }).captured[at];
    return data[(head * shape[2] + t) * shape[3] + s];
  });

/** Returns the tokens of a text that continue a word, and those that are neither a word nor one of , ; . ! and ? */
export function splitWords(tokenizer: Tokenizer, text: string) {
  const pieces = [...tokenizer.encode(text).ids].map((id) => tokenizer.decode([id]));
  return pieces.filter((piece, i) => !/^( ?\p{L}+|[,;.!?])$/u.test(piece) || (i > 0 && /^\p{L}/u.test(piece)));
}

/** Returns the edit that removes the output of one head from the keys of another head, and from nothing else. */
export function cutKey(hl: Headlight, model: Transformer, ids: number[], from: Head, to: Head): Edit {
  const between = Array.from({ length: to.layer - from.layer }, (_, i) => from.layer + i);
  const kept = between.flatMap((l) => [
    `blocks.${l}.mlp` as const,
    ...(l > from.layer ? [`blocks.${l}.heads` as const] : []),
  ]);
  const key = `blocks.${to.layer}.key` as const;
  const value = hl.scope(() => {
    const { captured } = model.forward({ ids }, { capture: kept });
    const off: Edit = { at: `blocks.${from.layer}.heads`, head: from.head, set: 'zero' };
    const edit = [off, ...kept.map((at) => ({ at, set: captured[at] }))];
    const cut = model.forward({ ids }, { capture: [key], edit }).captured[key];
    return { data: cut.copy(), shape: [...cut.shape] };
  });
  return { at: key, head: to.head, set: value };
}
