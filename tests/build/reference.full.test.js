// Checks the generated reference: every exported name has a page with content, and the search finds methods and
// options. If the reference does not exist yet, typedoc takes about 25 seconds to make it.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { before, describe } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inflateSync } from 'node:zlib';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('the reference', () => {
  const folder = join(root, 'dist/site/reference');
  const read = (...path) => readFileSync(join(folder, ...path), 'utf8');
  /** Returns the text of a page, without its navigation. */
  const textOf = (...path) =>
    read(...path)
      .replace(/^[^]*<div class="col-content">|<div class="col-sidebar">[^]*$/g, '')
      .replace(/<svg[^]*?<\/svg>|<[^>]+>/g, ' ');

  // Warnings of typedoc count as errors, for example a warning about a public type that is not exported.
  before(() => {
    const args = ['-f', 'src/build/Makefile', '--no-print-directory', 'reference'];
    const { status, stdout, stderr } = spawnSync('make', args, { cwd: root, encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
  });

  test('has no page without members or a definition', () => {
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
      ['interfaces/headlight-attention.AttentionOptions.html', 'heads', 'causal', 'validLens'],
      ['interfaces/headlight-attention.ForwardOptions.html', 'causal', 'weights'],
      ['types/headlight-attention.TransformerOptions.html', 'dModel', 'queryKeyNorm'],
      ['interfaces/headlight-attention.TransformerResult.html', 'logits', 'captured'],
      ['interfaces/headlight-attention.Transformer.html', 'generate', 'saveFolder', 'quantize'],
      ['types/headlight-attention.Edit.html', 'temperature'],
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
