// Checks which folders import each other, and that no imports are circular. Imports of types do not count.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { bypasses, checkArrows, drawArrows, importsOfPage, mutualFeatures, wrongImports } from '../src/build/arrows.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const IMPORT = /^\s*(?:import|export)\b(?! type\b)(?:[^'";]*?\bfrom)?\s*['"](\.[^'"]+)['"]/gm;
/** Matches a module that is loaded on demand. */
const LATER = /(?<!typeof )\bimport\(\s*['"](\.[^'"]+)['"]/g;
const INCLUDE = /^\s*#\s*include\s*"([^"]+)"/gm;

const filesIn = (folder, ending) =>
  readdirSync(join(ROOT, folder), { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => ending.test(path) && statSync(join(ROOT, path)).isFile());

/** Returns for every file the files that it imports, as paths from the root. */
function graphOf(files, pattern, resolve) {
  return new Map(
    files.map((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
      return [file, [...text.matchAll(pattern)].map(([, name]) => resolve(file, name))];
    }),
  );
}
const modules = (folder, pattern = IMPORT) =>
  graphOf(filesIn(folder, /\.tsx?$/), pattern, (file, name) => normalize(join(dirname(file), name)));
const headers = () =>
  graphOf(filesIn('src/core', /\.[ch]$/), INCLUDE, (file, name) =>
    [join(dirname(file), name), join('src/core', name)].map(normalize).find((path) => existsSync(join(ROOT, path))),
  );

/** Returns the first circle of imports as a list of files, or null if there is none. */
function circleIn(graph) {
  const done = new Set();
  const walk = (file, path) => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return null;
    for (const next of graph.get(file) ?? []) {
      const circle = walk(next, [...path, file]);
      if (circle) return circle;
    }
    done.add(file);
    return null;
  };
  for (const file of graph.keys()) {
    const circle = walk(file, []);
    if (circle) return circle;
  }
  return null;
}

/**
 * Returns the forbidden imports: a folder may import only from folders in lower rows, not from those in the same row.
 */
function upwards(graph, folder, rows) {
  const rowOf = new Map(rows.flatMap((rooms, row) => rooms.map((room) => [room, row])));
  // The ONNX form and the attribution of a mixer or feed are next to it, and belong to the folders that use them.
  const roomOf = (file) => {
    const [, form] = /\.(onnx|attribution)\.ts$/.exec(file) ?? [];
    return form ? { onnx: 'onnx', attribution: 'analysis' }[form] : relative(folder, file).split('/')[0];
  };
  return [...graph].flatMap(([file, others]) =>
    others
      .filter((other) => !relative(folder, other).startsWith('..'))
      .map((other) => [roomOf(file), roomOf(other), other])
      .filter(([from, to]) => {
        assert.ok(rowOf.has(from), `${file}: no folder ${from} in the rows`);
        return from !== to && !(rowOf.get(to) < rowOf.get(from));
      })
      .map(([, , other]) => `${file} → ${other}`),
  );
}

/** Returns the imports of each file, including imports on demand. */
function allImports(folder) {
  const [graph, later] = [modules(folder), modules(folder, LATER)];
  return new Map([...graph].map(([file, others]) => [file, [...others, ...(later.get(file) ?? [])]]));
}

/**
 * Returns all files that some files import, directly or indirectly, including imports on demand.
 * @returns {Set<string>}
 */
function reachedFrom(...files) {
  const graph = allImports('web');
  const reached = new Set();
  const walk = (file) => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const next of graph.get(file) ?? []) walk(next);
  };
  for (const file of files) walk(file);
  return reached;
}
const isComponent = (file) => file.endsWith('.tsx');
const isIn = (folder) => (file) => file.startsWith(`web/${folder}/`);

test('web: folders import each other as the arrows say, and no two features import each other', () => {
  assert.ok(importsOfPage().length > 1000);
  assert.equal(checkArrows(), '');
  assert.equal(circleIn(allImports('web')), null);
  const wrong = [
    ['web/store/a.ts', 'web/features/b/c.ts'],
    ['web/model/a.ts', 'web/store/b.ts'],
    ['web/features/a/x.ts', 'web/features/b/y.ts'],
    ['web/features/b/x.tsx', 'web/features/a/y.css'],
    ['web/features/a/x.ts', 'web/store/b.ts'],
  ];
  assert.deepEqual(wrongImports(wrong), wrong.slice(0, 2));
  assert.deepEqual(mutualFeatures(wrong), ['a b']);
  assert.deepEqual(bypasses([...wrong, ['web/entries/a.ts', 'web/features/b/feature.ts']]), [
    wrong[0],
    ...wrong.slice(2, 4),
  ]);
  for (const name of readdirSync(join(ROOT, 'web/features')))
    assert.ok(existsSync(join(ROOT, 'web/features', name, 'feature.ts')), name);
});

