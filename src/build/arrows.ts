// The arrows of the page's folders: which folder may import which. The check reads all imports, those of types too, and
// allows exactly these. The drawing in CONTRIBUTING.md is made from the same table.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The folders of web, each with the folders that it may import. */
export const ARROWS: Record<string, string[]> = {
  model: [],
  ui: [],
  texts: ['model'],
  drawing: ['model', 'ui'],
  store: ['model', 'texts', 'ui'],
  parts: ['model', 'texts', 'ui', 'drawing', 'store'],
  features: ['model', 'texts', 'ui', 'drawing', 'store', 'parts'],
  worker: ['model'],
  entries: ['model', 'texts', 'ui', 'drawing', 'store', 'parts', 'features', 'worker'],
};

/** Matches the address of an import or export, static or on demand, and of a type. */
const ADDRESS = /\b(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g;

/** Two files, as paths from the root; the first imports the second. */
export type Import = [from: string, to: string];

/** Returns the imports between files of the page. */
export function importsOfPage(): Import[] {
  return Object.keys(ARROWS)
    .flatMap((folder) =>
      readdirSync(join(ROOT, 'web', folder), { recursive: true, encoding: 'utf8' }).map(
        (name) => `web/${folder}/${name}`,
      ),
    )
    .filter((path) => /\.tsx?$/.test(path))
    .flatMap((path) =>
      [...readFileSync(join(ROOT, path), 'utf8').matchAll(ADDRESS)].map(
        ([, address]): Import => [path, normalize(join(dirname(path), address))],
      ),
    )
    .filter(([, to]) => to.startsWith('web/'));
}

const folderOf = (path: string) => path.split('/')[1];
/** Returns the name of a feature from a path in it; undefined for other paths. */
const featureOf = (path: string) => /^web\/features\/([^/]+)\//.exec(path)?.[1];

/** Returns the imports that no arrow allows. */
export const wrongImports = (imports: readonly Import[]): Import[] =>
  imports.filter(([from, to]) => {
    const [here, there] = [folderOf(from), folderOf(to)];
    return here !== there && !ARROWS[here].includes(there);
  });

/** Returns the imports of a feature that bypass its feature.ts. */
export const bypasses = (imports: readonly Import[]): Import[] =>
  imports.filter(([from, to]) => {
    const feature = featureOf(to);
    return feature !== undefined && feature !== featureOf(from) && to !== `web/features/${feature}/feature.ts`;
  });

/** Returns the pairs of features that import each other. */
export function mutualFeatures(imports: readonly Import[]): string[] {
  const pairs = new Set(
    imports.map((pair) => pair.map(featureOf)).flatMap(([a, b]) => (a && b && a !== b ? [`${a} ${b}`] : [])),
  );
  return [...pairs].filter((pair) => {
    const [a, b] = pair.split(' ');
    return a < b && pairs.has(`${b} ${a}`);
  });
}

/** Returns the findings of the check, one per line. */
export function checkArrows(): string {
  const imports = importsOfPage();
  return [
    ...wrongImports(imports).map(([from, to]) => `${from} must not import ${to}`),
    ...bypasses(imports).map(([from, to]) => `${from} must import ${dirname(to)} through its feature.ts, not ${to}`),
    ...mutualFeatures(imports).map((pair) => `web/features: ${pair.replace(' ', ' and ')} import each other`),
  ].join('\n');
}

/** Returns the arrows as lines of a Mermaid flowchart, without those that follow from others. */
export function drawArrows(): string[] {
  const reach = (folder: string): string[] => ARROWS[folder].flatMap((next) => [next, ...reach(next)]);
  return Object.entries(ARROWS)
    .map(
      ([folder, nexts]) =>
        [
          folder,
          nexts.filter((next) => !nexts.some((other) => other !== next && reach(other).includes(next))),
        ] as const,
    )
    .filter(([, nexts]) => nexts.length > 0)
    .map(([folder, nexts]) => `${folder} --> ${nexts.join(' & ')}`);
}
