// Plugins for rolldown that several bundles use.

import { readFile } from 'node:fs/promises';
import { transform } from 'esbuild';
import type { Plugin } from 'rolldown';
import { minifySync } from 'rolldown/utils';
import { hideSource } from './hideSource.ts';

/** Imports style sheets as texts, without comments and needless spaces. */
export const styleSheets: Plugin = {
  name: 'style-sheets',
  async load(id) {
    if (!id.endsWith('.css')) return null;
    const { code } = await transform(await readFile(id, 'utf8'), { loader: 'css', minify: true, charset: 'utf8' });
    return { code, moduleType: 'text' };
  },
};

/** Addresses of files, which the minifier writes as templates. Many bundlers find a file only if it is in quotes. */
const ADDRESS = /(\bimport\(|\bnew URL\()`([^`$\\"]*)`/g;
const MINIFY = { module: true, compress: { target: 'es2022' }, mangle: true, sourcemap: true };

/** Minifies a chunk. This is a plugin, because rolldown's own option minifies after all plugins. */
export const minify: Plugin = {
  name: 'minify',
  renderChunk(code, { fileName }) {
    const { code: short, map, errors } = minifySync(fileName, code, MINIFY);
    if (errors.length > 0) throw new Error(`${fileName}: ${errors[0].message}`);
    return { code: hideSource(short.replace(ADDRESS, '$1"$2"')), map };
  },
};
