// Lists the files of models on the Hub and in the cache, and removes models from the cache.

import { HeadlightError } from '../check/errors.js';
import { openHub } from './hubFolder.js';
import { describe } from './kinds.js';
import { readName } from './names.js';
import { readHubOptions } from './options.js';

/** @import { HubFileInfo } from './kinds.js' */
/** @import { HubOptions } from './options.js' */
/** @import { Cache, CachedModel, HubPlatform } from './types.js' */

/**
 * @param {HubPlatform} platform
 * @param {string} id
 * @param {HubOptions} [options]
 * @returns {Promise<{ revision: string, files: HubFileInfo[] }>}
 */
export async function listFiles(platform, id, options) {
  const { client, repository } = await openHub('files', checkText('files', id), options, platform);
  client.close();
  return { revision: repository.revision, files: repository.entries.map(describe) };
}

/** @param {HubPlatform} platform @param {HubOptions} [options] @returns {Promise<CachedModel[]>} */
export async function listCached(platform, options) {
  return (await openCache(platform, 'cached', options))?.list() ?? [];
}

/** @param {HubPlatform} platform @param {string} id @param {HubOptions} [options] */
export async function forgetModel(platform, id, options) {
  const name = readName(
    'forget',
    checkText('forget', id),
    readHubOptions('forget', options, platform.variables).endpoint,
  );
  await (await openCache(platform, 'forget', options))?.remove(name.id);
}

/**
 * @param {HubPlatform} platform
 * @param {string} caller
 * @param {HubOptions} [options]
 * @returns {Promise<Cache | undefined>}
 */
async function openCache(platform, caller, options) {
  const { cache } = readHubOptions(caller, options, platform.variables);
  const opened = cache === false ? undefined : await platform.openCache(caller, cache);
  return typeof opened === 'string' ? undefined : opened;
}

/** @param {string} caller @param {unknown} id */
function checkText(caller, id) {
  if (typeof id === 'string') return id;
  throw new HeadlightError('ARGUMENT', `${caller}: id must be the name of a model, such as 'owner/name'`, {
    parameter: 'id',
    got: id,
  });
}
