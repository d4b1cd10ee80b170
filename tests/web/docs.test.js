// Checks the sources of the documentation: front matter, headings, links, the list of contents, and the tables that
// must agree with the code. docs.full.test.js opens the built site.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { TEXTS as FAMILY_TEXTS, familyFields } from '../../src/build/families.ts';
import { fileOf, frontMatterOf, makeList } from '../../src/build/llms.ts';
import { leaveDocs, REPOSITORY } from '../../web/docs/.vitepress/links.js';
import { inspect } from '../../web/docs/.vitepress/program/inspect.js';
import { pagesOf } from '../../web/docs/.vitepress/programPages.js';
import { filesOf, whyNot } from '../../web/docs/.vitepress/programs.js';
import { GUIDE, RECIPES, REFERENCE } from '../../web/docs/.vitepress/sidebar.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const docs = join(root, 'web/docs');
const read = (path) => readFileSync(join(root, path), 'utf8');
const pages = pagesOf(docs).map((name) => ({ name, text: read(`web/docs/${name}`) }));
const textOf = (name) => pages.find((page) => page.name === name).text;
/** Returns a document without its programs, because a line of a program may begin with #. */
const prose = (text) => text.replaceAll(/^```[^]*?^```$/gm, '');

/** Returns the anchor that VitePress makes of a heading. */
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[\s~`!@#$%^&*()\-_+=[\]{}|\\;:"'“”‘’<>,.?/…–—]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');

test('every page has a title, a description of its own and one heading of the first level', () => {
  assert.ok(pages.length >= 30, `${pages.length} pages`);
  const descriptions = new Set();
  for (const { name, text } of pages) {
    const { title, description } = frontMatterOf(text);
    assert.ok(title && description, name);
    assert.ok(description.length >= 30 && description.length <= 160, `${name}: ${description.length} characters`);
    // A colon breaks the YAML, and backticks and asterisks would be displayed.
    assert.doesNotMatch(`${title}${description}`, /: |[`*]/, name);
    descriptions.add(description);
    const headings = [...prose(text).matchAll(/^# (.*)$/gm)].map(([, heading]) => heading);
    // The changelog has the heading of the file that it includes.
    assert.deepEqual(headings, name === 'changelog.md' ? [] : [title], name);
  }
  assert.equal(descriptions.size, pages.length);
});

test('every column of a table has a name', () => {
  for (const { name, text } of pages)
    for (const [, head] of prose(text).matchAll(/^(\|.*\|)\n\|(?: :?-+:? \|)+$/gm))
      assert.doesNotMatch(head, /\| +\|/, `${name}: ${head}`);
});

test('every link leads to a page, to a heading in it, or to a file of the repository', () => {
  for (const { name, text } of pages)
    for (const [, href] of prose(text).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(href)) continue;
      const [path, anchor] = href.split('#');
      const target = path === '' ? name : normalize(join(dirname(name), path));
      assert.ok(existsSync(join(docs, target)), `${name}: ${href}`);
      if (!anchor) continue;
      const anchors = [...prose(textOf(target)).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading));
      assert.ok(anchors.includes(anchor), `${name}: ${href}, of ${anchors}`);
    }
});

test('a link that leaves the documentation gets the address of the repository', () => {
  assert.equal(leaveDocs('../../src/core/README.md', 'speed.md'), `${REPOSITORY}/blob/main/src/core/README.md`);
  for (const href of ['guide/index.md', '#top', 'https://example.com/', '../index.md'])
    assert.equal(leaveDocs(href, 'guide/attention.md'), undefined, href);
});

test('the contents list has every page once', () => {
  const listed = [...GUIDE.flatMap(({ items }) => items), ...REFERENCE, ...RECIPES]
    .filter(({ target }) => !target)
    .map(({ link }) => fileOf(link));
  assert.deepEqual(listed.toSorted(), pages.map(({ name }) => name).toSorted());
});

test('llms.txt has a title, a summary and every page with its description', () => {
  for (const place of ['package', 'site']) {
    const list = makeList(place);
    assert.match(list, /^# Headlight\n\n> .+\n/);
    for (const { text } of pages) assert.ok(list.includes(`): ${frontMatterOf(text).description}\n`));
    for (const [, path] of list.matchAll(/\]\((\.\.\/[^)]+)\)/g)) assert.ok(existsSync(join(root, 'dist', path)), path);
  }
});

test('the table of model families and the names in README are those of the files of the families', () => {
  assert.equal(FAMILY_TEXTS.length, 2);
  for (const { file, at, make } of FAMILY_TEXTS) {
    const [text] = at.exec(read(file)) ?? [];
    assert.equal(text, make(), `${file}: run node src/build/families.ts`);
  }
});

