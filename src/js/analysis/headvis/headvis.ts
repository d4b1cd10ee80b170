// Writes a result of scanHeads as files that the HeadVis page displays (https://github.com/anthropics/headvis).

import { checkOptions } from '../../check/arguments.ts';
import { argumentError } from '../../check/errors.ts';
import type { Numbers } from '../arrays.ts';
import { headRoles } from '../roles/headRoles.ts';
import { type HeadDetails, type HeadScan, type Histogram, type Sample, tablesOf } from '../scan/headScan.ts';
import { ROLES_FILE, type RoleNames, rolesJson } from './headvisRoles.ts';

export type HeadvisNames = {
  model: string;
  dataset: string;
  /** names of the roles and their weights; default: by the measures of the scan */
  roles?: RoleNames | undefined;
};

const CALLER = 'writeHeadvis';
/** The names of the measures in the files, in the order of the menus, and their descriptions. */
export const METRICS = {
  selfAttention: ['self_attention_score', 'Mean weight of a token on itself.'],
  previous: ['prev_token_score', 'Mean weight on the token before.'],
  entropy: ['pattern_entropy', 'Mean entropy of a row of weights, in nats.'],
  distance: ['qk_distance', 'Mean distance of query and key in tokens, by weight.'],
  distanceVariance: ['qk_distance_variance', 'Variance of that distance, by weight.'],
  induction: ['induction_score', 'Mean weight on the tokens after earlier equal ones.'],
} as const;

/** Rounds a number, so that the file of a head takes about 1 MB. NaN, which JSON does not have, becomes null. */
const rounded = (x: number) => (Number.isNaN(x) ? null : Math.round(x * 1e4) / 1e4);
const allRounded = (values: ArrayLike<number>): number[] => Array.from(values, (x) => Number(rounded(x)));

/**
 * Returns the files of an atlas of heads, by name: config.json, scatter_data.json, and one file in heads/ for each
 * head. The HeadVis page reads them from its folder data/; only readHeadvis reads roles.json. Layers without attention
 * are left out.
 */
export function writeHeadvis(scan: HeadScan, names: HeadvisNames): Record<string, Uint8Array<ArrayBuffer>> {
  checkOptions(CALLER, names, ['model', 'dataset', 'roles']);
  for (const name of ['model', 'dataset'] as const)
    if (typeof names[name] !== 'string') throw argumentError(CALLER, name, names[name], 'a name');
  if (typeof scan?.head !== 'function' || !scan.metrics || !scan.maxima || !scan.edges || !scan.roles)
    throw argumentError(CALLER, 'scan', scan, 'a result of scanHeads');
  const [layers, count] = scan.metrics.entropy.shape;
  const heads = Array.from({ length: layers * count }, (_, i) => [Math.floor(i / count), i % count]).filter(
    ([layer, head]) => !Number.isNaN(scan.metrics.entropy.data[layer * count + head]),
  );
  const utf8 = new TextEncoder();
  const json = (value: object) => utf8.encode(JSON.stringify(value));
  return {
    'config.json': json(configOf(scan, names, heads)),
    'scatter_data.json': json(heads.map(([layer, head]) => measuresOf(scan, layer, head))),
    [ROLES_FILE]: json(rolesJson(names.roles ?? headRoles(scan.roles), scan.roles, heads, rounded)),
    'server_config.json': json({}),
    'attributions/manifest.json': json({}),
    ...Object.fromEntries(
      heads.map(([layer, head]) => [`heads/L${layer}H${head}.json`, json(headFile(scan.head(layer, head)))]),
    ),
  };
}

function configOf({ metrics, maxima, edges, longest }: HeadScan, { model, dataset }: HeadvisNames, heads: number[][]) {
  const [layers, count] = metrics.entropy.shape;
  return {
    model_name: model,
    dataset_name: dataset,
    heads,
    n_layers: layers,
    n_heads: count,
    n_intervals: edges.shape[2] + 1,
    metrics: Object.values(METRICS).map(([name]) => name),
    metric_descriptions: Object.fromEntries(Object.values(METRICS)),
    head_data_pattern: 'L{layer}H{head}.json',
    roles_file: ROLES_FILE,
    has_umap: false,
    umap_heads: [],
    custom_plots: [
      { key: 'qk_distance_histogram', label: 'Distance of query and key' },
      { key: 'histogram', label: 'Largest weight of a sequence' },
    ],
    custom_tables: [
      { key: 'top_query_tokens', label: 'Top query tokens' },
      { key: 'top_key_tokens', label: 'Top key tokens' },
    ],
    statistics_display: {
      n_samples: { label: 'Samples', format: 'default' },
      mean_max_activation: { label: 'Mean of the largest weights', format: 'default' },
    },
    pipeline_config: {
      n_sequences: maxima.shape[0],
      seq_len: longest,
      dtype: 'float32',
      attn_implementation: 'headlight',
    },
  };
}

function measuresOf({ metrics }: HeadScan, layer: number, head: number) {
  const numberOf = ({ data, shape }: Numbers) => rounded(data[layer * shape[1] + head]);
  const known = Object.entries(METRICS).map(([name, [column]]) => [
    column,
    numberOf(metrics[name as keyof typeof METRICS]),
  ]);
  return { layer, head, ...Object.fromEntries(known) };
}

function headFile({ sequences, histogram, statistics }: HeadDetails) {
  const written = sequences.map(sequenceOf);
  // The tables are computed from the rounded numbers in the file, so that a reader gets the same sums.
  const { distances, queryTokens, keyTokens } = tablesOf(
    written.map(({ tokens, attention_indices: indices, attention_values: values }) => ({ tokens, indices, values })),
  );
  return {
    sequences: written,
    qk_distance_histogram: histogramOf(distances),
    top_query_tokens: queryTokens.map(({ token, weight }) => ({ token, weight: rounded(weight) })),
    top_key_tokens: keyTokens.map(({ token, weight }) => ({ token, weight: rounded(weight) })),
    histogram: histogramOf(histogram),
    statistics: { n_samples: statistics.samples, mean_max_activation: rounded(statistics.meanMax) },
  };
}

const sequenceOf = ({ sequence, interval, tokens, indices, values, max }: Sample) => ({
  sequence_id: sequence,
  interval,
  tokens,
  attention_indices: Array.from(indices),
  attention_values: allRounded(values),
  seq_len: tokens.length,
  max_activation: rounded(max),
});

const histogramOf = ({ edges, values }: Histogram) => ({
  bin_edges: allRounded(edges),
  bin_values: allRounded(values),
});
