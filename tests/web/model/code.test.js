import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { load } from 'headlight';
import { toProgram } from '../../../web/model/code.js';
import { attentionOptions, EXAMPLES, PAINT_STRIDE } from '../../../web/model/examples.js';
import { change, initialState } from '../../../web/model/state.js';
import { createSolver } from '../../../web/worker/solve.js';

const hl = await load();
const folder = fileURLToPath(new URL('../../../dist/test/', import.meta.url));

test('the copied program runs, and gives the weights that are shown', async () => {
  mkdirSync(folder, { recursive: true });
  for (const patch of [
    {},
    { mask: 'causal', painted: [PAINT_STRIDE * 3 + 1], softcap: 3 },
    { example: 'lengths', batch: 1 },
    { example: 'padded', batch: 1, head: 1 },
    { example: 'own', text: '*/ \u2028"</script> a' },
  ]) {
    const state = change(initialState, patch);
    const result = (await createSolver(() => hl).solve(state)).whole();
    const where = { batch: state.batch, head: state.head };
    const program = toProgram(result, attentionOptions(state, EXAMPLES[state.example].problem(state)), {
      ...where,
      title: 'a view\nprocess.exit(1)',
    });
    const file = `${folder}copied.mjs`;
    writeFileSync(
      file,
      program
        .replace('console.log(weights.toArray()[0][0]);', 'console.log(JSON.stringify(weights.toArray()[0][0]));')
        .replace(/console\.log\(output.*\n/, ''),
    );
    const { stdout } = await promisify(execFile)(process.execPath, [file]);
    const [, H, T, S] = result.shape;
    const at = (where.batch * H + where.head) * T * S;
    const shown = result.weights.subarray(at, at + T * S);
    JSON.parse(stdout)
      .flat()
      .forEach((weight, i) => assert.ok(Math.abs(weight - shown[i]) <= 1e-6, `${i}: ${weight}, shown ${shown[i]}`));
  }
});
