import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { transformSync } from 'esbuild';
import { findFiles, longLines } from '../../src/build/check.ts';
import { linesOf, paint, placesOf } from '../../src/build/coverage.ts';

test('lines of more than 120 columns are found; columns are characters, not bytes', () => {
  assert.deepEqual(longLines(['x'.repeat(120), 'x'.repeat(121), '∞'.repeat(120), '∞'.repeat(121)].join('\n')), [2, 4]);
});

test('generated and installed files are not checked', () => {
  const files = findFiles();
  for (const path of ['build.sh', 'src/core/headlight.h', 'web/ui/page.css', 'tests/build/check.test.js'])
    assert.ok(files.includes(path), path);
  assert.deepEqual(
    files.filter((path) => /node_modules|^dist|golden\/|package-lock/.test(path)),
    [],
  );
});

test('a source map maps every token to its position in the source', () => {
  const source = 'const ä = 3;\n\n  const second = (x) =>\n    ä + x;\n';
  const { code, map } = transformSync(source, { sourcemap: 'external', charset: 'utf8' });
  const lines = source.split('\n');
  const places = [...placesOf(code, JSON.parse(map))];
  assert.deepEqual([...new Set(places.map(([, , line]) => line))], [0, 2, 3]);
  for (const [offset, , line, column] of places)
    assert.equal(code[offset], lines[line][column], `${offset} → ${line}:${column}`);
});

test('a last segment that maps nothing is none of the places', () => {
  const mapped = { version: 3, file: '', sources: ['a.js'], sourcesContent: [], names: [], sourceRoot: '' };
  assert.deepEqual([...placesOf('a b', { ...mapped, mappings: 'AAAA,E' })], [[0, 'a.js', 0, 0]]);
});

test('the innermost of nested ranges gives the count', () => {
  const functions = [
    { ranges: [{ startOffset: 2, endOffset: 6, count: 0 }] },
    {
      ranges: [
        { startOffset: 0, endOffset: 8, count: 1 },
        { startOffset: 1, endOffset: 7, count: 0 },
      ],
    },
    { ranges: [{ startOffset: 3, endOffset: 5, count: 2 }] },
  ];
  assert.deepEqual([...paint(8, functions)], [1, 0, 0, 1, 1, 0, 0, 1]);
});

test('comments and imports are not lines of code', async () => {
  const text = readFileSync(new URL('../../src/js/io/formats.ts', import.meta.url), 'utf8');
  assert.match(text, /^export \{/m);
  assert.deepEqual(await linesOf('src/js/io/formats.ts'), []);
});

test('lines of TypeScript and JSX are counted, but not their types', async () => {
  const path = 'web/features/heatmap/firstToken.tsx';
  const lines = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8').split('\n');
  const counted = (await linesOf(path)).map((line) => lines[line]);
  for (const part of ['export function FirstToken', 'return (', '<WriteOn'])
    assert.ok(
      counted.some((line) => line.includes(part)),
      part,
    );
  assert.deepEqual(
    counted.filter((line) => /^(import|\/\/|$)/.test(line)),
    [],
  );
});
