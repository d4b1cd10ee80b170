// Tests the types of the package, which is packed, installed in an empty folder, and used with all strict options of
// TypeScript.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after, before, describe } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { install } from '../support/install.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const bin = (name) => join(root, 'node_modules/.bin', name);

describe('the types of the package', () => {
  let project;
  before(() => (project = install(root)));
  after(() => project?.remove());

  const STRICT = [
    '--noEmit',
    '--strict',
    '--exactOptionalPropertyTypes',
    '--noUncheckedIndexedAccess',
    '--noImplicitOverride',
    '--verbatimModuleSyntax',
    '--isolatedModules',
  ];
  for (const [module, moduleResolution, lib] of [
    ['node16', 'node16', 'es2022,dom'],
    ['nodenext', 'nodenext', 'es2022,dom'],
    ['esnext', 'bundler', 'esnext,dom'],
  ])
    test(`are valid in a strict project with ${moduleResolution} resolution`, async () => {
      cpSync(join(root, 'tests/package/consumer/use.ts'), project.file('use.ts'));
      const target = ['--target', 'es2022', '--module', module, '--moduleResolution', moduleResolution];
      const args = [...STRICT, ...target, '--lib', lib, 'use.ts'];
      await run(bin('tsc'), args, { cwd: project.folder }).catch(({ stdout }) => assert.fail(stdout));
    });

  test('can be imported from CommonJS: directly with require(esm), in older versions by import()', async () => {
    const types = "import type { Edit, Tensor } from 'headlight-attention'";
    const used = "export const edit: Edit = { at: 'embed', set: 'zero' }; export type Mine = Tensor;";
    writeFileSync(
      project.file('later.cts'),
      `${types} with { 'resolution-mode': 'import' }; ${used}
      export const hl = import('headlight-attention').then(({ load }) => load());`,
    );
    writeFileSync(
      project.file('now.cts'),
      `${types}; ${used}
      import { load } from 'headlight-attention'; export const hl = load();`,
    );
    for (const [module, name] of [
      ['node16', 'later.cts'],
      ['nodenext', 'now.cts'],
    ]) {
      const args = ['--noEmit', '--strict', '--target', 'es2022', '--module', module, '--lib', 'es2022,dom', name];
      await run(bin('tsc'), args, { cwd: project.folder }).catch(({ stdout }) => assert.fail(`${name}: ${stdout}`));
    }
  });

  test('require no types of the DOM', async () => {
    const entries = ['', '/inline', '/formats', '/analysis', '/onnx', '/hub'];
    writeFileSync(
      project.file('server.ts'),
      entries.map((entry, i) => `export * as e${i} from 'headlight-attention${entry}';`).join('\n'),
    );
    const args = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022', 'server.ts'];
    await run(bin('tsc'), args, { cwd: project.folder }).catch(({ stdout }) => assert.fail(stdout));
  });

  test('have no findings by publint', async () => {
    const { stdout } = await run(bin('publint'), ['--strict', project.archive]).catch((error) => error);
    assert.match(stdout, /All good/, stdout);
  });

  test('have no findings by attw, for every entry with types', async () => {
    const args = [project.archive, '--profile', 'esm-only', '--no-emoji', '--no-color'];
    const entries = ['--entrypoints', '.', 'inline', 'formats', 'analysis', 'onnx'];
    await run(bin('attw'), [...args, ...entries]).catch(({ stdout }) => assert.fail(stdout));
  });

  test('require no third-party types', async () => {
    writeFileSync(
      project.file('bare.ts'),
      "import { load } from 'headlight-attention'; export const hl = await load();",
    );
    const target = ['--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom'];
    const args = ['--noEmit', '--strict', ...target, 'bare.ts'];
    await run(bin('tsc'), args, { cwd: project.folder }).catch(({ stdout }) => assert.fail(stdout));
  });
});
