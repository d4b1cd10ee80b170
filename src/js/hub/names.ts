// Reads and validates names and addresses of models on the Hugging Face Hub, before any request is sent.

import { HeadlightError } from '../check/errors.ts';
import { cut } from '../check/quote.ts';

export type HubName = {
  /** [owner/]name */
  id: string;
  /** a branch, a tag or a commit */
  revision?: string | undefined;
  /** a file or a folder in the repository */
  path?: string | undefined;
};

export const DEFAULT_REVISION = 'main';
const HOSTS = ['huggingface.co', 'www.huggingface.co', 'hf.co'];
/** Parts of addresses on the Hub that are followed by a revision. */
const WITH_REVISION = ['tree', 'blob', 'resolve', 'raw', 'blame', 'commits', 'commit', 'edit'];
/** First parts of addresses on the Hub that are not names of owners. */
const NOT_OWNERS = [
  'datasets',
  'spaces',
  'api',
  'docs',
  'models',
  'collections',
  'papers',
  'settings',
  'join',
  'login',
];
const MAX_NAME = 96;
const MAX_OWNER = 96;
const SHA = /^[\da-f]{40}$/;
/** Matches revisions of the Hub that contain a slash. In other revisions a slash is written as %2F. */
const LONG_REVISION = /^refs\/(?:pr|convert|heads|tags)\/[^/]+/;

export const isCommit = (revision: string) => SHA.test(revision);

function refuse(caller: string, text: string, reason: string) {
  const message = `${caller}: ${cut(text, 120)} is not the name of a model on the Hugging Face Hub: ${reason}`;
  return new HeadlightError('ARGUMENT', message, {
    parameter: 'files',
    expected: 'hf://[owner/]name[@revision][/path]',
    got: text,
  });
}

/** Reads hf://[owner/]name[@revision][/path], an address of the Hub or of a mirror's endpoint, or [owner/]name. */
export function readName(caller: string, text: string, endpoint?: string): HubName {
  const isUrl = /^https?:/i.test(text);
  const plain = isUrl ? readUrl(caller, text, endpoint) : readShort(caller, withoutQuery(text));
  const name = withQuery(caller, text, plain, isUrl);
  checkId(caller, name.id, text);
  if (name.revision !== undefined) checkRevision(caller, name.revision, text);
  if (name.path !== undefined) checkPath(caller, name.path, text);
  return name;
}

/**
 * Obeys `?revision=`. In an address copied from a browser, the rest of the query concerns the web page; elsewhere it is
 * refused.
 */
