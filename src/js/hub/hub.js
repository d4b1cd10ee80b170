// The entry headlight-attention/hub for pages: lists models on the Hugging Face Hub and in the storage of the page.

/** @module headlight-attention/hub */

import { forgetModel, listCached, listFiles } from './models.js';
import { page } from './page.js';

/** @typedef {import('./kinds.js').HubFileInfo} HubFileInfo */
/** @typedef {import('./kinds.js').Kind} HubFileKind */
/** @typedef {import('./options.js').HubOptions} HubOptions */
/** @typedef {import('./options.js').HubWait} HubWait */
/** @typedef {import('./types.js').CachedFile} CachedFile */
/** @typedef {import('./types.js').CachedModel} CachedModel */
/** @typedef {import('./types.js').HubError} HubError */
/** @typedef {import('./types.js').HubReason} HubReason */

/**
 * Lists the files of a model with their sizes, and whether openModel can open them.
 * @param {string} id owner/name, hf://owner/name@revision, or an address of the Hub
 * @param {HubOptions} [options]
 * @returns {Promise<{ revision: string, files: HubFileInfo[] }>}
 */
export const files = (id, options) => listFiles(page, id, options);

/**
 * Lists the models in the cache.
 * @param {HubOptions} [options]
 * @returns {Promise<CachedModel[]>}
 */
export const cached = (options) => listCached(page, options);

/**
 * Removes all revisions of a model from the cache.
 * @param {string} id
 * @param {HubOptions} [options]
 * @returns {Promise<void>}
 */
export const forget = (id, options) => forgetModel(page, id, options);
