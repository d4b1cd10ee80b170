// Packs the package and installs it in an empty folder, as users receive it.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const npm = (folder, ...args) => execFileSync('npm', [...args, '--loglevel=error'], { cwd: folder, encoding: 'utf8' });

/** @param {string} root of the package */
export function install(root) {
  const folder = mkdtempSync(join(tmpdir(), 'headlight-'));
  const file = (...path) => join(folder, ...path);
  const write = (name, text) => {
    mkdirSync(dirname(file(name)), { recursive: true });
    writeFileSync(file(name), text);
  };
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const packed = npm(root, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder);
    const [{ filename, files }] = JSON.parse(packed);
    write('package.json', '{ "private": true, "type": "module" }');
    npm(folder, 'install', '--offline', '--no-audit', '--no-fund', `./${filename}`);
    return { folder, file, write, remove, names: files.map(({ path }) => path), archive: file(filename) };
  } catch (error) {
    remove();
    throw error;
  }
}
