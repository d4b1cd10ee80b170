// Writes a page for every program that runs in the reader's browser, with what these pages share.

import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { blocksOf, filesOf, whyNot } from './programs.js';

/** Packages of which the site has parts. */
const BUNDLED = [
  'vitepress',
  'vue',
  '@vueuse/core',
  '@vueuse/integrations',
  'focus-trap',
  'tabbable',
  'minisearch',
  'mark.js',
];
const MODULES = fileURLToPath(new URL('../../../node_modules/', import.meta.url));
const SHARED = fileURLToPath(new URL('./program/', import.meta.url));

/** The pages of the documentation, relative to its folder. @param {string} srcDir @returns {string[]} */
export const pagesOf = (srcDir) =>
  readdirSync(srcDir, { recursive: true })
    .map((name) => String(name).replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.md') && !name.startsWith('.'))
    .sort();

/** Writes the licences of the packages that are bundled. @param {string} outDir */
export function writeLicences(outDir) {
  const texts = BUNDLED.map((name) => {
    const file = readdirSync(join(MODULES, name)).find((file) => /^licen[cs]e/i.test(file)) ?? 'package.json';
    return `${name}\n\n${readFileSync(join(MODULES, name, file), 'utf8').trim()}\n`;
  });
  writeFileSync(join(outDir, 'licences.txt'), texts.join(`\n${'-'.repeat(72)}\n\n`));
}

/** @param {string} srcDir @param {string} outDir */
export function writePrograms(srcDir, outDir) {
  const folder = join(outDir, 'programs');
  mkdirSync(folder, { recursive: true });
  cpSync(SHARED, folder, { recursive: true });
  const blocks = pagesOf(srcDir).flatMap((page) => blocksOf(readFileSync(join(srcDir, page), 'utf8')));
  for (const block of blocks.filter((block) => whyNot(block) === ''))
    for (const [name, text] of Object.entries(filesOf(block))) writeFileSync(join(folder, name), text);
}
