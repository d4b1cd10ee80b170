// Links of the documentation that lead out of web/docs: to files of the repository, whose address package.json has.

import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The address of the repository on the web, without a slash at its end. */
export const REPOSITORY = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  .repository.url.replace(/^git\+/, '')
  .replace(/\.git$/, '');

/** The address of a file of the repository. @param {string} path relative to the root */
export const addressOf = (path) => `${REPOSITORY}/blob/main/${path}`;

/**
 * The address of a link that leaves web/docs; undefined if it does not.
 * @param {string} href
 * @param {string} page relative to web/docs
 */
export function leaveDocs(href, page) {
  if (/^(?:[a-z]+:|\/|#)/i.test(href)) return undefined;
  const path = normalize(join('web/docs', dirname(page), href));
  return path.startsWith('web/docs') ? undefined : addressOf(path);
}

/** Rewrites such links, so that the same source works on the site, in the repository and in the package. */
export function addRepositoryLinks(markdown) {
  markdown.core.ruler.before('normalize', 'repository_links', (state) => {
    const page = state.env.relativePath ?? '';
    state.src = state.src.replace(/(?<!!\[[^\]]*)\]\(([^)\s]+)\)/g, (link, href) => {
      const address = leaveDocs(href, page);
      return address ? `](${address})` : link;
    });
  });
}
