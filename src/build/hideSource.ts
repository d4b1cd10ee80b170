// Marks the long lines of a bundle, so that Node does not print them above an uncaught error. As a program: node
// src/build/hideSource.ts FILE… changes files.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';
import type { ESTree } from 'rolldown/utils';

/** Node prints the line that threw an uncaught error, unless the line contains this text. */
const MARK = '/*node-do-not-add-exception-line*/';
/** Length of a line that a reader can still use. */
const MOST = 300;

/** Returns the nodes of a type. */
function* nodesOf(node: unknown, type: string): Generator<ESTree.Node> {
  if (typeof node !== 'object' || node === null) return;
  if ('type' in node && node.type === type) yield node as ESTree.Node;
  for (const value of Array.isArray(node) ? node : Object.values(node)) yield* nodesOf(value, type);
}

/** Adds the mark to each long line that can throw. */
export function hideSource(code: string): string {
  const texts = [...nodesOf(parseAst(code), 'TemplateLiteral')];
  let start = 0;
  return code
    .split('\n')
    .map((line) => {
      const end = start + line.length;
      // A line can end within a template, where the mark would become a part of the text.
      const around = texts.filter((text) => text.start <= end && end < text.end).at(-1);
      const at = (around?.start ?? end) - start;
      start = end + 1;
      if (line.length <= MOST || !line.includes('throw') || at < 0) return line;
      return line.slice(0, at) + MARK + line.slice(at);
    })
    .join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const path of process.argv.slice(2)) writeFileSync(path, hideSource(readFileSync(path, 'utf8')));
