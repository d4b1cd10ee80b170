// Writes the worker's answer to the first request of the page into a file, for web/store/firstAnswer.ts.
// As a program: node src/build/first.ts FILE; it reads the module and the model in the folder of that file.

import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { load } from '../../dist/headlight.node.js';
import { initialState } from '../../web/model/state.ts';
import { foldAnswer } from '../../web/store/firstAnswer.ts';
import { createAnswerer } from '../../web/worker/requests.ts';

/** The parts of the answer that the page shows. The other parts describe how the answer was computed. */
const SHOWN = ['source', 'run', 'comparison', 'roles'];

const file = process.argv[2];
const parts = [];
const answer = createAnswerer({
  // The plain flavour gives the same bits on every Node and processor.
  load: () => load({ simd: 'simd128' }),
  fetchBeside: (name) => readFile(join(dirname(file), name)),
  post({ error, ...part }) {
    if (error !== undefined) throw new Error(error);
    if (SHOWN.includes(part.part)) parts.push(part);
  },
});
await answer({ id: 0, verb: 'show', state: initialState });
await writeFile(file, foldAnswer(parts));
