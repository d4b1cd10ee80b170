// Reads files of HeadVis, of any program: the summary of all heads at once, the samples of a head on request.

import { checkOptions, readNumber, readSignal } from '../../check/arguments.ts';
import type { ModelFiles, OpenPath } from '../../models/checkpoint/files.ts';
import type { Numbers } from '../arrays.ts';
import type { Head } from '../composition.ts';
import type { NamedHeads } from '../roles/headRoles.ts';
import {
  type HeadDetails,
  type HeadMetrics,
  type Histogram,
  type Sample,
  type TokenWeight,
  tablesOf,
} from '../scan/headScan.ts';
import { METRICS } from './headvis.ts';
import { wrongFile, wrongValue } from './headvisErrors.ts';
import { ROLES_FILE, readRoles } from './headvisRoles.ts';

export type HeadvisOptions = { signal?: AbortSignal };
export type HeadvisSample = Omit<Sample, 'sequence' | 'ids'> & { sequence: number | string };
/**
 * The samples of a head. From older files, which have only sequences, tables are computed, there is no histogram, and
 * meanMax is NaN.
 */
export type HeadvisDetails = Omit<HeadDetails, 'sequences' | 'histogram'> & {
  sequences: HeadvisSample[];
  histogram?: Histogram;
};
export type HeadvisScan = {
  model: string;
  dataset: string;
  /** heads that have files */
  heads: Head[];
  /** (L,H), NaN where a number is missing; a column that this module does not know is under its name in the file */
  metrics: HeadMetrics & Record<string, Numbers>;
  /** the roles of the heads; missing if another program wrote the files */
  roles?: NamedHeads | undefined;
  /** always empty */
  skipped: number[];
  /** contents of config.json */
  config: Record<string, any>;
  /** reads the file of a head */
  head: (layer: number, head: number) => Promise<HeadvisDetails>;
};
export type Json = Record<string, any>;

const CALLER = 'readHeadvis';
const [CONFIG, SCATTER] = ['config.json', 'scatter_data.json'];
/** Names of metrics in this module, by their names in files. HeadVis itself has another name for one of them. */
const NAMES: Json = Object.assign(Object.create(null), { previous_token_score: 'previous' });
for (const [name, [column]] of Object.entries(METRICS)) NAMES[column] = name;
const MAX_HEADS = 2 ** 20;

/**
 * Reads the files that writeHeadvis or the HeadVis page's own tools write: a folder (a URL or, in Node, a path), or
 * files by name.
 */
export const readHeadvis = (files: ModelFiles, options?: HeadvisOptions): Promise<HeadvisScan> =>
  readTree(files, options);

export async function readTree(
  files: ModelFiles,
  options: HeadvisOptions = {},
  openPath?: OpenPath,
): Promise<HeadvisScan> {
  checkOptions(CALLER, options, ['signal']);
  const signal = readSignal(CALLER, options.signal);
  const { HeadvisFolder } = await import('./headvisFolder.ts');
  const tree = new HeadvisFolder(files, openPath, signal);
  const [given, scatter] = await tree.read('', [CONFIG, SCATTER]);
  const config = objectOf(CONFIG, 'it', given);
  const layers = integerOf(CONFIG, 'n_layers', config.n_layers, 1, MAX_HEADS);
  const count = integerOf(CONFIG, 'n_heads', config.n_heads, 1, MAX_HEADS / layers);
  const heads = listOf(CONFIG, 'heads', config.heads).map((pair, i) => {
    const name = `heads[${i}]`;
    const [layer, head] = listOf(CONFIG, name, pair);
    return {
      layer: integerOf(CONFIG, `${name}[0]`, layer, 0, layers - 1),
      head: integerOf(CONFIG, `${name}[1]`, head, 0, count - 1),
    };
  });
  const [roles] = config.roles_file === ROLES_FILE ? await tree.read('', [ROLES_FILE]) : [];
  const fileOf = readPattern(config.head_data_pattern ?? 'L{layer}H{head}.json');
  return {
    model: String(config.model_name ?? ''),
    dataset: String(config.dataset_name ?? ''),
    heads,
    metrics: readMetrics(listOf(SCATTER, 'it', scatter), layers, count),
    ...(roles !== undefined && { roles: readRoles(roles, layers, count) }),
    skipped: [],
    config,
    async head(layer, head) {
      readNumber('head', 'layer', layer, { integer: true, least: 0, most: layers - 1 });
      readNumber('head', 'head', head, { integer: true, least: 0, most: count - 1 });
      const name = fileOf(layer, head);
      const [value] = await tree.read('heads', [name]);
      return readHead(`heads/${name}`, value);
    },
  };
}

function objectOf(file: string, name: string, value: unknown): Json {
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value;
  throw wrongValue(file, name, value, 'an object');
}

function listOf(file: string, name: string, value: unknown): any[] {
  if (Array.isArray(value)) return value;
  throw wrongValue(file, name, value, 'a list');
}

function integerOf(file: string, name: string, value: unknown, least: number, most: number) {
  if (Number.isInteger(value) && Number(value) >= least && Number(value) <= most) return Number(value);
  throw wrongValue(file, name, value, `an integer from ${least} to ${most}`);
}

