// Values of the last runs: the run that is shown, its other case, the pinned run, and earlier ones.

import { alignWords, partnersOf } from '../../features/trace/alignWords.js';
import { runOf } from '../../store/runInput.js';
import { readRun } from './modelInput.js';
import { allEdits, capturesFor, forward } from './runModel.js';

/** @import { Edit } from '../../../src/js/models/edits.js' */
/** @import { Run } from '../../store/protocol.js' */
/** @import { Hl, TransformerSource } from '../sources/types.js' */
/** @import { Values } from './runModel.js' */

const MAX_RUNS = 8;

export class RunCache {
  /** The least recently used first. @type {Map<string, Values>} */
  #runs = new Map();

  /**
   * @param {Hl} hl
   * @param {TransformerSource} source
   * @param {Run} run
   * @param {{ layer: number, pinned: Run | null, part?: string }} how layer: the one whose heads are read
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
      values = forward(hl, source, input, edits, capturesFor(source, part, layer));
    }
    this.#runs.set(key, values);
    for (const old of [...this.#runs.keys()].slice(0, -MAX_RUNS)) this.#runs.delete(old);
    return values;
  }

  /**
   * The edits of a run of T tokens. Without a pinned run nothing is patched.
   * @param {Hl} hl
   * @param {TransformerSource} source
   * @param {Run} run
   * @param {{ layer: number, pinned: Run | null, T: number }} how
   * @returns {Edit[]}
   */
  edits(hl, source, run, { layer, pinned, T }) {
    return allEdits(
      source,
      pinned ? run : { ...run, patch: {} },
      T,
      () => this.values(hl, source, { .../** @type {Run} */ (pinned), patch: {} }, { layer, pinned: null }),
      () => patchPartners(source, run, /** @type {Run} */ (pinned)),
    );
  }
}

/**
 * For each token of a run its partner in the pinned run, −1 for none.
 * @param {TransformerSource} source
 * @param {Run} run
 * @param {Run} pinned
 */
export const partnersIn = (source, run, pinned) =>
  partnersOf(alignWords(readRun(source, pinned).pieces, readRun(source, run).pieces).columns, 0);

/**
 * The same for patches: without a partner of its own, the last token, whose guess is shown, has the last one there.
 * @param {TransformerSource} source
 * @param {Run} run
 * @param {Run} pinned
 */
export function patchPartners(source, run, pinned) {
  const partners = partnersIn(source, run, pinned);
  const last = partners.length - 1;
  return partners[last] < 0 ? partners.with(last, readRun(source, pinned).pieces.length - 1) : partners;
}
