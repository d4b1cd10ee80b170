// Runs a scan, which measures all heads over the passages of a corpus, and reports the map as the scan proceeds.

import type { Numbers } from '../../../src/js/analysis/arrays.ts';
import type { HeadScan } from '../../../src/js/analysis/scan/headScan.ts';
import { type ScannedModel, scanHeads } from '../../../src/js/analysis/scan/scanHeads.ts';
import { tokenNames } from '../../../src/js/analysis/tokenNames.ts';
import type { AtlasMap, AtlasRole } from '../../model/protocol/atlasProtocol.ts';
import type { TransformerSource } from '../sources/types.ts';
import type { Scanned } from './atlas.ts';
import type { HeadRecord } from './atlasDatabase.ts';
import { meanPictures } from './meanPictures.ts';
import type { Passages } from './passages.ts';

/** The samples of a head: TOP passages of the highest of the INTERVALS, and SAMPLES passages of each other interval. */
const [INTERVALS, TOP, SAMPLES] = [5, 20, 10];
/** Weights kept of each row. For more than MANY heads they are fewer, so that the samples fit into memory. */
const [KEEP, KEEP_OF_MANY, MANY] = [8, 4, 300];
/** Minimum milliseconds between two reports of the map, and the maximum share of the time that reports may take. */
const [EVERY, MAX_SHARE] = [250, 0.1];
/** Maximum heads of a map with pictures. A map of more heads has no room for pictures. */
const MAX_PICTURES = 24;
/** Passages are halved until they fit into memory, but not below this length. */
const MIN_LENGTH = 16;

class Stopped extends Error {}

/** `isCancelled`: returns true after a newer request has come. */
export function createControl(isCancelled: () => boolean) {
  const abort = new AbortController();
  /** Resolves when the paused scan is resumed; null if the scan is not paused. */
  let paused: Promise<void> | null = null;
  let resume = () => {};
  const end = (reason: Error) => {
    abort.abort(reason);
    resume();
  };
  return {
    signal: abort.signal,
    isPaused: () => paused !== null,
    pause() {
      paused ??= new Promise((resolve) => {
        resume = () => {
          paused = null;
          resolve();
        };
      });
    },
    continue: () => resume(),
    stop: () => end(new Stopped()),
    cancel: () => end(new Error('cancelled')),
    /** Waits while the scan is paused; returns milliseconds. */
    async wait(onPause: () => void): Promise<number> {
      if (isCancelled()) this.cancel();
      if (!paused) return 0;
      const begun = performance.now();
      onPause();
      await paused;
      return performance.now() - begun;
    },
  };
}

/** Returns null if the scan was cancelled, or was stopped before the first passage was read. */
export async function runScan(
  source: TransformerSource,
  { ids, truncated }: Passages,
  {
    key,
    title,
    control,
    onMap,
  }: {
    key: string;
    title: string;
    control: ReturnType<typeof createControl>;
    onMap: (scanned: Scanned) => void;
  },
): Promise<Scanned | null> {
  const { layers, heads } = source.about;
  const nameOf = tokenNames({ tokenizer: source.tokenizer });
  const pictures = layers * heads <= MAX_PICTURES ? meanPictures(source, ids) : undefined;
  let begun = performance.now();
  const latest = { scanned: null as Scanned | null };
  let [sent, took] = [-Infinity, 0];
  function report(scan: HeadScan, done: number, state: AtlasMap['state']) {
    const start = performance.now();
    latest.scanned = scannedOf(
      scan,
      { ids, nameOf },
      {
        ...{ key, title, layers, heads, pictures, truncated, state },
        ...{ passages: ids.length, done, time: start - begun, source: 'scan' },
      },
    );
    onMap(latest.scanned);
    [sent, took] = [performance.now(), performance.now() - start];
  }
  const whole = ids.filter(({ length }) => length > 1).length;
  try {
    const scan = await scanHeads(source.model as unknown as ScannedModel, ids, {
      ...{ intervals: INTERVALS, top: TOP, samples: SAMPLES, batch: 1, names: nameOf, signal: control.signal },
      keep: layers * heads > MANY ? KEEP_OF_MANY : KEEP,
      async onProgress({ done, scan: now }) {
        const count = Math.min(done, whole);
        begun += await control.wait(() => report(now(), count, 'paused'));
        control.signal.throwIfAborted();
        if (performance.now() - sent > Math.max(EVERY, took / MAX_SHARE)) report(now(), count, 'running');
      },
    });
    report(scan, whole, 'finished');
    return latest.scanned;
  } catch (error) {
    const { code } = error as { code?: string };
    const { scanned } = latest;
    if (error instanceof Stopped && scanned) return { ...scanned, map: { ...scanned.map, state: 'stopped' } };
    if (control.signal.aborted) return null;
    const longest = ids.reduce((most, { length }) => Math.max(most, length), 0);
    if ((code !== 'OUT_OF_MEMORY' && !(error instanceof RangeError)) || longest < 2 * MIN_LENGTH) throw error;
    const half = Math.floor(longest / 2);
    const shorter = ids.map((passage) => passage.slice(0, half));
    const cut = ids.filter(({ length }) => length > half).length;
    return runScan(source, { ids: shorter, truncated: cut }, { key, title, control, onMap });
  }
}

function scannedOf(
  scan: HeadScan,
  { ids, nameOf }: Pick<Scanned, 'ids' | 'nameOf'>,
  about: Omit<AtlasMap, 'measures' | 'means' | 'chances' | 'tokens' | 'skipped' | 'longest'>,
): Scanned {
  const { metrics, roles, skipped, longest } = scan;
  const byRole = (measures: Record<AtlasRole, Numbers>) =>
    Object.fromEntries(Object.entries(measures).map(([role, { data }]) => [role, data]));
  const whole = ids.filter(({ length }) => length > 1);
  return {
    map: {
      ...about,
      skipped,
      longest,
      tokens: whole.slice(0, about.done).reduce((sum, { length }) => sum + length, 0),
      measures: {
        selfAttention: metrics.selfAttention.data,
        previous: metrics.previous.data,
        entropy: metrics.entropy.data,
        distance: metrics.distance.data,
        distanceVariance: metrics.distanceVariance.data,
        induction: metrics.induction.data,
        first: roles.first.data,
        duplicate: roles.duplicate.data,
      },
      means: byRole(roles.mean),
      chances: byRole(roles.chance),
    },
    ids,
    nameOf,
    read: (layer, head) => recordIn(scan, layer, head),
  };
}

function recordIn(scan: HeadScan, layer: number, head: number): HeadRecord {
  const { sequences, distances, queryTokens, keyTokens, histogram, statistics } = scan.head(layer, head);
  const samples = sequences.map(({ sequence, interval, ids, max, indices, values }) => ({
    ...{ sequence, interval, max, indices, values },
    ids: Int32Array.from(ids),
  }));
  return { samples, distances, queryTokens, keyTokens, histogram, statistics };
}
