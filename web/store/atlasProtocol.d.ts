// The messages about the atlas, a scan of all heads over many texts.

/** The rules by which a head's usual role is chosen. */
export type AtlasRole = 'induction' | 'duplicate' | 'previous' | 'itself' | 'first' | 'nearby';

export type AtlasMeasure =
  | 'selfAttention'
  | 'previous'
  | 'entropy'
  | 'distance'
  | 'distanceVariance'
  | 'induction'
  | 'first'
  | 'duplicate';

/** The passages that are scanned. texts: those of the visitor; without them, the passages of the demo model. */
export interface Corpus {
  /** The name of the texts; empty for the passages of the demo model. */
  title: string;
  texts?: string[];
}

/** A map of all heads. Arrays of heads are by l·H + h. */
export interface AtlasMap {
  /** A hash of the model, the corpus and the settings. */
  key: string;
  layers: number;
  heads: number;
  title: string;
  /** Passages of the corpus, and how many of them have been read. */
  passages: number;
  done: number;
  /** Tokens of the passages that have been read. */
  tokens: number;
  /** Passages that are too short to be measured, and passages that were truncated. */
  skipped: number[];
  truncated: number;
  /** Tokens of the longest passage. */
  longest: number;
  measures: Record<AtlasMeasure, ArrayLike<number>>;
  /** The share of rows in which the largest weight follows a rule. */
  holds: Partial<Record<AtlasRole, ArrayLike<number>>>;
  /** The share of rows in which a random choice follows a rule. */
  chance: Partial<Record<AtlasRole, number>>;
  /** The share of the weight on near tokens; missing if it is unknown. */
  near?: ArrayLike<number>;
  /** Bits per token that switching the head off costs; NaN where it is not measured. */
  costs?: ArrayLike<number>;
  /** The mean weights of the first tokens, (L,H,P,P), in models with few heads. */
  pictures?: Float32Array;
  state: 'running' | 'paused' | 'stopped' | 'finished';
  /** Milliseconds that the scan took so far. */
  time: number;
  /** Where it came from. */
  source: 'scan' | 'stored' | 'sentence' | 'folder';
}

export interface AtlasSample {
  sequence: number;
  /** From 1; the highest has the largest weights. */
  interval: number;
  tokens: string[];
  max: number;
  /** t·T + s of the weights that are kept, ascending. */
  indices: ArrayLike<number>;
  values: ArrayLike<number>;
}

export interface TokenWeight {
  token: string;
  weight: number;
}

/** The page of one head. */
export interface AtlasHead {
  key: string;
  layer: number;
  head: number;
  samples: AtlasSample[];
  distances: { edges: ArrayLike<number>; values: ArrayLike<number> };
  queryTokens: TokenWeight[];
  keyTokens: TokenWeight[];
}

/** The cost of switching a head off, in bits per token. */
export interface AtlasCost {
  key: string;
  layer: number;
  head: number;
  /** Passages so far, and in all. */
  measured: number;
  total: number;
  /** By passage. */
  costs: number[];
  mean: number;
  /** The mean where its rule holds; null if it has none, or it never holds. */
  holding: number | null;
}

export interface AtlasRequests {
  /** Scans all heads of the model of a state, or shows the stored result. again: also if there is one. */
  scan: { state: AtlasState; corpus: Corpus; length: number; again?: boolean };
  /** Shows the newest stored scan of a model; without one, tells on request how long a scan takes. */
  storedScan: { state: AtlasState; estimate?: boolean };
  controlScan: { action: 'pause' | 'continue' | 'stop' };
  /** The page of one head of a map. */
  scannedHead: { state: AtlasState; key: string; layer: number; head: number };
  /** Measures the cost of switching one head off, over the passages of a map. */
  headCost: { state: AtlasState; key: string; layer: number; head: number; role: AtlasRole | null };
  /** Writes a map with its pages as a folder of HeadVis, in a zip archive. title: of the model. */
  saveHeadvis: { state: AtlasState; key: string; title: string };
}

/** The part of a state that says which model is meant. */
export type AtlasState = Pick<import('./state.js').State, 'model'> & Partial<import('./state.js').State>;

export interface AtlasParts {
  atlasMap: { map: AtlasMap };
  /** There is no stored scan. milliseconds: of one passage with `tokens` tokens. passages: of the demo model. */
  atlasEstimate: { milliseconds: number; tokens: number; passages: number };
  atlasHead: AtlasHead;
  atlasCost: AtlasCost;
  headvisFile: { bytes: Uint8Array };
}
