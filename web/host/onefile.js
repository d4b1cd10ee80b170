// Folds the built page into one file that works from a disk. Arguments: index.html, the script, the worker, and the
// file to write.

import { readFileSync, writeFileSync } from 'node:fs';

const [html, script, worker, out] = process.argv.slice(2).map((path, i) => (i < 3 ? readFileSync(path, 'utf8') : path));
/** Nothing inside may end the element that it stands in. */
const inside = (text) => text.replace(/<\/(script|style)/gi, '<\\/$1').replace(/<!--/g, '<\\!--');
const replaced = (text, from, to) => {
  if (!text.includes(from)) throw new Error(`no ${from} in index.html`);
  return text.replace(from, () => to);
};

const page = replaced(html, '<script type="module" src="main.js"></script>', '');
writeFileSync(
  out,
  replaced(
    page,
    '</body>',
    `<script type="text/plain" id="worker">${inside(worker)}</script>
<script type="module">${inside(script)}</script>
</body>`,
  ),
);
