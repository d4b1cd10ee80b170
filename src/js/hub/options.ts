// The options for the Hub, and in Node the environment variables of Hugging Face's own tools.

import { readBoolean, readOptions } from '../check/arguments.ts';
import { argumentError, HeadlightError } from '../check/errors.ts';
import { checkPath, checkRevision } from './names.ts';

export type HubOptions = {
  /** address of the Hub or of a mirror; default: HF_ENDPOINT in Node, else https://huggingface.co */
  endpoint?: string | undefined;
  /** a branch, a tag or a commit, as in the address; default 'main' */
  revision?: string | undefined;
  /** selects one of several models in a repository, such as 'model.Q4_K_M.gguf' */
  file?: string | undefined;
  /** sent to the origin of the endpoint only; default: HF_TOKEN in Node */
  token?: string | undefined;
  /**
   * default true: the folder of Hugging Face's tools in Node (HF_HUB_CACHE, HF_HOME), the private storage of a page; in
   * Node also the path of a folder; false for no cache
   */
  cache?: boolean | string | undefined;
  /** true to use only cached files and send no requests; default: HF_HUB_OFFLINE in Node */
  offline?: boolean | undefined;
  /** called before a request is repeated */
  onWait?: ((wait: HubWait) => unknown) | undefined;
};
export type HubWait = {
  /** seconds until the next attempt */
  seconds: number;
  /** the Hub limits the number of requests, the server failed, or the connection was broken */
  reason: 'rateLimit' | 'server' | 'network';
};
export type Variables = Readonly<Record<string, string | undefined>>;
export type Settings = {
  /** without a slash at its end */
  endpoint: string;
  token?: string | undefined;
  revision?: string | undefined;
  file?: string | undefined;
  cache: boolean | string;
  offline: boolean;
  onWait?: ((wait: HubWait) => unknown) | undefined;
};

export const DEFAULT_ENDPOINT = 'https://huggingface.co';
const NAMES = ['endpoint', 'revision', 'file', 'token', 'cache', 'offline', 'onWait'];

/** Returns true if Hugging Face's tools in Python read the value of a variable as true. */
const isOn = (value: string | undefined) => /^(1|on|yes|true)$/i.test(value ?? '');

export function readHubOptions(caller: string, options: HubOptions = {}, variables: Variables = {}): Settings {
  const { endpoint, revision, file, token, cache = true, offline, onWait } = readOptions(caller, options, NAMES);
  if (revision !== undefined) checkRevision(caller, readText(caller, 'revision', revision), revision);
  if (file !== undefined) checkPath(caller, readText(caller, 'file', file), file);
  if (typeof cache !== 'boolean' && (typeof cache !== 'string' || cache === ''))
    throw argumentError(caller, 'cache', cache, 'true, false, or the path of a folder');
  if (onWait !== undefined && typeof onWait !== 'function') throw argumentError(caller, 'onWait', onWait, 'a function');
  return {
    endpoint: readEndpoint(caller, endpoint ?? (variables.HF_ENDPOINT || DEFAULT_ENDPOINT)),
    revision,
    file,
    token: readToken(caller, token ?? variables.HF_TOKEN),
    cache,
    offline: offline === undefined ? isOn(variables.HF_HUB_OFFLINE) : readBoolean(caller, 'offline', offline),
    onWait,
  };
}

function readText(caller: string, parameter: string, value: unknown) {
  if (typeof value !== 'string') throw argumentError(caller, parameter, value, 'a string');
  return value;
}

function readEndpoint(caller: string, endpoint: unknown) {
  const expected = "the address of the Hub or of a mirror, such as 'https://huggingface.co'";
  if (typeof endpoint !== 'string' || !/^https?:\/\//i.test(endpoint))
    throw argumentError(caller, 'endpoint', endpoint, expected);
  let url: URL;
  try {
    url = new URL(endpoint);
  } catch {
    throw argumentError(caller, 'endpoint', endpoint, expected);
  }
  if (url.username || url.password || url.search || url.hash)
    throw argumentError(caller, 'endpoint', `${url.origin}…`, `${expected}, without a password and without a query`);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Validates a token. The error does not contain the token. */
function readToken(caller: string, token: unknown) {
  if (token === undefined || token === '') return undefined;
  const text = typeof token === 'string' ? token.trim() : '';
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new HeadlightError('ARGUMENT', `${caller}: token must be a string such as 'hf_…', without spaces`, {
    parameter: 'token',
    expected: 'a string without spaces',
  });
}
