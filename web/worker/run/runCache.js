// Keeps the values of the last runs: the shown run, the run that it is compared with, the pinned run, and earlier runs.

import { alignWords, partnersOf } from '../../features/trace/alignWords.js';
import { runOf } from '../../store/runInput.js';
import { readRun } from './modelInput.js';
import { allEdits, capturesFor, forward, stacksOf } from './runModel.js';

/** @import { Edit } from '../../../src/js/models/edits.js' */
/** @import { Run } from '../../store/protocol.js' */
/** @import { Hl, TransformerSource } from '../sources/types.js' */
/** @import { Values } from './runModel.js' */

const MAX_RUNS = 8;

export class RunCache {
  /** Values by a text that identifies the run, the least recently used first. @type {Map<string, Values>} */
  #runs = new Map();

  /**
   * @param {Hl} hl
   * @param {TransformerSource} source
   * @param {Run} run
   * @param {{ layer: number, pinned: Run | null, part?: string }} how layer: the layer whose heads are read
   * @returns {Values}
   */
  values(hl, source, run, { layer, pinned, part = 'decoder' }) {
    const patched = Object.keys(run.patch).length > 0 ? pinned : null;
    const key = JSON.stringify([source.about.name, source.version, part, layer, runOf(run), patched]);
    let values = this.#runs.get(key);
    if (values) this.#runs.delete(key);
    else {
      const { ids, input } = readRun(source, run, part);
      const edits = source.about.edits ? this.edits(hl, source, run, { layer, pinned: patched, T: ids.length }) : [];
      const tokens = ids.length;
      values = source.sound
        ? source.sound.forward(hl, input, edits, { part, layer, tokens })
        : forward(hl, source, input, edits, capturesFor(source, part, layer));
    }
    this.#runs.set(key, values);
    for (const old of [...this.#runs.keys()].slice(0, -MAX_RUNS)) this.#runs.delete(old);
    return values;
  }

  /**
   * Returns the edits of a run of T tokens. For an encoder–decoder, T is ignored, and the tokens of both texts are
   * counted by encoding the texts. Without a pinned run nothing is patched.
   * @param {Hl} hl
   * @param {TransformerSource} source
   * @param {Run} run
   * @param {{ layer: number, pinned: Run | null, T: number }} how
   * @returns {Edit[]}
   */
  edits(hl, source, run, { layer, pinned, T }) {
    const isPair = source.about.parts.length > 0;
    // The chosen layer may belong to an encoder with more layers than the decoder.
    const inDecoder = Math.min(layer, source.about.layers - 1);
    const [tokens, encoded] = isPair
      ? /** @type {const} */ (['decoder', 'encoder']).map((part) => readRun(source, run, part).ids.length)
      : [T, 0];
    return allEdits(
      stacksOf(source, tokens, encoded),
      pinned ? run : { ...run, patch: {} },
      () => this.values(hl, source, { .../** @type {Run} */ (pinned), patch: {} }, { layer: inDecoder, pinned: null }),
      (part) => patchPartners(source, run, /** @type {Run} */ (pinned), part),
    );
  }
}

/**
 * Returns for each token of a run the index of its partner in the pinned run, −1 for none.
 * @param {TransformerSource} source
 * @param {Run} run
 * @param {Run} pinned
 * @param {string} [part] of an encoder–decoder
 */
export const partnersIn = (source, run, pinned, part) =>
  partnersOf(alignWords(readRun(source, pinned, part).pieces, readRun(source, run, part).pieces).columns, 0);

/**
 * Returns the partners for patches. If the last token has no partner, its partner becomes the last token of the pinned
 * run, because the page compares the predictions at these two tokens.
 * @param {TransformerSource} source
 * @param {Run} run
 * @param {Run} pinned
 * @param {string} [part] of an encoder–decoder
 */
export function patchPartners(source, run, pinned, part) {
  const partners = partnersIn(source, run, pinned, part);
  const last = partners.length - 1;
  return partners[last] < 0 ? partners.with(last, readRun(source, pinned, part).pieces.length - 1) : partners;
}
