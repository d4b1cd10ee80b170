// Tests the entry for Node as it is built: its errors in bundles, and what Node prints above an uncaught error.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const run = (program, ...given) =>
  spawnSync(process.execPath, ['--input-type=module', '-e', program, ...given], { cwd: root, encoding: 'utf8' });

/** Programs that end with an uncaught error, and its message. */
const UNCAUGHT = {
  "(await load()).linear({ inFeatures: 'x' });": /linear: .*inFeatures/,
  "await (await load()).openModel('/nowhere');": /openModel: .*\/nowhere/,
  "(await load()).openModel({ 'config.json': new Uint8Array(3) });": /openModel: .*config/,
  'readNpy(new Uint8Array(3));': /readNpy: /,
  'attribution();': /attribution: /,
  "(await inline()).linear({ inFeatures: 'x' });": /linear: .*inFeatures/,
};
const IMPORTS = `
  import { load } from 'headlight-attention';
  import { load as inline } from 'headlight-attention/inline';
  import { readNpy } from 'headlight-attention/formats';
  import { attribution } from 'headlight-attention/analysis';
`;

test('an uncaught error prints its message and no line of more than 400 characters', () => {
  for (const [program, message] of Object.entries(UNCAUGHT)) {
    const { stderr, status } = run(IMPORTS + program);
    assert.equal(status, 1, program);
    assert.match(stderr, message, program);
    const longest = Math.max(...stderr.split('\n').map((line) => line.length));
    assert.ok(longest <= 400, `${program}: a line of ${longest} characters`);
  }
});

test('load: a bundler that replaces the addresses of the binaries is named, with what to do', () => {
  const path = `${root}dist/headlight.node.js`;
  const code = readFileSync(path, 'utf8')
    .replaceAll('"./parts/', `"file://${root}dist/parts/`)
    .replace(
      /new URL\("(\.\/headlight[^"]*)",import\.meta\.url\)/g,
      'Object.create(URL.prototype,{href:{value:"/static/$1"},protocol:{value:""}})',
    );
  assert.match(code, /\/static\/\.\/headlight/);
  const { stdout } = run(
    `
    const { load } = await import('data:text/javascript,' + encodeURIComponent(process.argv[1]));
    const { code, parameter, message } = await load().catch((error) => error);
    console.log(JSON.stringify({ code, parameter, message }));
  `,
    code,
  );
  const { code: got, parameter, message } = JSON.parse(stdout);
  assert.deepEqual([got, parameter], ['LOAD', 'wasm']);
  assert.match(message, /^load: a bundler has replaced .* by \/static\/.*serverExternalPackages/);
});
