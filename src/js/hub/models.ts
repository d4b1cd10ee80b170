// Lists the files of models on the Hub and in the cache, and removes models from the cache.

import { HeadlightError } from '../check/errors.ts';
import { openHub } from './hubFolder.ts';
import { describe, type HubFileInfo } from './kinds.ts';
import { readName } from './names.ts';
import { type HubOptions, readHubOptions } from './options.ts';

import type { Cache, CachedModel, HubPlatform } from './types.ts';

export async function listFiles(
  platform: HubPlatform,
  id: string,
  options?: HubOptions,
): Promise<{ revision: string; files: HubFileInfo[] }> {
  const { client, repository } = await openHub('files', checkText('files', id), options, platform);
  client.close();
  return { revision: repository.revision, files: repository.entries.map(describe) };
}

export async function listCached(platform: HubPlatform, options?: HubOptions): Promise<CachedModel[]> {
  return (await openCache(platform, 'cached', options))?.list() ?? [];
}

export async function forgetModel(platform: HubPlatform, id: string, options?: HubOptions) {
  const name = readName(
    'forget',
    checkText('forget', id),
    readHubOptions('forget', options, platform.variables).endpoint,
  );
  await (await openCache(platform, 'forget', options))?.remove(name.id);
}

async function openCache(platform: HubPlatform, caller: string, options?: HubOptions): Promise<Cache | undefined> {
  const { cache } = readHubOptions(caller, options, platform.variables);
  const opened = cache === false ? undefined : await platform.openCache(caller, cache);
  return typeof opened === 'string' ? undefined : opened;
}

function checkText(caller: string, id: unknown) {
  if (typeof id === 'string') return id;
  throw new HeadlightError('ARGUMENT', `${caller}: id must be the name of a model, such as 'owner/name'`, {
    parameter: 'id',
    got: id,
  });
}
