// Writes a map with the pages of all heads as a HeadVis folder in a zip archive.

import { writeHeadvis } from '../../../src/js/analysis/headvis/headvis.ts';
import type { RoleNames } from '../../../src/js/analysis/headvis/headvisRoles.ts';
import type { HeadScan } from '../../../src/js/analysis/scan/headScan.ts';
import { writeZip } from '../../../src/js/io/zip.ts';
import type { ByRole } from '../../model/protocol/atlasProtocol.ts';
import type { NamedRoles } from '../../model/protocol/protocol.ts';
import type { Scanned } from './atlas.ts';

/** `model`: its title; `named`: the roles that the page shows, null for those of the scan. */
export async function headvisArchive(
  { map, nameOf, read }: Scanned,
  model: string,
  named: NamedRoles | null,
): Promise<Uint8Array> {
  const { layers, heads, measures, means, chances, passages, longest, title } = map;
  const records = [];
  for (let i = 0; i < layers * heads; i++) records.push(await read(Math.floor(i / heads), i % heads));
  const pages = records.map((record) => {
    if (!record) throw new Error('the pages of this map are no longer stored: scan again');
    const { samples, ...tables } = record;
    const sequences = samples.map(({ ids, ...sample }) => ({
      ...sample,
      ids: Array.from(ids),
      tokens: Array.from(ids, nameOf),
    }));
    return { ...tables, sequences };
  });
  const numbers = (values: ArrayLike<number>) => ({
    data: Float32Array.from(values),
    shape: [layers, heads],
  });
  const byRole = (all: ByRole) =>
    Object.fromEntries(Object.entries(all).map(([role, values]) => [role, numbers(values)]));
  const { first: _first, duplicate: _duplicate, ...metrics } = measures;
  const intervals = Math.max(2, ...pages.flatMap(({ sequences }) => sequences.map(({ interval }) => interval)));
  const scan = {
    metrics: Object.fromEntries(Object.entries(metrics).map(([name, values]) => [name, numbers(values)])),
    // The writer reads only the shapes of `maxima` and `edges`.
    maxima: { data: new Float32Array(0), shape: [passages, layers, heads] },
    edges: { data: new Float32Array(0), shape: [layers, heads, intervals - 1] },
    longest,
    roles: { mean: byRole(means), chance: byRole(chances) },
    head: (layer: number, head: number) => pages[layer * heads + head],
  };
  const files = writeHeadvis(scan as unknown as HeadScan, {
    model,
    dataset: title,
    ...(named && { roles: { names: named.roles, weights: named.weights ?? [] } as RoleNames }),
  });
  return writeZip(Object.fromEntries(Object.entries(files).map(([name, bytes]) => [`data/${name}`, bytes])));
}
