// Keeps the values of the last runs: the shown run, the run that it is compared with, the pinned run, and earlier runs.
// Runs that take long are computed block by block: see stepRun.ts.

import type { Edit } from '../../../src/js/models/edits.ts';
import { replacementOf } from '../../model/modelEdits.ts';
import type { Run } from '../../model/protocol/protocol.ts';
import { runOf } from '../../model/runInput.ts';
import { alignWords, partnersOf } from '../../model/trace/alignWords.ts';
import { Problem } from '../sources/problem.ts';
import type { Hl, TransformerSource } from '../sources/types.ts';
import { type Read, readRun } from './modelInput.ts';
import { allEdits, capturesFor, forward, stacksOf, type Values } from './runModel.ts';
import { isLong, isShort, longest, type Pause, runInSteps, runLong, withHead } from './stepRun.ts';
/** layer: the layer whose heads are read. head: the head that is shown of a long text; without it, none is. */
export type How = { layer: number; head?: number; pinned: Run | null; part?: string };

/** Maximum number of runs that are kept, and maximum bytes of all of them but the last one. */
const [MAX_RUNS, MAX_BYTES] = [8, 400 * 2 ** 20];

/** Stands for all layers in the key of a run on a long text. */
const LONG = -1;

const patchedFrom = (run: Run, pinned: Run | null) => (Object.keys(run.patch).length > 0 ? pinned : null);

/** Returns a text that identifies a run. */
const keyOf = ({ about, version }: TransformerSource, run: Run, { layer, pinned, part = 'decoder' }: How) =>
  JSON.stringify([about.name, version, part, layer, runOf(run), patchedFrom(run, pinned)]);

const sizesOf = ({ ids, keys }: Read) => ({ T: ids.length, S: keys?.length ?? ids.length });

function bytesOf({ captured, outputs, pictures = [], logits, hidden }: Values) {
  const arrays = [...Object.values(captured), ...Object.values(outputs ?? {}), ...pictures, hidden, logits];
  return arrays.reduce((sum, numbers) => sum + (numbers?.data.byteLength ?? 0), 0);
}

export class RunCache {
  /** Values by a text that identifies the run, the least recently used first. */
  #runs: Map<string, Values> = new Map();

  /** Returns the values of a run at once. Throws if the text is so long that only `compute` can run it. */
  values(hl: Hl, source: TransformerSource, run: Run, how: How): Values {
    const known = this.#find(source, run, how);
    if (known) return known;
    const { key, edits, read } = this.#plan(hl, source, run, how);
    const { layer, part = 'decoder' } = how;
    if (!source.sound && isLong(source, { part, ...sizesOf(read) }))
      throw new Problem('longText', read.ids.length, longest(source));
    const tokens = read.ids.length;
    return this.#keep(
      key,
      source.sound
        ? source.sound.forward(hl, read.input, edits(), { part, layer, tokens })
        : forward(hl, source, read.input, edits(), capturesFor(source, part, layer)),
    );
  }

  /** Computes the values of a run, if necessary block by block. */
  async compute(hl: Hl, source: TransformerSource, run: Run, how: How, pause: Pause): Promise<Values> {
    const known = this.#find(source, run, how);
    if (source.sound || (known && !known.outputs)) return known ?? this.values(hl, source, run, how);
    const { key, edits, read } = this.#plan(hl, source, run, how);
    const { layer, head, part = 'decoder' } = how;
    const shown = { part, layer, head: head ?? 0, row: read.place, ...sizesOf(read) };
    const whole = !isLong(source, shown);
    if (whole && isShort(source, shown)) return this.values(hl, source, run, how);
    if (whole) {
      const capture = capturesFor(source, part, layer);
      return this.#keep(key, await runInSteps(source, read.input, edits(), { capture, pause }));
    }
    const withPictures = head !== undefined;
    const values =
      known && (known.pictures || !withPictures)
        ? known
        : this.#keep(key, await runLong(source, read.input, edits(), shown, { withPictures, pause }));
    return withPictures ? withHead(source, read.input, edits(), values, shown, pause) : values;
  }

  /** Returns the values of a run that are kept. */
  #find(source: TransformerSource, run: Run, how: How) {
    const { layer, ...rest } = how;
    // The values of a run on a long text do not depend on the layer that is shown.
    const key = [layer, LONG].map((l) => keyOf(source, run, { ...rest, layer: l })).find((one) => this.#runs.has(one));
    return key === undefined ? undefined : this.#keep(key, this.#runs.get(key) as Values);
  }

  /** Returns the key of a run, its input, and a function that makes its edits. */
  #plan(hl: Hl, source: TransformerSource, run: Run, how: How) {
    const { layer, pinned, part = 'decoder' } = how;
    const read = readRun(source, run, part);
    const isLarge = !source.sound && isLong(source, { part, ...sizesOf(read) });
    const edits = () =>
      source.about.edits
        ? this.edits(hl, source, run, { layer, pinned: patchedFrom(run, pinned), T: read.ids.length })
        : [];
    return { key: keyOf(source, run, isLarge ? { ...how, layer: LONG } : how), edits, read };
  }

  /** Makes a run the last one, and drops the first ones if there are too many. */
  #keep(key: string, values: Values) {
    this.#runs.delete(key);
    this.#runs.set(key, values);
    const last = [...this.#runs.entries()].reverse();
    let bytes = 0;
    last.forEach(([old, run], i) => {
      if (i >= MAX_RUNS || (i > 0 && bytes > MAX_BYTES)) this.#runs.delete(old);
      bytes += bytesOf(run);
    });
    return values;
  }

  /** Returns a run's edits for T tokens; an encoder–decoder counts its own. Nothing is patched unless pinned. */
  edits(
    hl: Hl,
    source: TransformerSource,
    run: Run,
    { layer, pinned, T }: { layer: number; pinned: Run | null; T: number },
  ): Edit[] {
    const isPair = source.about.parts.length > 0;
    // The chosen layer may belong to an encoder with more layers than the decoder.
    const inDecoder = Math.min(layer, source.about.layers - 1);
    const [tokens, encoded] = isPair
      ? (['decoder', 'encoder'] as const).map((part) => readRun(source, run, part).ids.length)
      : [T, 0];
    return allEdits(
      stacksOf(source, tokens, encoded),
      { ...run, off: replacementOf(source.about, run), ...(!pinned && { patch: {} }) },
      () => {
        const whole = { ...(pinned as Run), patch: {} };
        const values = this.values(hl, source, whole, { layer: inDecoder, pinned: null });
        // A run on a long text has the values of one token only.
        if (values.outputs) throw new Problem('longText', values.hidden.shape[1], longest(source));
        return values;
      },
      (part) => patchPartners(source, run, pinned as Run, part),
    );
  }
}

/** Returns each token's partner in the pinned run, −1 for none. `part`: of an encoder–decoder. */
export const partnersIn = (source: TransformerSource, run: Run, pinned: Run, part?: string) =>
  partnersOf(alignWords(readRun(source, pinned, part).pieces, readRun(source, run, part).pieces).columns, 0);

/**
 * Returns the partners for patches. The last token, if it has none, gets the pinned run's last, because the page
 * compares the predictions at these two. `part`: of an encoder–decoder.
 */
export function patchPartners(source: TransformerSource, run: Run, pinned: Run, part?: string) {
  const partners = partnersIn(source, run, pinned, part);
  const last = partners.length - 1;
  return partners[last] < 0 ? partners.with(last, readRun(source, pinned, part).pieces.length - 1) : partners;
}
