// The programs of the documents: which of them can run in the reader's browser, and as which files.

import { createHash } from 'node:crypto';

const BLOCK = /^```(\w+)\n([^]*?)^```$/gm;
const SCRIPT = /<script type="module">([^]*?)<\/script>/;
const IMPORT = /(?:\bfrom |\bimport\(|^import )(['"])([^'"]+)\1/gm;
/** Where a program of a page imports the package from. */
const INSTALLED = './node_modules/headlight-attention/dist/';
/** Where the pages of programs find the module: from dist/site/docs/programs. */
const MODULE = '../../module/';

/** @typedef {{ language: string, text: string }} Block */

/** The fenced blocks of a document. @param {string} markdown @returns {Block[]} */
export const blocksOf = (markdown) => [...markdown.matchAll(BLOCK)].map(([, language, text]) => ({ language, text }));

/** The name of the files of a program. @param {string} text */
export const idOf = (text) => createHash('sha256').update(text).digest('hex').slice(0, 12);

/** The lines that a program says it prints: comments after console.log(…). @param {string} text */
export const printedBy = (text) => [...text.matchAll(/^\s*console\.log\(.*\); \/\/ (.*)$/gm)].map(([, line]) => line);

const scriptOf = ({ language, text }) => (language === 'html' ? (text.match(SCRIPT)?.[1] ?? '') : text);
const importsOf = (script) => [...script.matchAll(IMPORT)].map(([, , name]) => name);
const usesPackage = (name) => name.startsWith('headlight-attention') || name.startsWith(INSTALLED);

/** Languages whose programs never run in a page, with the text for the reader. */
const ELSEWHERE = {
  python: 'Runs in Python.',
  jsx: 'Runs in a project with a bundler.',
  svelte: 'Runs in a project with a bundler.',
  vue: 'Runs in a project with a bundler.',
};

/**
 * The reason why a program cannot run in a page, as a text for the reader; an empty text if it can run. Undefined for a
 * block that is no program.
 * @param {Block} block
 * @returns {string | undefined}
 */
export function whyNot({ language, text }) {
  if (language !== 'js' && language !== 'html') return ELSEWHERE[language];
  const script = scriptOf({ language, text });
  const names = importsOf(script);
  const [, file] = text.match(/^\/\/ ([\w./-]+\.js)\n/) ?? [];
  if (file) return `This is the file ${file}, which another program loads.`;
  const [, worker] = script.match(/(?:new Worker|\.register)\('\.\/([\w-]+\.js)'/) ?? [];
  if (worker) return `Needs the file ${worker} next to it.`;
  if (names.length === 0) return undefined;
  if (names.some((name) => name.startsWith('node:'))) return 'Runs in Node: a page has none of its modules.';
  const other = names.find((name) => !usesPackage(name));
  if (other) return `Needs the package ${other}.`;
  if (/openModel\(['`]hf:/.test(script)) return 'Downloads a model of the Hugging Face Hub.';
  const [, model] = script.match(/openModel\('(?!demo')([\w./-]+)'/) ?? [];
  return model ? `Needs a checkpoint: the ${/\.\w+$/.test(model) ? 'file' : 'folder'} “${model}”.` : '';
}

/** The address of a module of the package, from the page of a program. @param {string} name */
function moduleAddress(name) {
  if (name.startsWith(INSTALLED)) return MODULE + name.slice(INSTALLED.length);
  const part = name.replace(/^headlight-attention\/?/, '');
  return `${MODULE}${part || 'headlight'}.js`;
}

/**
 * The files of a program that runs in a page, by their endings. A page without inline scripts works under a
 * Content-Security-Policy that allows none.
 * @param {Block} block
 */
export function filesOf(block) {
  const id = idOf(block.text);
  const script = scriptOf(block).replace(IMPORT, (all, _, name) =>
    usesPackage(name) ? all.replace(name, moduleAddress(name)) : all,
  );
  const body = block.language === 'html' ? block.text.replace(SCRIPT, '').trim() : '';
  const page = [
    '<!doctype html>',
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<title>Program</title>',
    '<link rel="icon" href="data:,">',
    '<link rel="stylesheet" href="program.css">',
    `<body>${body}`,
    `<script type="module" src="program.js" data-program="./${id}.js"></script>`,
    '',
  ].join('\n');
  return { [`${id}.html`]: page, [`${id}.js`]: script };
}
