/** The role of a head: see src/js/analysis/roles/headRoles.ts. */
export type AtlasRole = import('../../../src/js/analysis/roles/roleRules.ts').HeadRole;
/** A measure of each rule and head. */
export type ByRole = Partial<Record<AtlasRole, ArrayLike<number>>>;

export type AtlasMeasure =
  | 'selfAttention'
  | 'previous'
  | 'entropy'
  | 'distance'
  | 'distanceVariance'
  | 'induction'
  | 'first'
  | 'duplicate';

/** The passages that are scanned. texts: the visitor's passages; if missing, those of the demo model. */
export interface Corpus {
  /** The name of the texts; empty for the passages of the demo model. */
  title: string;
  texts?: string[];
}

/** A map of all heads. Head h of layer l has index l·H + h in arrays with a value for each head. */
export interface AtlasMap {
  /** A hash of the model, the corpus and the settings. */
  key: string;
  layers: number;
  heads: number;
  title: string;
  /** The number of passages of the corpus, and how many of them have been read. */
  passages: number;
  done: number;
  tokens: number;
  /** The indices of passages that are too short to be measured, and the number of truncated passages. */
  skipped: number[];
  truncated: number;
  /** Tokens of the longest passage. */
  longest: number;
  measures: Record<AtlasMeasure, ArrayLike<number>>;
  /** The mean weight of each head on the keys that the rule of each role predicts, over the passages. */
  means: ByRole;
  /** The mean share of these keys among the visible keys. */
  chances: ByRole;
  /** Bits per token that switching the head off costs; NaN where it is not measured. */
  costs?: ArrayLike<number>;
  /** The mean weights of the first tokens, (L,H,P,P), in models with few heads. */
  pictures?: Float32Array;
  state: 'running' | 'paused' | 'stopped' | 'finished';
  /** Milliseconds that the scan took so far. */
  time: number;
  source: 'scan' | 'stored' | 'sentence' | 'folder';
}

export interface AtlasSample {
  sequence: number;
  /** The number of the interval that contains the passage's largest weight. Interval 1 has the smallest weights. */
  interval: number;
  tokens: string[];
  max: number;
  /** The indices t·T + s of the weights that are kept, ascending. */
  indices: ArrayLike<number>;
  values: ArrayLike<number>;
}

export interface TokenWeight {
  token: string;
  weight: number;
}

/** The data of the atlas's page for one head. */
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
  /** The number of passages measured so far, and of all passages. */
  measured: number;
  total: number;
  /** The mean cost of each passage. */
  costs: number[];
  mean: number;
  /** The mean cost at tokens where the rule of the head's role holds; null if there is no role or no such token. */
  holding: number | null;
}

export interface AtlasRequests {
  /** Scans all heads of a state's model, or shows the stored result. again: scans even if there is a stored result. */
  scan: { state: AtlasState; corpus: Corpus; length: number; again?: boolean };
  /** Shows the newest stored scan of a model. If there is none, `estimate` requests how long a scan takes. */
  storedScan: { state: AtlasState; estimate?: boolean };
  controlScan: { action: 'pause' | 'continue' | 'stop' };
  /** Requests the page of one head of a map. */
  scannedHead: { state: AtlasState; key: string; layer: number; head: number };
  /** Measures, over the passages of a map, the cost of switching one head off. */
  headCost: { state: AtlasState; key: string; layer: number; head: number; role: AtlasRole | null };
  /** Writes a map with the pages of its heads as a HeadVis folder, in a zip archive. title: the model's title. */
  saveHeadvis: { state: AtlasState; key: string; title: string };
}

/** The part of a state that identifies the model. */
export type AtlasState = Pick<import('../state.ts').State, 'model'> & Partial<import('../state.ts').State>;

export interface AtlasParts {
  atlasMap: { map: AtlasMap };
  /** milliseconds: the time of one passage with `tokens` tokens. passages: the number of the demo model's passages. */
  atlasEstimate: { milliseconds: number; tokens: number; passages: number };
  atlasHead: AtlasHead;
  atlasCost: AtlasCost;
  headvisFile: { bytes: Uint8Array };
}
