// Checks that every program of the documents compiles in a strict TypeScript project. One run of tsc compiles all
// programs, in about 10 seconds.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test, { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pagesOf } from '../../web/docs/.vitepress/programPages.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const DOCUMENTS = ['README.md', ...pagesOf(join(root, 'web/docs')).map((name) => `web/docs/${name}`)];
/** Other packages that the programs import. */
const PACKAGES = ['onnxruntime-web', 'onnxruntime-common', '@types/node', 'undici-types'];
/**
 * Declarations of packages that are not installed here, and a program with expected type errors, which shows that the
 * types of the package are checked.
 */
const BESIDE = {
  'others.d.ts': `
    declare module '@huggingface/transformers' {
      export const env: object;
      interface From<T> { from_pretrained(name: string): Promise<T> }
      interface Tensor { readonly data: Float32Array; readonly dims: readonly number[]; readonly type: string }
      export const AutoTokenizer: From<(text: string) => Promise<{ input_ids: Tensor }>>;
      export const AutoModel: From<(inputs: object) => Promise<Record<string, Tensor>>>;
    }
    declare module '@tensorflow/tfjs' {
      interface Tensor { readonly shape: number[]; dataSync(): Float32Array; data(): Promise<Float32Array> }
      export function ready(): Promise<void>;
      export function randomNormal(shape: number[], mean: number, std: number, type: string, seed: number): Tensor;
      export function matMul(a: Tensor, b: Tensor, turnA?: boolean, turnB?: boolean): Tensor;
      export function div(a: Tensor, b: number): Tensor;
      export function softmax(a: Tensor): Tensor;
      export function tensor(data: Float32Array, shape: number[]): Tensor;
    }`,
  'typed.ts': `
    import { load } from 'headlight-attention';
    const hl = await load();
    // @ts-expect-error: there is no such method
    hl.attend();
    // @ts-expect-error: there is no such option
    (await hl.openModel('gpt2')).forward('The sea', { first: true });`,
  'package.json': '{ "type": "module" }',
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      strict: true,
      noEmit: true,
      target: 'es2022',
      module: 'nodenext',
      lib: ['es2022', 'dom', 'dom.iterable'],
      types: ['node'],
    },
  }),
};

/** Returns the programs in a document: JavaScript, and scripts of pages that import the package. */
function programsOf(path) {
  const text = readFileSync(join(root, path), 'utf8');
  return [...text.matchAll(/^```(js|html)\n([^]*?)^```$/gm)].flatMap(([, language, block], i) => {
    const scripts =
      language === 'html' ? [...block.matchAll(/<script type="module">([^]*?)<\/script>/g)] : [[block, block]];
    const program = scripts.map(([, script]) => script).join('\n');
    // Omits the service worker, which needs other type libraries, the files of a Next project, which import each other,
    // and pages that do not import the package.
    if (/^\/\/ (isolate\.js|app\/)/.test(program) || (language === 'html' && !program.includes('headlight-attention')))
      return [];
    return [{ name: `${path.replaceAll(/\W/g, '-')}-${i + 1}.ts`, program: withNames(program) }];
  });
}

/** Replaces the paths of files that a page imports by the names of the package, because the files have no types. */
const withNames = (program) =>
  program
    .replaceAll('./node_modules/headlight-attention/dist/headlight.js', 'headlight-attention')
    .replaceAll('./node_modules/headlight-attention/dist/view.js', 'headlight-attention/view');

const folder = mkdtempSync(join(tmpdir(), 'headlight-programs-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('every program in README and the documentation compiles with all strict options', () => {
  const programs = DOCUMENTS.flatMap(programsOf);
  assert.ok(programs.length > 30, `${programs.length} programs`);
  for (const { name, program } of programs) writeFileSync(join(folder, name), `${program}\nexport {};\n`);
  for (const [name, text] of Object.entries(BESIDE)) writeFileSync(join(folder, name), text);
  const link = (target, name) => {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true });
    symlinkSync(target, join(folder, 'node_modules', name), 'dir');
  };
  link(root, 'headlight-attention');
  for (const name of PACKAGES) link(join(root, 'node_modules', name), name);
  try {
    execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', '.'], { cwd: folder, encoding: 'utf8' });
  } catch ({ stdout, message }) {
    assert.fail(stdout || message);
  }
});
