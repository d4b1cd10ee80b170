// The entry headlight-attention/hub for Node: lists models on the Hugging Face Hub and in the cache that Hugging Face's
// tools share.

import { forgetModel, listCached, listFiles } from './models.js';
import { node } from './nodePlatform.js';

/** @import { HubFileInfo } from './kinds.js' */
/** @import { HubOptions } from './options.js' */
/** @import { CachedModel } from './types.js' */

/**
 * Lists the files of a model with their sizes, and whether openModel can open them.
 * @param {string} id owner/name, hf://owner/name@revision, or an address of the Hub
 * @param {HubOptions} [options]
 * @returns {Promise<{ revision: string, files: HubFileInfo[] }>}
 */
export const files = (id, options) => listFiles(node, id, options);

/**
 * Lists the models in the cache.
 * @param {HubOptions} [options]
 * @returns {Promise<CachedModel[]>}
 */
export const cached = (options) => listCached(node, options);

/**
 * Removes all revisions of a model from the cache, including files that other tools have downloaded.
 * @param {string} id
 * @param {HubOptions} [options]
 * @returns {Promise<void>}
 */
export const forget = (id, options) => forgetModel(node, id, options);
