// Tests the files for the host of the repository: workflows run existing commands, and issue forms ask for everything
// that a report needs.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path) => readFileSync(join(root, path), 'utf8');
const workflows = readdirSync(join(root, '.github/workflows')).map((name) => `.github/workflows/${name}`);

test('every command of a workflow is defined in package.json or build.sh', () => {
  const help = execFileSync('./build.sh', ['help'], { cwd: root, encoding: 'utf8' });
  const verbs = new Set([...help.matchAll(/^ {2}([\w-]+)/gm)].map(([, verb]) => verb));
  const scripts = new Set([...Object.keys(JSON.parse(read('package.json')).scripts), 'publish']);
  for (const path of workflows) {
    const text = read(path);
    for (const [, verb] of text.matchAll(/run: .*\.\/build\.sh ([\w-]+)/g)) assert.ok(verbs.has(verb), verb);
    for (const [, script] of text.matchAll(/run: .*npm (?:run )?([\w:-]+)/g)) assert.ok(scripts.has(script), script);
  }
});

test('a release is published only if the tag equals the version, and after the tests', () => {
  const text = read('.github/workflows/release.yml');
  const [version, reproduce, publish] = ['GITHUB_REF_NAME', './build.sh reproduce', 'npm publish'].map((step) =>
    text.lastIndexOf(step),
  );
  assert.ok(version > 0 && version < reproduce && reproduce < publish);
  assert.match(JSON.parse(read('package.json')).scripts.prepublishOnly, /^\.\/build\.sh test/);
});

test('every form has a name, a description and a question that must be answered', () => {
  const forms = readdirSync(join(root, '.github/ISSUE_TEMPLATE')).filter((name) => name !== 'config.yml');
  assert.ok(forms.length > 1);
  for (const form of forms)
    for (const line of [/^name: \S/m, /^description: \S/m, /^ {6}required: true$/m])
      assert.match(read(`.github/ISSUE_TEMPLATE/${form}`), line, form);
});
