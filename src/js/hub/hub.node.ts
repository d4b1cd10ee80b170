// The entry headlight-attention/hub for Node: lists models on the Hugging Face Hub and in the shared cache of its
// tools.

import type { HubFileInfo } from './kinds.ts';
import { forgetModel, listCached, listFiles } from './models.ts';
import { node } from './nodePlatform.ts';
import type { HubOptions } from './options.ts';
import type { CachedModel } from './types.ts';

/**
 * Lists the files of a model with their sizes, and whether openModel can open them.
 * @param id owner/name, hf://owner/name@revision, or an address of the Hub
 */
export const files = (id: string, options?: HubOptions): Promise<{ revision: string; files: HubFileInfo[] }> =>
  listFiles(node, id, options);

/** Lists the models in the cache. */
export const cached = (options?: HubOptions): Promise<CachedModel[]> => listCached(node, options);

/** Removes all revisions of a model from the cache, including files that other tools have downloaded. */
export const forget = (id: string, options?: HubOptions): Promise<void> => forgetModel(node, id, options);