test('the recipe for a family in CONTRIBUTING names every field of a family, and files that exist', () => {
  const [recipe] = /(?<=\n## Add a family in an evening\n)[^]*?(?=\n## )/.exec(read('CONTRIBUTING.md'));
  const quoted = [...recipe.matchAll(/`([^`]+)`/g)].map(([, text]) => text);
  assert.deepEqual(
    familyFields().filter((field) => !quoted.includes(field)),
    [],
  );
  const files = quoted.filter((text) => /^(src|tests)\/[\w/.]+$/.test(text));
  assert.ok(files.length >= 4);
  for (const file of files) assert.ok(existsSync(join(root, file)), file);
});

test('the page of speed has the figures of README, which are those of the benchmark and of the built files', () => {
  const readme = read('README.md');
  const rows = readme.slice(readme.indexOf('## Speed')).match(/^\|.*×.*\|$/gm);
  const [sizes] = readme.match(/makes \d+ requests for .*?compressed/);
  assert.equal(rows.length, 4);
  for (const text of [...rows, sizes]) assert.ok(textOf('speed.md').includes(text), text);
});

test('the page of value names has every name that capture and edit take', () => {
  const source = read('src/js/models/edits.ts');
  const listOf = (name) => source.match(new RegExp(`const ${name}[^=]* = \\[([^\\]]*)\\]`))[1].match(/\w+/g);
  const names = [...listOf('MODEL_VALUES'), ...listOf('BLOCK_VALUES').map((name) => `blocks.L.${name}`)];
  assert.ok(names.length > 15);
  for (const name of names) assert.match(textOf('values.md'), new RegExp(`^\\| \`${name}\` \\|`, 'm'), name);
});

test('the page for coding agents has every import, ten patterns and ten mistakes', () => {
  const text = textOf('agents.md');
  const { name, exports } = JSON.parse(read('package.json'));
  const modules = Object.entries(exports).filter(([, target]) => target.types);
  for (const [path] of modules) assert.ok(text.includes(`| \`${join(name, path)}\` |`), path);
  assert.equal([...text.matchAll(/^### \d+\. /gm)].length, 10);
  assert.equal([...text.split('## Ten mistakes')[1].matchAll(/^\| (?!mistake|---)/gm)].length, 10);
});

test('a program runs in a page if it imports only the package and opens only the demo model', () => {
  const js = (text) => whyNot({ language: 'js', text });
  const start = "import { load } from 'headlight-attention';\n";
  assert.equal(js(start), '');
  assert.equal(js(`${start}hl.openModel('demo');`), '');
  assert.match(js(`${start}hl.openModel('bert');`), /checkpoint: the folder “bert”/);
  assert.match(js(`${start}hl.openModel('hf://owner/name');`), /Downloads a model/);
  assert.match(js(`import { readFile } from 'node:fs';\n${start}`), /Node/);
  assert.match(js(`import * as ort from 'onnxruntime-web';\n${start}`), /package onnxruntime-web/);
  assert.match(js(`// answer.js\n${start}`), /file answer\.js/);
  assert.match(whyNot({ language: 'python', text: 'import headlight' }), /Python/);
  assert.equal(whyNot({ language: 'sh', text: 'npm install' }), undefined);
  assert.equal(js('const x = 1;'), undefined);
});

test('the page of a program imports the module of the site, and has no inline script', () => {
  const text = [
    '<p id="here"></p>',
    '<script type="module">',
    "  import { mount } from './node_modules/headlight-attention/dist/view.js';",
    "  import { patch } from 'headlight-attention/analysis';",
    '</script>',
    '',
  ].join('\n');
  const files = Object.values(filesOf({ language: 'html', text }));
  assert.equal(files.length, 2);
  const [page, script] = files;
  assert.match(page, /<p id="here">/);
  assert.doesNotMatch(page, /<script[^>]*>[^<]/);
  assert.match(script, /from '\.\.\/\.\.\/module\/view\.js'[^]*from '\.\.\/\.\.\/module\/analysis\.js'/);
});

test('console output in a page has the form of Node’s', async () => {
  const { formatWithOptions } = await import('node:util');
  const cases = [
    ['a', 1, -0, null, undefined, true, 10n],
    [[1, 2, 3], ['it', "it's"], [], {}],
    [{ made: 'here', 'a-b': [1, { c: 2 }] }],
    [Float32Array.of(1, 0.5)],
    [['config.json', 'model.safetensors', 'train.py', 'tokenizer.json', 'generation_config.json']],
  ];
  for (const values of cases) assert.equal(inspect(values), formatWithOptions({}, ...values));
});
