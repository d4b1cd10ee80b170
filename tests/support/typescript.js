// Lets Node 20 import the sources: node --import ./tests/support/typescript.js. Newer ones run TypeScript.

import { register } from 'node:module';

const HOOKS = `
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform } from '${import.meta.resolve('esbuild')}';
export async function load(url, context, next) {
  if (!/^file:.*\\.ts$/.test(url)) return next(url, context);
  const text = await readFile(fileURLToPath(url), 'utf8');
  const options = { loader: 'ts', format: 'esm', target: 'es2022', sourcemap: 'inline', sourcefile: url };
  const { code } = await transform(text, options);
  return { format: 'module', source: code, shortCircuit: true };
}`;

if (!process.features.typescript) register(`data:text/javascript,${encodeURIComponent(HOOKS)}`);
