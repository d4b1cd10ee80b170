// Opens folders on disk with entries that are not readable files. Each error must contain the name.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { HeadlightError } from 'headlight-attention';
import { GOLDEN } from '../../../support/golden.js';
import { hl } from '../../../support/headlight.js';

const MODEL = join(GOLDEN, 'models', 'llama-a');
const FILES = ['config.json', 'model.safetensors', 'tokenizer.json'];

/** Copies a model with a tokenizer to a temporary folder. */
function makeFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'headlight é '));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(MODEL, folder, { recursive: true });
  cpSync(join(GOLDEN, 'tokenizers', 'bpe', 'tokenizer.json'), join(folder, 'tokenizer.json'));
  return folder;
}

async function refuses(source, { code = 'LOAD', message }, options) {
  const before = hl.info.memory.used;
  await assert.rejects(hl.openModel(source, options), (error) => {
    assert.ok(error instanceof HeadlightError, error.stack);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  });
  assert.equal(hl.info.memory.used, before);
}

const openHandles = () => readdirSync('/proc/self/fd').length;

const KINDS = {
  'a folder': [(path) => mkdirSync(path), /it is a folder/],
  'a link to nothing': [(path) => symlinkSync('/nowhere/at/all', path), /ENOENT/],
  'a link to itself': [(path) => symlinkSync(path, path), /ELOOP/],
  'a pipe that nobody writes into': [(path) => execFileSync('mkfifo', [path]), /it is not a regular file/],
  'a device': [(path) => symlinkSync('/dev/zero', path), /it is not a regular file/],
};

for (const [kind, [make, reason]] of Object.entries(KINDS))
  test(`${kind} in place of a file is an error with its name`, {
    skip: process.platform === 'win32',
  }, async (t) => {
    for (const file of FILES) {
      const folder = makeFolder(t);
      rmSync(join(folder, file));
      make(join(folder, file));
      const message = new RegExp(`${file.replace('.', '\\.')} cannot be read: .*${reason.source}`);
      await refuses(folder, { message }, { signal: AbortSignal.timeout(60_000) });
    }
  });

test('all files are closed after success and after failure', { skip: process.platform !== 'linux' }, async (t) => {
  const folder = makeFolder(t);
  (await openAny(folder))?.dispose();
  const before = openHandles();
  for (const file of [null, ...FILES]) {
    const copy = makeFolder(t);
    if (file) rmSync(join(copy, file));
    if (file) mkdirSync(join(copy, file));
    (await openAny(copy))?.dispose();
  }
  assert.equal(openHandles(), before);
});

/** Resolves to the model, or to undefined if it cannot be opened. @param {string} folder */
const openAny = (folder) => hl.openModel(folder).catch(() => undefined);

test('the error about a missing folder contains its name', async (t) => {
  const folder = makeFolder(t);
  await refuses(join(folder, 'config.json'), { message: /the folder .*config\.json cannot be read: ENOTDIR/ });
  await refuses(join(folder, 'nothing'), { message: /the folder .*nothing cannot be read: ENOENT/ });
  await refuses(`${folder}\0`, { message: /the folder .* cannot be read/ });
  await refuses('file://otherhost/x', { message: /file:\/\/otherhost\/x cannot be read: File URL host/ });
  await refuses('file:///a%2fb', { message: /cannot be read: File URL path/ });
});

test('the error about a missing file with weights contains its name', async (t) => {
  const folder = makeFolder(t);
  for (const name of ['nothing.gguf', 'nothing.pt', 'nothing.safetensors', 'nothing.zip'])
    await refuses(join(folder, name), { message: new RegExp(`${name} cannot be read: there is no such file`) });
});

test('a folder that does not exist may be meant as a name on the Hub: the error says how to open it', async () => {
  for (const name of ['openai-community/gpt2', 'gpt2'])
    await refuses(name, { message: new RegExp(`ENOENT.*name on the Hugging Face Hub, open hf://${name}`) });
  await assert.rejects(hl.openModel('./gpt2'), ({ message }) => !message.includes('Hub'));
});

test('addresses that are not folders are refused, and errors contain no password', async () => {
  for (const address of [
    'ftp://host/x',
    'data:,x',
    'blob:nodedata:1',
    'javascript:1',
    'http://[',
    new URL('ftp://host/'),
  ])
    await refuses(address, { code: 'ARGUMENT', message: /files is '.*', expected a/ });
  await refuses('https://user:secret@host/', { code: 'ARGUMENT', message: /^((?!secret).)*$/ });
});
