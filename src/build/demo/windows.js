// Windows of a text's tokens for training. Some windows repeat a passage, so that a token is followed by the same token
// as at its previous occurrence, which trains induction heads. A text of this size has too few natural repetitions.

import { fillWindow } from './echoes.js';
import { fillRefrain } from './refrains.js';

/** @import { Random } from '../../../web/store/types.js' */

/**
 * @typedef {object} Texts tokens of all chapters, one after the other
 * @property {Int32Array} train
 * @property {Int32Array} heldOut
 * @property {number} start the token at the beginning of every chapter
 * @property {Uint16Array} [whole] see wholeWords; windows with echoes need whole, words and vocabulary
 * @property {Int32Array} [words] all tokens that are whole words or signs
 * @property {Int32Array} [vocabulary] all tokens of the text
 */
/**
 * @typedef {object} WindowOptions
 * @property {number} batch number of windows
 * @property {number} window tokens per window
 * @property {number} repeats fraction of the windows that repeat a passage
 * @property {number} [drills] fraction of the windows in which random tokens occur twice
 * @property {number} [echoes] fraction of the windows in which passages of whole words occur twice
 * @property {number} [stutters] fraction of the windows in which phrases occur several times in a row
 * @property {number} [refrains] fraction of the windows that are replaced by windows of fillRefrain
 * @property {number} noise fraction of the input tokens (not of the targets) that are replaced by random tokens, which
 * delays overfitting to a small text
 */

/** Smallest and largest number of tokens of a repeated passage. */
const [SHORTEST, LONGEST] = [8, 64];
/** A target that the loss ignores. */
const NONE = -100;

/** @param {Random} random @param {number} n */
const below = (random, n) => Math.floor(random() * n);

/**
 * Returns a passage of the text, or the same number of tokens drawn at random from the whole text. Random tokens cannot
 * be memorized.
 * @param {Int32Array} tokens
 * @param {Random} random
 */
function passage(tokens, random) {
  const length = SHORTEST + below(random, LONGEST - SHORTEST + 1);
  const at = below(random, tokens.length - length);
  return random() < 0.5
    ? tokens.subarray(at, at + length)
    : Int32Array.from({ length }, () => tokens[below(random, tokens.length)]);
}

/**
 * @param {Texts} texts
 * @param {WindowOptions} options
 * @param {Random} random
 */
export function windows(texts, options, random) {
  const { batch, window, repeats, drills = 0, echoes = 0, stutters = 0, refrains = 0, noise } = options;
  const { train } = texts;
  const labels = new Int32Array(batch * window);
  const targets = new Int32Array(batch * window);
  const rowsOf = (/** @type {number} */ b) => {
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
