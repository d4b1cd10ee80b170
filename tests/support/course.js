// Makes a third-party page that contains `headlight-attention/view`: a folder with the files of the package, and a
// server.

import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serve } from '../../src/build/server.ts';

const dist = fileURLToPath(new URL('../../dist', import.meta.url));

/** Makes a folder with the files of the package that `headlight-attention/view` needs, in dist/. */
export async function makeCourse() {
  const folder = await mkdtemp(join(tmpdir(), 'headlight-view-'));
  await cp(join(dist, 'view'), join(folder, 'dist/view'), { recursive: true });
  for (const name of await readdir(dist))
    if (/^view.*\.js$|\.wasm$|^whale\.|^headlight\.worker\.js$/.test(name))
      await cp(join(dist, name), join(folder, 'dist', name));
  await writeFile(join(folder, 'favicon.ico'), '');
  return folder;
}

/** The HTML of a page of a third party, a lesson. */
const LESSON = `<!doctype html>
<html lang="en">
<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Lesson</title>
<script type="importmap">{ "imports": { "headlight-attention/view": "./dist/view.js" } }</script>
<main><h1>One head</h1><div id="head"></div></main>
<script type="module">
import { mount } from 'headlight-attention/view';
const attentions = [[1, 0, 0], [0.25, 0.75, 0], [0.125, 0.5, 0.375]];
mount(document.querySelector('#head'), { attentions, tokens: ['The', 'white', 'whale'], view: 'head' });
</script>`;

/** Serves the lesson. */
export async function openLesson() {
  const folder = await makeCourse();
  await writeFile(join(folder, 'index.html'), LESSON);
  const server = await serve({ root: folder, headers: { 'Content-Security-Policy': '' } });
  return {
    url: server.url,
    async close() {
      await server.close();
      await rm(folder, { recursive: true });
    },
  };
}
