// The documentation site: its pages, navigation and search. ./build.sh docs builds it into dist/site/docs.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addRepositoryLinks, REPOSITORY } from './links.js';
import { addRunButtons } from './markdown.js';
import { writeLicences, writePrograms } from './programPages.js';
import { BOOST, boostTops, renderForSearch } from './search.js';
import { GUIDE, RECIPES, REFERENCE } from './sidebar.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const { description } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** Inline scripts are moved to files, because the site's Content-Security-Policy allows no inline script. */
const INLINE_SCRIPT = /<script(?: id="([\w-]+)")?>([^<]+)<\/script>/g;

/**
 * @param {string} html
 * @param {string} file
 * @param {string} outDir
 */
function moveInlineScripts(html, file, outDir) {
  const depth = file.slice(outDir.length + 1).split('/').length - 1;
  const root = depth === 0 ? './' : '../'.repeat(depth);
  return html.replace(INLINE_SCRIPT, (_, id, script) => {
    // The script that finds the root of the site reads its own address, so that one file serves pages of every depth.
    const [name, text] = id
      ? [id, script]
      : ['site-root', "window.__VP_SITE_ROOT__=new URL('../',document.currentScript.src).href"];
    mkdirSync(join(outDir, 'assets'), { recursive: true });
    writeFileSync(join(outDir, 'assets', `${name}.js`), text);
    return `<script src="${root}assets/${name}.js"></script>`;
  });
}

export default {
  lang: 'en',
  title: 'Headlight',
  titleTemplate: ':title · Headlight',
  description,
  base: './',
  srcDir: fileURLToPath(new URL('..', import.meta.url)),
  outDir: join(ROOT, 'dist/site/docs'),
  cacheDir: join(ROOT, 'dist/obj/docs'),
  cleanUrls: false,
  lastUpdated: false,
  // Without an icon browsers request /favicon.ico.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config(markdown) {
      addRunButtons(markdown);
      addRepositoryLinks(markdown);
    },
  },
  themeConfig: {
    outline: { level: [2, 3] },
    search: {
      provider: 'local',
      options: { _render: renderForSearch, miniSearch: { searchOptions: { boost: BOOST, boostDocument: boostTops } } },
    },
    nav: [
      { text: 'Guide', link: '/guide/', activeMatch: '^/guide/' },
      { text: 'Recipes', link: '/recipes/', activeMatch: '^/recipes/' },
      { text: 'API', link: '/../reference/index.html', target: '_self' },
      { text: 'Open Headlight', link: '/../index.html', target: '_self' },
    ],
    sidebar: [...GUIDE, { text: 'Reference', items: REFERENCE }, { text: 'Recipes', items: RECIPES }],
    docFooter: { prev: 'Previous', next: 'Next' },
    externalLinkIcon: true,
    repository: REPOSITORY,
  },
  transformHtml: (html, file, { siteConfig }) => moveInlineScripts(html, file, siteConfig.outDir),
  buildEnd({ outDir, srcDir }) {
    writePrograms(srcDir, outDir);
    writeLicences(outDir);
  },
  vite: { build: { chunkSizeWarningLimit: 2000 } },
};
