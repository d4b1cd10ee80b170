// Writes web/demo/whale.passages.txt, the passages on which the demo model's heads are measured, one per line. Half of
// them are from the chapters that the model was not trained on.
//   node src/build/demo/passages.ts

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { openTokenizer } from '../../js/text/tokenizer.ts';
import { readWhale } from './text.ts';

const PASSAGES = 300;
/** Tokens of a passage. */
const LENGTH = 128;

const beside = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url));
const tokenizer = openTokenizer(readFileSync(beside('web/demo/tokenizer.json')));

/** Returns passages at equal distances in some chapters. */
function passagesOf(chapters: string[], count: number) {
  const all = chapters.flatMap((chapter) => {
    const text = chapter.replace(/\s+/g, ' ');
    const { ids, offsets } = tokenizer.encode(text);
    return Array.from({ length: Math.floor(ids.length / LENGTH) }, (_, i) =>
      text.slice(offsets[i * LENGTH][0], offsets[(i + 1) * LENGTH - 1][1]).trim(),
    );
  });
  return Array.from({ length: count }, (_, i) => all[Math.floor((i * all.length) / count)]);
}

const { heldOut, train } = readWhale(beside('dist/whale'));
const passages = [...passagesOf(heldOut, PASSAGES / 2), ...passagesOf(train, PASSAGES / 2)];
const text = `${passages.join('\n')}\n`;
writeFileSync(beside('web/demo/whale.passages.txt'), text);
console.log(
  `web/demo/whale.passages.txt: ${text.length} characters, ${gzipSync(text, { level: 9 }).length} compressed`,
);
