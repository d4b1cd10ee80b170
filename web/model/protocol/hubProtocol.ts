// Messages about models of the Hugging Face Hub.

/** How the weights are kept in memory: 'stored' keeps 16-bit weights as they are in the file. */
export type WeightsForm = 'float32' | 'stored' | 'int8';

export interface HubAnswer {
  described?: HubModel;
  stored?: StoredHubModel[];
  /** Seconds until a request that failed is repeated, because the Hub limits requests or the connection broke. */
  waits?: number;
}

export interface HubModel {
  /** The name of state.model: owner/name@sha, with the file if the repository has several models. */
  name: string;
  family: string;
  layers: number;
  heads: number;
  parameters: number;
  /** Bytes of the weights, and bytes that are still to be downloaded. */
  size: number;
  download: number;
  /** The possible forms of the weights, and their bytes in memory. inBlocks: blocks of 4 or 8 bits with scales. */
  forms: { weights: WeightsForm; inBlocks?: boolean; bytes: number }[];
  room: number;
  /** False if this browser does not store files for this page. */
  stores: boolean;
}

export interface StoredHubModel {
  id: string;
  revision: string;
  size: number;
}
