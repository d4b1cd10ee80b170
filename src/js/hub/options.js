// The options for the Hub, and the environment variables of Hugging Face's own tools, which are used in Node.

import { readBoolean, readOptions } from '../check/arguments.js';
import { argumentError, HeadlightError } from '../check/errors.js';
import { checkPath, checkRevision } from './names.js';

/**
 * @typedef {object} HubOptions
 * @property {string} [endpoint] address of the Hub or of a mirror; default: HF_ENDPOINT in Node, else
 *   https://huggingface.co
 * @property {string} [revision] a branch, a tag or a commit, as in the address; default 'main'
 * @property {string} [file] selects one of several models in a repository, such as 'model.Q4_K_M.gguf'
 * @property {string} [token] sent to the origin of the endpoint only; default: HF_TOKEN in Node
 * @property {boolean | string} [cache] default true, which means the folder of Hugging Face's tools in Node
 *   (HF_HUB_CACHE, HF_HOME) and the private storage of a page. In Node, a string is the path of another folder. false
 *   means no cache
 * @property {boolean} [offline] true to use only cached files and send no requests; default: HF_HUB_OFFLINE in Node
 * @property {(wait: HubWait) => unknown} [onWait] called before a request is repeated
 */
/**
 * @typedef {object} HubWait
 * @property {number} seconds seconds until the next attempt
 * @property {'rateLimit' | 'server' | 'network'} reason the Hub limits the number of requests, the server failed, or
 *   the connection was broken
 */
/** @typedef {Readonly<Record<string, string | undefined>>} Variables of the environment */
/**
 * @typedef {object} Settings
 * @property {string} endpoint without a slash at its end
 * @property {string} [token]
 * @property {string} [revision]
 * @property {string} [file]
 * @property {boolean | string} cache
 * @property {boolean} offline
 * @property {(wait: HubWait) => unknown} [onWait]
 */

export const DEFAULT_ENDPOINT = 'https://huggingface.co';
const NAMES = ['endpoint', 'revision', 'file', 'token', 'cache', 'offline', 'onWait'];

/**
 * Returns true if Hugging Face's tools in Python read the value of a variable as true.
 * @param {string | undefined} value
 */
const isOn = (value) => /^(1|on|yes|true)$/i.test(value ?? '');

/**
 * @param {string} caller
 * @param {HubOptions} [options]
 * @param {Variables} [variables]
 * @returns {Settings}
 */
export function readHubOptions(caller, options = {}, variables = {}) {
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

/** @param {string} caller @param {string} parameter @param {unknown} value */
function readText(caller, parameter, value) {
  if (typeof value !== 'string') throw argumentError(caller, parameter, value, 'a string');
  return value;
}

/** @param {string} caller @param {unknown} endpoint */
function readEndpoint(caller, endpoint) {
  const expected = "the address of the Hub or of a mirror, such as 'https://huggingface.co'";
  if (typeof endpoint !== 'string' || !/^https?:\/\//i.test(endpoint))
    throw argumentError(caller, 'endpoint', endpoint, expected);
  /** @type {URL} */
  let url;
  try {
    url = new URL(endpoint);
  } catch {
    throw argumentError(caller, 'endpoint', endpoint, expected);
  }
  if (url.username || url.password || url.search || url.hash)
    throw argumentError(caller, 'endpoint', `${url.origin}…`, `${expected}, without a password and without a query`);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Validates a token. The error does not contain the token. @param {string} caller @param {unknown} token */
function readToken(caller, token) {
  if (token === undefined || token === '') return undefined;
  const text = typeof token === 'string' ? token.trim() : '';
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new HeadlightError('ARGUMENT', `${caller}: token must be a string such as 'hf_…', without spaces`, {
    parameter: 'token',
    expected: 'a string without spaces',
  });
}