function withQuery(caller: string, text: string, name: HubName, isUrl: boolean): HubName {
  const [, query = '', fragment = ''] = /^[^?#]*(?:\?([^#]*))?(?:#([^]*))?$/.exec(text) ?? [];
  const wrong = (reason: string) => refuse(caller, withoutQuery(text), reason);
  const asked = new URLSearchParams(query);
  const other = [...asked.keys()].find((key) => key !== 'revision');
  if (!isUrl && other !== undefined) throw wrong(`'?${cut(other, 60)}' has no meaning in it`);
  if (!isUrl && fragment !== '')
    throw wrong('what follows # has no meaning in it. In the path of a file, write %23 instead of #');
  const revisions = new Set(asked.getAll('revision'));
  if (name.revision !== undefined) revisions.add(name.revision);
  if (revisions.size > 1) throw wrong(`it has several revisions: ${cut([...revisions].join(', '), 100)}`);
  return revisions.size === 0 ? name : { ...name, revision: [...revisions][0] };
}

function readShort(caller: string, text: string): HubName {
  const rest = text.replace(/^hf:(\/\/)?/i, '');
  const at = rest.indexOf('@');
  if (at < 0) {
    const [owner, name, ...path] = rest.replace(/\/$/, '').split('/');
    const id = name === undefined ? owner : `${owner}/${name}`;
    return { id, path: joined(caller, text, path) };
  }
  const after = rest.slice(at + 1);
  const revision = LONG_REVISION.exec(after)?.[0] ?? after.split('/')[0];
  const path = after.slice(revision.length + 1).replace(/\/$/, '');
  return {
    id: rest.slice(0, at),
    revision: decode(caller, text, revision),
    path: joined(caller, text, path === '' ? [] : path.split('/')),
  };
}

function readUrl(caller: string, text: string, endpoint = ''): HubName {
  const url = parseUrl(text);
  const base = parseUrl(endpoint);
  const isHub = url && HOSTS.includes(url.hostname);
  const prefix = base && url?.origin === base.origin ? base.pathname.replace(/\/$/, '') : '';
  if (!url || !(isHub || base?.origin === url.origin))
    throw refuse(caller, withoutQuery(text), 'it is an address of another site');
  if (url.username || url.password) throw refuse(caller, url.host, 'it contains a user name or a password');
  const shown = `${url.origin}${url.pathname}`;
  const path = url.pathname.startsWith(prefix) ? url.pathname.slice(prefix.length) : url.pathname;
  const parts = path.split('/').filter(Boolean);
  if (NOT_OWNERS.includes(parts[0]))
    throw refuse(caller, shown, `expected ${url.origin}/OWNER/NAME, the address of a model`);
  const at = parts.findIndex((part, i) => [1, 2].includes(i) && i + 1 < parts.length && WITH_REVISION.includes(part));
  if (at < 0) return { id: parts.slice(0, 2).join('/') };
  const id = parts.slice(0, at).join('/');
  const after = parts.slice(at + 1).join('/');
  const revision = LONG_REVISION.exec(after)?.[0] ?? parts[at + 1];
  const rest = after
    .slice(revision.length + 1)
    .split('/')
    .filter(Boolean);
  return { id, revision: decode(caller, shown, revision), path: joined(caller, shown, rest) };
}

function parseUrl(text: string) {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

const withoutQuery = (text: string) => text.replace(/[?#][^]*$/, '');

function decode(caller: string, text: string, part: string) {
  try {
    return decodeURIComponent(part);
  } catch {
    throw refuse(caller, text, `${cut(part, 60)} has a wrong % sequence`);
  }
}

const joined = (caller: string, text: string, parts: string[]) =>
  parts.length > 0 ? parts.map((part) => decode(caller, text, part)).join('/') : undefined;

function checkId(caller: string, id: string, text: string) {
  const parts = id.split('/');
  const [owner, name] = parts.length === 2 ? parts : ['x', id];
  const wrong = (reason: string) => refuse(caller, withoutQuery(text), reason);
  if (id === '' || name === '' || owner === '') throw wrong('expected hf://OWNER/NAME');
  if (parts.length > 2) throw wrong('an id has at most one slash');
  for (const part of parts)
    if (!/^[\w.-]+$/.test(part) || /^[.-]|[.-]$/.test(part))
      throw wrong(
        `'${cut(part, 60)}' may have only letters, digits, '-', '_' and '.', and not begin or end with '-' or '.'`,
      );
  if (name.length > MAX_NAME) throw wrong(`the name has ${name.length} characters, at most ${MAX_NAME} are allowed`);
  if (owner.length > MAX_OWNER)
    throw wrong(`the owner has ${owner.length} characters, at most ${MAX_OWNER} are allowed`);
  if (/\.\.|--/.test(id)) throw wrong("'..' and '--' are not allowed");
  if (/\.(?:git|ipynb)$/.test(id)) throw wrong("an id does not end with '.git' or '.ipynb'");
}

export function checkRevision(caller: string, revision: string, text: string) {
  // These are the rules of Git for names of references that matter for paths and addresses.
  const wrong =
    revision === '' || revision.length > 255 || /[\p{Cc} ~^:?*[\\]|\.\.|^[/.-]|[/.]$|\/[/.]|@\{/u.test(revision);
  if (wrong) throw refuse(caller, withoutQuery(text), `'${cut(revision, 60)}' is not a revision`);
}

export function checkPath(caller: string, path: string, text: string) {
  if (!isSafePath(path))
    throw refuse(caller, withoutQuery(text), `'${cut(path, 60)}' is not the path of a file in a repository`);
}

/** Returns true if a path stays inside its folder on every system. */
export const isSafePath = (path: unknown) =>
  typeof path === 'string' &&
  path.length <= 1024 &&
  /^[^\p{Cc}\\:*?"<>|]+$/u.test(path) &&
  path.split('/').every((part) => part !== '' && part.length <= 255 && !/^\.{1,2}$/.test(part));
