// Models from servers that do what they should not: each fault is an error with the name of the file, and neither memory
// nor what the server sends grows with it.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { HeadlightError } from 'headlight-attention';
import { FAULTS, serveFiles } from '../../support/faulty_server.js';
import { GOLDEN } from '../../support/golden.js';
import { hl } from '../../support/headlight.js';

const read = (name) =>
  Object.fromEntries(
    readdirSync(join(GOLDEN, 'models', name))
      .filter((file) => !file.startsWith('expected'))
      .map((file) => [file, new Uint8Array(readFileSync(join(GOLDEN, 'models', name, file)))]),
  );
const LLAMA = {
  ...read('llama-a'),
  'tokenizer.json': new Uint8Array(readFileSync(join(GOLDEN, 'tokenizers', 'bpe', 'tokenizer.json'))),
};
const SHARDS = read('qwen2-a');
const IDS = [5, 17, 80, 3];
/** The limit of a JSON file, and what may be on its way when a connection is closed. */
const JSON_LIMIT = 64 * 2 ** 20;
const ON_THE_WAY = 8 * 2 ** 20;
const json = (value) => new TextEncoder().encode(JSON.stringify(value));

async function serve(t, files = LLAMA) {
  const server = await serveFiles(files);
  t.after(server.close);
  return server;
}

async function logitsOf(source, options) {
  const model = await hl.openModel(source, options);
  const result = model.forward(IDS);
  const logits = result.logits.copy();
  result.dispose();
  model.dispose();
  return logits;
}

const expected = await logitsOf(LLAMA);

/** Fails with an error that fits, and with everything given back. */
async function refuses(source, { code, message }, options) {
  const before = hl.info.memory.used;
  await assert.rejects(hl.openModel(source, options), (error) => {
    assert.ok(error instanceof HeadlightError, error.stack);
    if (code) assert.equal(error.code, code, error.message);
    if (message) assert.match(error.message, message);
    assert.ok(error.message.length < 1000, error.message.slice(0, 2000));
    return true;
  });
  assert.equal(hl.info.memory.used, before);
}

for (const name of Object.keys(FAULTS))
  test(`${name}: an error with the name of the file, within the limits`, async (t) => {
    const server = await serve(t);
    // The first request for the configuration, one for weights, the one for the tokenizer, which comes last.
    for (const [file, number] of [
      ['config.json', 0],
      ['model.safetensors', 2],
      ['tokenizer.json', 0],
    ]) {
      server.again();
      server.fault = (other, count) => (other === file && count >= number ? name : undefined);
      const before = server.sent();
      await refuses(server.url, { message: new RegExp(file.replace('.', '\\.')) });
      const sent = server.sent() - before;
      assert.ok(sent < JSON_LIMIT + ON_THE_WAY, `${file}: ${sent} bytes were sent`);
    }
    server.fault = () => undefined;
    assert.deepEqual(await logitsOf(server.url), expected);
  });
