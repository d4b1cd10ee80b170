// The entry headlight-attention/hub for pages: lists models on the Hugging Face Hub and in the storage of the page.

/** @module headlight-attention/hub */

import { forgetModel, listCached, listFiles } from './models.ts';
import { page } from './page.ts';

export type { HubFileInfo } from './kinds.ts';

import type { HubFileInfo } from './kinds.ts';

export type { Kind as HubFileKind } from './kinds.ts';
export type { HubOptions } from './options.ts';

import type { HubOptions } from './options.ts';

export type { HubWait } from './options.ts';
export type { CachedFile, CachedModel } from './types.ts';

import type { CachedModel } from './types.ts';

export type { HubError, HubReason } from './types.ts';

/**
 * Lists the files of a model with their sizes, and whether openModel can open them.
 * @param id owner/name, hf://owner/name@revision, or an address of the Hub
 */
export const files = (id: string, options?: HubOptions): Promise<{ revision: string; files: HubFileInfo[] }> =>
  listFiles(page, id, options);

/** Lists the models in the cache. */
export const cached = (options?: HubOptions): Promise<CachedModel[]> => listCached(page, options);

/** Removes all revisions of a model from the cache. */
export const forget = (id: string, options?: HubOptions): Promise<void> => forgetModel(page, id, options);