function numbersOf(file: string, name: string, value: unknown): number[] {
  const list = listOf(file, name, value);
  const at = list.findIndex((x) => typeof x !== 'number');
  if (at >= 0) throw wrongValue(file, `${name}[${at}]`, list[at], 'a number');
  return list;
}

/** Returns a function from a head to the name of its file. */
function readPattern(pattern: unknown): (layer: number, head: number) => string {
  if (typeof pattern !== 'string' || !/^[\w .{}-]+$/.test(pattern) || !/[\w}]/.test(pattern))
    throw wrongValue(CONFIG, 'head_data_pattern', pattern, 'the name of a file, with {layer} and {head}');
  return (layer, head) => pattern.replaceAll('{layer}', String(layer)).replaceAll('{head}', String(head));
}

function readMetrics(rows: any[], layers: number, count: number) {
  const make = () => ({ data: new Float32Array(layers * count).fill(Number.NaN), shape: [layers, count] });
  const metrics: Map<string, Numbers> = new Map(Object.keys(METRICS).map((name) => [name, make()]));
  rows.forEach((given, i) => {
    const row = objectOf(SCATTER, `[${i}]`, given);
    const layer = integerOf(SCATTER, `[${i}].layer`, row.layer, 0, layers - 1);
    const head = integerOf(SCATTER, `[${i}].head`, row.head, 0, count - 1);
    for (const [column, value] of Object.entries(row)) {
      if (column === 'layer' || column === 'head' || typeof value !== 'number') continue;
      const name = NAMES[column] ?? column;
      const numbers = metrics.get(name) ?? make();
      numbers.data[layer * count + head] = value;
      metrics.set(name, numbers);
    }
  });
  return Object.fromEntries(metrics) as HeadvisScan['metrics'];
}

function readHead(file: string, value: unknown): HeadvisDetails {
  // An older file contains only the list of sequences.
  const given = Array.isArray(value) ? { sequences: value } : objectOf(file, 'it', value);
  const sequences = listOf(file, 'sequences', given.sequences).map((sample, i) =>
    readSample(file, `sequences[${i}]`, sample),
  );
  const tables = tablesOf(sequences);
  const histogram = given.histogram === undefined ? undefined : readHistogram(file, 'histogram', given.histogram);
  const { n_samples: samples = sequences.length, mean_max_activation: meanMax } = objectOf(
    file,
    'statistics',
    given.statistics ?? {},
  );
  const tableOf = (name: string, computed: TokenWeight[]) =>
    given[name] === undefined ? computed : readTable(file, name, given[name]);
  return {
    sequences,
    distances:
      given.qk_distance_histogram === undefined
        ? tables.distances
        : readHistogram(file, 'qk_distance_histogram', given.qk_distance_histogram),
    queryTokens: tableOf('top_query_tokens', tables.queryTokens),
    keyTokens: tableOf('top_key_tokens', tables.keyTokens),
    ...(histogram && { histogram }),
    statistics: { samples: Number(samples), meanMax: Number(meanMax ?? Number.NaN) },
  };
}

function readSample(file: string, name: string, value: unknown): HeadvisSample {
  const given = objectOf(file, name, value);
  const tokens = listOf(file, `${name}.tokens`, given.tokens).map(String);
  if (given.seq_len !== tokens.length)
    throw wrongValue(file, `${name}.seq_len`, given.seq_len, `${tokens.length}, the number of tokens`);
  const indices = numbersOf(file, `${name}.attention_indices`, given.attention_indices);
  const values = numbersOf(file, `${name}.attention_values`, given.attention_values);
  if (indices.length !== values.length) {
    const expected = `${indices.length} values, as many as indices`;
    throw wrongFile(file, `is wrong: ${name}.attention_values has ${values.length}, expected ${expected}`);
  }
  const size = tokens.length ** 2;
  const outside = indices.findIndex((at) => !(Number.isInteger(at) && at >= 0 && at < size));
  if (outside >= 0) {
    const expected = `an integer from 0 to ${size - 1}`;
    throw wrongValue(file, `${name}.attention_indices[${outside}]`, indices[outside], expected);
  }
  const { max_activation: max = values.reduce((most, x) => Math.max(most, x), 0) } = given;
  return {
    sequence: typeof given.sequence_id === 'number' ? given.sequence_id : String(given.sequence_id ?? ''),
    interval: integerOf(file, `${name}.interval`, given.interval ?? 1, 1, 2 ** 31),
    tokens,
    max: Number(max),
    indices: Uint32Array.from(indices),
    values: Float32Array.from(values),
  };
}

function readHistogram(file: string, name: string, value: unknown): Histogram {
  const given = objectOf(file, name, value);
  const edges = numbersOf(file, `${name}.bin_edges`, given.bin_edges);
  const values = numbersOf(file, `${name}.bin_values`, given.bin_values);
  if (edges.length === values.length + 1) return { edges, values };
  const expected = `${values.length + 1}, one more than bin_values`;
  throw wrongFile(file, `is wrong: ${name}.bin_edges has ${edges.length} numbers, expected ${expected}`);
}

function readTable(file: string, name: string, value: unknown): TokenWeight[] {
  return listOf(file, name, value).map((row, i) => {
    const { token, weight } = objectOf(file, `${name}[${i}]`, row);
    if (typeof weight !== 'number') throw wrongValue(file, `${name}[${i}].weight`, weight, 'a number');
    return { token: String(token), weight };
  });
}
