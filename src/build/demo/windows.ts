// Windows of a text's tokens for training. Some windows repeat a passage, so that a token is followed by the same token
// as at its previous occurrence, which trains induction heads. A text of this size has too few natural repetitions.

import type { Random } from '../../../web/model/types.ts';
import { fillWindow } from './echoes.ts';
import { fillRefrain } from './refrains.ts';

/** tokens of all chapters, one after the other */
export type Texts = {
  train: Int32Array;
  heldOut: Int32Array;
  /** the token at the beginning of every chapter */
  start: number;
  /** see wholeWords; windows with echoes need whole, words and vocabulary */
  whole?: Uint16Array;
  /** all tokens that are whole words or signs */
  words?: Int32Array;
  /** all tokens of the text */
  vocabulary?: Int32Array;
};
export type WindowOptions = {
  /** number of windows */
  batch: number;
  /** tokens per window */
  window: number;
  /** fraction of the windows that repeat a passage */
  repeats: number;
  /** fraction of the windows in which random tokens occur twice */
  drills?: number;
  /** fraction of the windows in which passages of whole words occur twice */
  echoes?: number;
  /** fraction of the windows in which phrases occur several times in a row */
  stutters?: number;
  /** fraction of the windows that are replaced by windows of fillRefrain */
  refrains?: number;
  /**
   * fraction of the input tokens (not of the targets) that are replaced by random tokens, which delays overfitting to
   * a small text
   */
  noise: number;
};

/** Smallest and largest number of tokens of a repeated passage. */
const [SHORTEST, LONGEST] = [8, 64];
/** A target that the loss ignores. */
const NONE = -100;

const below = (random: Random, n: number) => Math.floor(random() * n);

/**
 * Returns a passage of the text, or the same number of tokens drawn at random from the whole text. Random tokens cannot
 * be memorized.
 */
function passage(tokens: Int32Array, random: Random) {
  const length = SHORTEST + below(random, LONGEST - SHORTEST + 1);
  const at = below(random, tokens.length - length);
  return random() < 0.5
    ? tokens.subarray(at, at + length)
    : Int32Array.from({ length }, () => tokens[below(random, tokens.length)]);
}

export function windows(texts: Texts, options: WindowOptions, random: Random) {
  const { batch, window, repeats, drills = 0, echoes = 0, stutters = 0, refrains = 0, noise } = options;
  const { train } = texts;
  const labels = new Int32Array(batch * window);
  const targets = new Int32Array(batch * window);
  const rowsOf = (b: number) => {
    const [from, to] = [b * window, (b + 1) * window];
    return { labels: labels.subarray(from, to), targets: targets.subarray(from, to) };
  };
  for (let b = 0; b < batch; b++) {
    const row = b * window;
    const part = random();
    if (part < repeats) {
      const said = passage(train, random);
      const from = below(random, said.length);
      for (let t = 0; t < window; t++) {
        labels[row + t] = said[(from + t) % said.length];
        // The first occurrence of a passage cannot be predicted, so it has no target.
        targets[row + t] = t + 1 < said.length ? NONE : said[(from + t + 1) % said.length];
      }
    } else if (part < repeats + drills + echoes + stutters) {
      const rest = part - repeats;
      const kind = rest < drills ? 'drills' : rest < drills + echoes ? 'echoes' : 'stutters';
      fillWindow(kind, texts, rowsOf(b), random);
    } else {
      const at = below(random, train.length - window);
      labels.set(train.subarray(at, at + window), row);
      for (let t = 0; t < window; t++) if (random() < noise) labels[row + t] = train[below(random, train.length)];
      targets.set(train.subarray(at + 1, at + 1 + window), row);
    }
  }
  for (let b = 0; b < batch; b++) if (refrains > 0 && random() < refrains) fillRefrain(texts, rowsOf(b), random);
  return { labels, targets };
}
