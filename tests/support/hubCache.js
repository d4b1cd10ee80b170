// Makes a model of some megabytes, and folders for caches.

import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hl } from './headlight.js';
import { imitateHub } from './hub.js';

/** Makes a GPT-2 of 12 MB in float32. The tensors are stored in the order of their names, as in published files. */
export async function makeModel(seed = 1) {
  const model = hl.transformer({ layers: 8, dModel: 176, numHeads: 4, vocab: 300, context: 64, seed });
  const files = await model.saveFolder();
  model.dispose();
  return { 'config.json': files['config.json'], 'model.safetensors': files['model.safetensors'] };
}

export const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
export const gitSha1 = (bytes) => createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');

export function makeFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'headlight hub '));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function start(t, models, options) {
  const hub = await imitateHub(models, options);
  t.after(() => hub.close());
  return hub;
}

/** Returns the options of openModel for an imitated Hub. */
export const at = (hub, more = {}) => ({ hub: { endpoint: hub.endpoint, cache: false, ...more } });

/** Returns the paths below a folder, with the targets of links. */
export function treeOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => {
      const path = join(entry.parentPath ?? entry.path, entry.name);
      const name = path.slice(folder.length + 1);
      return entry.isSymbolicLink() ? `${name} -> ${readlinkSync(path)}` : `${name} ${statSync(path).size}`;
    })
    .sort();
}
