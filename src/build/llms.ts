// Writes llms.txt, a list of the documentation's pages for language models (https://llmstxt.org). As a program: node
// src/build/llms.ts package FILE… writes links to files of the package, relative to dist; node src/build/llms.ts site
// FILE… writes links to pages of the site, relative to the root of the site.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { GUIDE, RECIPES, REFERENCE } from '../../web/docs/.vitepress/sidebar.js';

const ROOT = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

/**
 * Returns the name of a page's file.
 * @param link as in the sidebar
 */
export const fileOf = (link: string) => `${link.replace(/^\//, '').replace(/(^|\/)$/, '$1index')}.md`;

/** Returns the fields of a page's front matter, such as title and description. */
export function frontMatterOf(text: string) {
  const [, head = ''] = text.match(/^---\n([^]*?)\n---\n/) ?? [];
  return Object.fromEntries([...head.matchAll(/^(\w+): (.*)$/gm)].map(([, name, value]) => [name, value]));
}

export function makeList(place: 'package' | 'site') {
  const { name, description } = JSON.parse(read('package.json'));
  const address = (file: string) =>
    place === 'package' ? `../web/docs/${file}` : `/docs/${file.replace(/md$/, 'html')}`;
  const section = (title: string, entries: typeof REFERENCE) => {
    const pages = entries.filter(({ target }) => !target).map(({ link }) => fileOf(link));
    const lines = pages.map((file) => {
      const page = frontMatterOf(read(`web/docs/${file}`));
      return `- [${page.title}](${address(file)}): ${page.description}`;
    });
    return `## ${title}\n\n${lines.join('\n')}`;
  };
  const agents = REFERENCE.filter(({ link }) => link === '/agents');
  const others = REFERENCE.filter(({ link }) => link !== '/agents');
  return [
    '# Headlight',
    `> ${description}. The npm package is ${name}: \`import { load } from '${name}'\`.`,
    'Read “For coding agents” first: imports, ten patterns and ten mistakes on one page.',
    section('For programs', agents),
    ...GUIDE.map(({ text, items }) => section(text, items)),
    section('Reference', others),
    section('Recipes', RECIPES),
    '',
  ].join('\n\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [place, ...files] = process.argv.slice(2);
  for (const file of files) writeFileSync(file, `${makeList(place as 'site').trimEnd()}\n`);
}
