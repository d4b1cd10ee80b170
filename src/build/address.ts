// Writes the repository's address from package.json into the links of README, because npm shows README on a page where
// relative links do not work. As a program, it changes README.md.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { REPOSITORY } from '../../web/docs/.vitepress/links.js';

const README = new URL('../../README.md', import.meta.url);
const LINK = /https?:\/\/[^\s)]+?\/(blob|raw)\/main\//g;

export const withAddress = (text: string) => text.replace(LINK, (_, kind) => `${REPOSITORY}/${kind}/main/`);

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(README, withAddress(readFileSync(README, 'utf8')));
