// Prints the scores of the heads of a model on passages that occur twice, and the loss without each head.
//   node src/build/demo/nameHeads.ts

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { load } from 'headlight-attention';
import { headScores } from 'headlight-attention/analysis';
import { LENGTH, PASSAGES, saidTwice } from '../../../web/model/repeatedPassages.ts';
import { openDemoModel } from '../../../web/worker/sources/demoModel.ts';

export { saidTwice };

/** Returns the mean loss in nats over the second occurrence of the passages. */
function secondLoss(logits: any, ids: { data: Int32Array }) {
  const [, T, V] = logits.shape;
  const values = logits.data;
  let [sum, count] = [0, 0];
  for (let b = 0; b < PASSAGES; b++)
    for (let t = LENGTH; t + 1 < T; t++) {
      const row = values.subarray((b * T + t) * V, (b * T + t + 1) * V);
      const most = row.reduce((a: number, x: number) => Math.max(a, x), -Infinity);
      let total = 0;
      for (const x of row) total += Math.exp(x - most);
      sum += most + Math.log(total) - row[ids.data[b * T + t + 1]];
      count++;
    }
  return sum / count;
}

/** @returns the loss on the second occurrence of passages, with all heads and without each head */
export function nameHeads(
  hl: any,
  model: any,
  seed = 1,
): { loss: number; heads: { layer: number; head: number; previous: number; induction: number; without: number }[] } {
  const { layers, numHeads, vocab } = model.options;
  const ids = saidTwice(vocab, seed);
  const ask = (options: object) => hl.scope(() => secondLoss(model.forward({ ids }, options).logits, ids));
  const { previous, induction } = hl.scope(() => {
    const { captured } = model.forward({ ids }, { capture: ['blocks.*.weights'] });
    return headScores(
      Array.from({ length: layers }, (_, layer) => captured[`blocks.${layer}.weights`]),
      { ids },
    );
  });
  const heads = Array.from({ length: layers * numHeads }, (_, i) => {
    const [layer, head] = [Math.floor(i / numHeads), i % numHeads];
    const without = ask({ edit: [{ at: `blocks.${layer}.heads`, head, set: 'zero' }] });
    return { layer, head, previous: previous.data[i], induction: induction.data[i], without };
  });
  return { loss: ask({}), heads };
}

/** Returns the induction head and the previous-token head with the highest scores. */
export function mainHeads(hl: any, model: any) {
  const { heads, loss } = nameHeads(hl, model);
  const best = (score: 'previous' | 'induction') => heads.reduce((a, b) => (b[score] > a[score] ? b : a));
  return { heads, loss, induction: best('induction'), previous: best('previous') };
}

async function main() {
  const hl = (await load()) as any;
  const model = openDemoModel(
    hl,
    readFileSync(fileURLToPath(new URL('../../../web/demo/whale.safetensors', import.meta.url))),
  );
  const { loss, heads } = nameHeads(hl, model);
  console.log(`second occurrence: ${loss.toFixed(3)} nats a token; without one head:`);
  for (const { layer, head, previous, induction, without } of heads)
    console.log(
      `layer ${layer}, head ${head}: ${without.toFixed(3)}`.padEnd(26),
      `previous ${previous.toFixed(2)}, induction ${induction.toFixed(2)}`,
    );
  hl.dispose();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