test('the drawing in CONTRIBUTING.md has the arrows of the check', () => {
  const drawing = /subgraph web\[.*\n([^]*?) {2}end/.exec(readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8'))[1];
  assert.deepEqual(drawing.trim().split(/\n\s*/), drawArrows());
});

test('web: neither the store nor the worker imports a component', () => {
  const [store, worker] = ['store', 'worker'].map((folder) => [...modules('web').keys()].filter(isIn(folder)));
  assert.deepEqual([...reachedFrom(...store, ...worker)].filter(isComponent), []);
});

/** Files of features that may use the DOM, because they draw, move elements, save or read files, or define hooks. */
const USES_DOCUMENT =
  /(paintWeights|paintAligned|savePicture|textWidth|use[A-Z]\w+|droppedFiles|twoRuns|embedSnippet|unfold)\.ts$/;

test('web: computations of features use no document, window or worker', () => {
  for (const file of [...filesIn('web/features', /\.ts$/), ...filesIn('web/texts', /\.ts$/)]) {
    if (USES_DOCUMENT.test(file)) continue;
    const text = readFileSync(join(ROOT, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    assert.doesNotMatch(text, /\b(document|window|navigator|Worker|postMessage|HTMLElement)\b\s*[.([]/, file);
  }
});

/** Returns the assignments to `.value` of signals that the file does not create itself. */
function assignedSignals(text) {
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
  const assigned = /([\w$.?]+)\.value\s*(?:(?:\?\?|\|\||&&|\*\*|<<|>>>?|[-+*/%&|^])?=(?![=>])|\+\+|--)/g;
  const own = [...code.matchAll(/const (\w+) = signal\(|currentTarget: (\w+)/g)].map(
    ([, made, element]) => made ?? element,
  );
  return [...code.matchAll(assigned)]
    .map(([, owner]) => owner)
    .filter((owner) => !/(^|\.)(currentTarget|current)$/.test(owner) && !own.includes(owner));
}

test('web: only the store assigns to signals of the session, other files call its actions', () => {
  const files = ['features', 'ui', 'entries'].flatMap((folder) => filesIn(`web/${folder}`, /\.tsx?$/));
  assert.ok(files.length > 100);
  for (const file of files) assert.deepEqual(assignedSignals(readFileSync(join(ROOT, file), 'utf8')), [], file);
  const wrong = 'session.hover.value = null; hover.value ??= 1; a.count.value++; event.currentTarget.value = ""';
  assert.deepEqual(assignedSignals(wrong), ['session.hover', 'hover', 'a.count']);
  assert.deepEqual(assignedSignals('const own = signal(0); own.value = 1; if (own.value === 2) go();'), []);
});

test('web: the workers import no component and no store of signals, directly or not', () => {
  const reached = reachedFrom(...['page', 'view', 'onefile'].map((name) => `web/entries/${name}.worker.ts`));
  assert.ok(reached.has('web/worker/trainer/trainer.ts'));
  assert.deepEqual([...reached].filter(isComponent), []);
  const withSignals = filesIn('web/store', /\.ts$/).filter((file) =>
    readFileSync(join(ROOT, file), 'utf8').includes("from '@preact/signals';"),
  );
  assert.ok(withSignals.includes('web/store/session.ts'));
  assert.deepEqual(
    withSignals.filter((file) => reached.has(file)),
    [],
  );
});

test('src/js: check → memory, io → ops, text, hub → models → analysis, onnx; index → load', () => {
  const graph = modules('src/js');
  assert.ok(graph.size > 15);
  assert.deepEqual(
    upwards(graph, 'src/js', [
      ['check'],
      ['memory', 'io'],
      ['ops', 'text', 'hub'],
      ['models'],
      ['analysis', 'onnx'],
      ['types.ts'],
      ['index.ts'],
      ['ambient.ts'],
      ['load'],
    ]),
    [],
  );
  assert.equal(circleIn(allImports('src/js')), null);
});

test('src/js: text does not import memory, and only models import it, on demand', () => {
  const graph = modules('src/js');
  const room = (file) => relative('src/js', file).split('/')[0];
  assert.deepEqual(
    new Set([...graph].flatMap(([file, others]) => (room(file) === 'text' ? others.map(room) : []))),
    new Set(['check', 'io', 'text']),
  );
  for (const [file, others] of graph)
    if (!['text', 'models'].includes(room(file))) assert.ok(!others.some((other) => room(other) === 'text'), file);
  assert.equal(circleIn(graph), null);
});

test('src/core: base → kernels → attention → layers, no header includes itself through others', () => {
  const graph = headers();
  assert.ok(graph.size > 20);
  for (const [file, others] of graph) assert.ok(!others.includes(undefined), `${file} includes a missing file`);
  assert.deepEqual(upwards(graph, 'src/core', [['headlight.h'], ['base'], ['kernels'], ['attention'], ['layers']]), []);
  assert.equal(circleIn(graph), null);
});

test('circular and upward imports are found', () => {
  const graph = new Map([
    ['web/store/a.js', ['web/entries/b.js']],
    ['web/entries/b.js', ['web/entries/c.js']],
    ['web/entries/c.js', ['web/store/a.js']],
  ]);
  assert.equal(circleIn(graph).length, 4);
  assert.deepEqual(upwards(graph, 'web', [['store'], ['entries']]), ['web/store/a.js → web/entries/b.js']);
});

test('a file with tests of the full tier alone is named after it: no test would close its browser', () => {
  const files = filesIn('tests', /\.test\.js$/).filter((file) => !file.endsWith('.full.test.js'));
  assert.ok(files.length > 200);
  for (const file of files) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    if (/\bfullTest\(/.test(text)) assert.match(text, /\btest\(/, file);
  }
});
