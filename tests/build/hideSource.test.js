// Tests the mark that keeps Node from printing a line of a bundle.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import { hideSource } from '../../src/build/hideSource.ts';

const long = (code) => `${code}${'/* long */'.repeat(40)}`;
const MARK = '/*node-do-not-add-exception-line*/';
/** Runs a program and returns what it prints, with its standard error. */
const run = (code) => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module'], { input: code, encoding: 'utf8' });
  return stdout + stderr;
};

test('Node prints an uncaught error without the long line that threw it', () => {
  const program = long("const f = () => { throw new Error('the reason') }; f();");
  assert.match(run(program), /\* long \*[^]*the reason/);
  const marked = hideSource(program);
  assert.equal(marked, program + MARK);
  assert.doesNotMatch(run(marked), /\* long \*/);
  assert.match(run(marked), /Error: the reason\n +at f/);
});

test('a text over several lines stays as it is', () => {
  const x = 'x'.repeat(400);
  const program = [
    `const f = (n) => { if (n > 2) throw new Error(\`no${x}\`); return n }; console.log(f(1), \`one \${f(2)}`,
    `two throws\${\`three${x}`,
    `four\`} throw ${x}`,
    `five throw ${x}\`); f(3)`,
  ].join('\n');
  const marked = hideSource(program);
  assert.ok(marked.split(MARK).length > 2);
  const [before, after] = [program, marked].map((code) => run(code).split('Error: '));
  assert.equal(after[1], before[1]);
  assert.equal(after[0], before[0].slice(0, after[0].length));
  assert.ok(before[0].includes('const f') && !after[0].includes('const f'));
});

test('short lines and lines that cannot throw have no mark', () => {
  const code = `throw 1;\n${long('const a = 1;')}\n`;
  assert.equal(hideSource(code), code);
});
