// A HeadVis folder as a source. The folder has no model, but contains passages with attention weights for each head.
// Entry 0 of a head is the passage with the largest weight.

import { type HeadvisDetails, type HeadvisScan, readHeadvis } from '../../../src/js/analysis/headvis/headvisReader.ts';
import type { NamedHeads, RoleMeasures } from '../../../src/js/analysis/roles/headRoles.ts';
import type { AtlasHead, AtlasMap } from '../../model/protocol/atlasProtocol.ts';
import type { About, State, Summary, UserFile } from '../../model/protocol/protocol.ts';
import { numberedPieces } from '../run/modelInput.ts';
import type { Reply } from '../types.ts';
import { rolesByMetrics } from './headvisMetrics.ts';
import { Problem } from './problem.ts';
import type { Source } from './types.ts';

/** The path of the file that identifies a HeadVis folder. */
const SCATTER = /(^|.*\/)scatter_data\.json$/;

export type HeadvisSource = {
  about: About;
  version?: number;
  tokens?: Record<string, string[]>;
  dispose?: () => void;
  headvis: HeadvisScan;
  named: NamedHeads;
};

export async function openHeadvis(
  name: string,
  files: UserFile[],
  title: string,
): Promise<{ source: Source; summary: Summary }> {
  const top = files.map(({ path }) => SCATTER.exec(path)?.[1]).find((folder) => folder !== undefined) ?? '';
  const inside = files.filter(({ path }) => path.startsWith(top));
  const byName = Object.fromEntries(inside.map(({ path, file }) => [path.slice(top.length), file]));
  let headvis;
  try {
    headvis = await readHeadvis(byName);
  } catch (error) {
    throw new Problem('checkpoint', (error as Error).message.replace(/^readHeadvis: /, ''));
  }
  const [layers, heads] = headvis.metrics.entropy.shape;
  const { layer, head } = headvis.heads[0] ?? { layer: 0, head: 0 };
  const samples = await samplesOf(headvis, layer, head);
  const length = samples[0]?.tokens.length ?? 0;
  return {
    source: {
      about: {
        ...{
          name,
          title: headvis.model || title,
          kind: 'weights',
          folder: true,
          layers,
          heads,
          width: 0,
          context: length,
        },
        ...{ causal: true, predicts: false, guess: null, reads: 'nothing', words: true, writes: false, edits: false },
        ...{ sums: false, mask: null, parts: [], bytes: files.reduce((sum, { file }) => sum + file.size, 0) },
      },
      headvis,
      named: headvis.roles ?? rolesByMetrics(headvis, samples),
    },
    summary: {
      kind: 'weights',
      sums: 'rows',
      parts: [
        {
          ...{ name: '', layers, batch: 1, heads, T: length, S: length, wholeT: length, wholeS: length },
          ...{ nan: 0, causal: true },
        },
      ],
      ...{ named: true, unused: [], problems: [] },
    },
  };
}

async function samplesOf(headvis: HeadvisScan, layer: number, head: number) {
  const { sequences } = await detailsOf(headvis, layer, head);
  return [...sequences].sort((a, b) => b.interval - a.interval || b.max - a.max);
}

/** Reads the details of a head. For a head without a file, returns empty details. */
async function detailsOf(headvis: HeadvisScan, layer: number, head: number): Promise<HeadvisDetails> {
  if (headvis.heads.some((one) => one.layer === layer && one.head === head)) return headvis.head(layer, head);
  const distances = { edges: [0, 1], values: [0] };
  return { sequences: [], distances, queryTokens: [], keyTokens: [], statistics: { samples: 0, meanMax: Number.NaN } };
}

export function headvisMap({ about, headvis, named }: HeadvisSource, key: string): AtlasMap {
  const { layers, heads } = about;
  const { metrics, config } = headvis;
  const byRole = (measures: RoleMeasures['mean']) =>
    Object.fromEntries(Object.entries(measures).map(([role, { data }]) => [role, data]));
  const none = () => new Float32Array(layers * heads).fill(Number.NaN);
  const of = (name: string) => metrics[name]?.data ?? none();
  const passages = Number(config.pipeline_config?.n_sequences) || 0;
  const length = Number(config.pipeline_config?.seq_len) || about.context;
  return {
    ...{
      key,
      layers,
      heads,
      title: headvis.dataset,
      passages,
      done: passages,
      tokens: passages * length,
      longest: length,
    },
    ...{ skipped: [], truncated: 0, state: 'finished', time: 0, source: 'folder' },
    means: byRole(named.mean),
    chances: byRole(named.chance),
    measures: {
      selfAttention: of('selfAttention'),
      previous: of('previous'),
      entropy: of('entropy'),
      distance: of('distance'),
      distanceVariance: of('distanceVariance'),
      induction: of('induction'),
      first: named.mean.first?.data ?? none(),
      duplicate: named.mean.duplicate?.data ?? none(),
    },
  };
}

export async function headvisPage(
  { headvis }: HeadvisSource,
  key: string,
  layer: number,
  head: number,
): Promise<AtlasHead> {
  const { distances, queryTokens, keyTokens } = await detailsOf(headvis, layer, head);
  const samples = (await samplesOf(headvis, layer, head)).map((sample, entry) => ({ ...sample, sequence: entry }));
  return { key, layer, head, samples, distances, queryTokens, keyTokens };
}

/** Answers `show` with a passage of the chosen head, and with the weights that the file contains. */
export async function showHeadvis(
  { about, headvis, named }: HeadvisSource,
  state: State,
  reply: Pick<Reply, 'send' | 'checkCancelled'>,
) {
  const [layer, head] = [Math.min(state.layer, about.layers - 1), Math.min(state.head, about.heads - 1)];
  const samples = await samplesOf(headvis, layer, head);
  if (await reply.checkCancelled()) return;
  reply.send('source', { about });
  const sample = samples[Math.min(state.entry, samples.length - 1)];
  const tokens = sample?.tokens ?? [];
  const T = tokens.length;
  const weights = new Float32Array(T * T);
  sample?.indices.forEach((at, i) => {
    weights[at] = sample.values[i];
  });
  const pieces = numberedPieces(
    T,
    tokens.map((token) => token.trim() || '␣'),
  );
  reply.send('run', { pieces, cut: false, T, layer, head, large: true, named: true, weights, scores: null }, [
    weights.buffer,
  ]);
  reply.send('roles', { roles: named.names, weights: named.weights });
}
