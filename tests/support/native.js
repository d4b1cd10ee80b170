// Builds the core as a native library, and programs that are linked with it.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = 'dist/test/library';
const STRICT = ['-Wall', '-Wextra', '-Wpedantic', '-Werror'];

export const has = (program) => spawnSync(program, ['--version']).status === 0;

/** Returns true if a compiler has the runtime of these sanitizers. @param {string} compiler @param {string} flag */
export const hasRuntime = (compiler, flag) =>
  spawnSync(compiler, [flag, '-x', 'c', '-', '-o', '/dev/null'], { input: 'int main(void) { return 0; }' }).status ===
  0;

/** Runs a program and returns the output. Fails if the program fails. */
export function run(program, ...args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: root, encoding: 'utf8', timeout: 600_000 });
  assert.equal(status, 0, error?.message ?? `${program} ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}

/** Builds the library, where warnings are errors, in a folder that later runs reuse. Returns the folder. */
export function buildLibrary(name, compiler, flags) {
  const folder = `${FOLDER}/${name}`;
  const given = [`TO=${folder}`, `CC=${compiler}`, `CFLAGS=${flags} -Werror`];
  run('make', '-s', '-f', 'src/build/native.mk', '-j', '2', ...given);
  return folder;
}

/** Compiles a program with the library and runs it. `compiler` may contain flags; `language` is c or c++. */
export function runWith(library, compiler, source, language = 'c') {
  const program = join(library, `program-${language.length}`);
  const standard = language === 'c' ? '-std=c17' : '-std=c++17';
  const input = ['-x', language, source, '-x', 'none'];
  const [name, ...flags] = [compiler].flat();
  const link = [join(library, 'libhl.a'), '-lm', '-o', program];
  run(name, ...flags, standard, '-O1', ...STRICT, `-I${library}`, ...input, ...link);
  return run(join(root, program));
}

/** Writes the program in src/core/README.md to a C file in this folder. */
export function writeExample(folder) {
  const [, program] = readFileSync(join(root, 'src/core/README.md'), 'utf8').match(/```c\n([^]*?)```/);
  mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, folder, 'example.c'), program);
  return join(folder, 'example.c');
}

/** Returns the expected output of the program in src/core/README.md, computed in plain loops. */
export function expectedExample() {
  const [heads, tokens, width] = [2, 4, 8];
  const rows = [];
  for (let row = 0; row < heads * tokens; row++) {
    const [first, t] = [row - (row % tokens), row % tokens];
    const scores = Array.from({ length: t + 1 }, (_, s) => {
      let sum = 0;
      for (let c = 0; c < width; c++) sum += ((row * width + c) % 7) * ((((first + s) * width + c) % 5) / 5);
      return Math.exp(sum / Math.sqrt(width));
    });
    const total = scores.reduce((a, b) => a + b);
    const weights = Array.from({ length: tokens }, (_, s) => (scores[s] ?? 0) / total);
    const output = weights.reduce((sum, weight, s) => sum + weight * (((first + s) * width) % 3), 0);
    const shown = weights.map((weight) => ` ${weight.toFixed(4)}`).join('');
    rows.push(`head ${first / tokens}, query ${t} looks at${shown}, output ${output.toFixed(4)} …\n`);
  }
  return rows.join('');
}
