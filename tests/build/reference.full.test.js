// The reference: every exported name has a page with content, and its search finds methods and options. typedoc takes
// about 25 seconds of a processor.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before, describe } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inflateSync } from 'node:zlib';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('the reference', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headlight-reference-'));
  const read = (...path) => readFileSync(join(folder, ...path), 'utf8');
  /** The text of a page, without its navigation. */
  const textOf = (...path) =>
    read(...path)
      .replace(/^[^]*<div class="col-content">|<div class="col-sidebar">[^]*$/g, '')
      .replace(/<svg[^]*?<\/svg>|<[^>]+>/g, ' ');
  let written;

  before(() => {
    const args = ['--tsconfig', 'src/build/reference.json', '--out', folder];
    written = spawnSync(join(root, 'node_modules/.bin/typedoc'), args, { cwd: root, encoding: 'utf8' });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('is written without a warning: every type that is named is exported', () => {
    assert.equal(written.stdout + written.stderr, '');
    assert.equal(written.status, 0);
  });

  test('has no page of a type without members or a definition', () => {
    for (const [kind, content] of [
      ['classes', /tsd-member/],
      ['interfaces', /tsd-member/],
      ['types', /tsd-signature[^]*=/],
      ['functions', /tsd-signature/],
    ]) {
      const pages = readdirSync(join(folder, kind));
      assert.ok(pages.length > 0, kind);
      for (const page of pages) assert.match(read(kind, page), content, `${kind}/${page}`);
    }
  });

  test('shows the members of options and results', () => {
    for (const [page, ...members] of [
      ['types/headlight-attention.AttentionOptions.html', 'heads', 'causal', 'validLens'],
      ['types/headlight-attention.ForwardOptions.html', 'causal', 'weights'],
      ['interfaces/headlight-attention.TransformerOptions.html', 'dModel', 'queryKeyNorm'],
      ['interfaces/headlight-attention.TransformerResult.html', 'logits', 'captured'],
      ['interfaces/headlight-attention.Transformer.html', 'generate', 'saveFolder', 'quantize'],
      ['interfaces/headlight-attention.Edit.html', 'temperature'],
    ])
      for (const member of members) assert.match(textOf(page), new RegExp(`\\b${member}\\b`), page);
  });

  test('finds methods and options by its search', () => {
    const [, packed] = read('assets/search.js').match(/"([^"]+)"/);
    const { rows } = JSON.parse(inflateSync(Buffer.from(packed, 'base64')));
    for (const [name, owner] of [
      ['generate', 'Transformer'],
      ['topK', 'GenerateOptions'],
      ['rewind', 'Cache'],
      ['openModel', 'Headlight'],
    ])
      assert.ok(
        rows.some((row) => row.name === name && row.parent === `headlight-attention.${owner}`),
        name,
      );
  });
});
