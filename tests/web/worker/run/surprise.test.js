// Checks that the probabilities of the tokens of a text equal those of runs of the module: after the preceding tokens
// or, in a masked language model, with each token masked in a separate run.

import assert from 'node:assert/strict';
import { mkdtempSync, openAsBlob, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { logProbability } from 'headlight-attention/analysis';
import { runOf } from '../../../../web/model/runInput.ts';
import { change, initialState } from '../../../../web/model/state.ts';
import { RunCache } from '../../../../web/worker/run/runCache.ts';
import { measureSurprise } from '../../../../web/worker/run/surprise.ts';
import { transformerSource } from '../../../../web/worker/sources/sources.ts';
import { openFiles } from '../../../../web/worker/sources/userFiles.ts';
import { makeCheckpoint } from '../../../support/checkpoint.js';
import { loadWhale } from '../../../support/whale.js';

const { hl, whale, tokenizer } = await loadWhale();
const folder = mkdtempSync(join(tmpdir(), 'headlight-'));
makeCheckpoint(folder, 'bert');
const files = await Promise.all(
  readdirSync(folder).map(async (name) => ({ path: name, file: await openAsBlob(join(folder, name)) })),
);
const { source: bert } = await openFiles(hl, 'bert', files, {
  title: 'bert',
  signal: new AbortController().signal,
  onProgress() {},
});

after(() => hl.dispose());
const moby = transformerSource('whale', { model: whale, tokenizer, bytes: 0 });
const TEXT = 'They gave the ship to me. They gave the ship';

/**
 * Returns the answer for a state: the text, and the tokens of both runs. ends() returns true after the request is
 * cancelled.
 */
async function measure(source, state, ends = () => false) {
  const found = { now: [], other: [], done: [], text: null };
  await measureSurprise(
    hl,
    source,
    change({ ...initialState, view: 'text' }, state),
    {
      send(part, fields) {
        if (part === 'surpriseText') found.text = fields;
        else {
          for (const token of fields.tokens) found[fields.which][token.t] = token;
          found.done.push(fields.done);
        }
      },
      isCancelled: () => ends(found),
      checkCancelled: async () => ends(found),
    },
    { runs: new RunCache() },
  );
  return found;
}
/** Returns ln p of a token, at the position that predicts it. */
const logOf = (model, ids, id, place, edit) =>
  hl.scope(() => {
    const { logits } = model.forward({ ids: [ids] }, { edit });
    return logProbability(id, place)({ logits: { data: logits.copy(), shape: [...logits.shape] } });
  });
const near = (token, log, what) =>
  assert.ok(Math.abs(Math.log(token.probability) - log) < 1e-4, `${what}: ${Math.log(token.probability)}, not ${log}`);

test('each token has its probability after the tokens before it, with and without the head', async () => {
  const { text, now, other, done } = await measure(moby, { text: TEXT, layer: 4, head: 2 });
  const ids = [...tokenizer.encode(TEXT).ids];
  assert.deepEqual([text.kind, text.masked, text.silent, text.total], ['without', false, [0], 2 * (ids.length - 1)]);
  assert.equal(done.at(-1), text.total);
  assert.equal(now[0], undefined);
  const off = [{ at: 'blocks.4.heads', head: 2, scale: 0 }];
  for (let t = 1; t < ids.length; t++) {
    near(now[t], logOf(whale, ids, ids[t], t - 1), `token ${t}`);
    near(other[t], logOf(whale, ids, ids[t], t - 1, off), `token ${t} without the head`);
    assert.ok(now[t].guesses.some(({ id }) => id === ids[t]));
    assert.equal(now[t].first, now[t].guesses[0].id === ids[t]);
    for (const [i, { id, now: p }] of now[t].guesses.entries()) {
      assert.ok(Math.abs(Math.log(p) - logOf(whale, ids, id, t - 1)) < 1e-4);
      assert.equal(other[t].guesses[i].id, id);
    }
  }
});

test('a pinned run is compared where it has the same token, in a longer text too', async () => {
  const pinned = TEXT.replace('the ship to', 'the old whale to');
  const { text, other } = await measure(moby, { text: TEXT, pinned: runOf({ ...initialState, text: pinned }) });
  const [ids, before] = [TEXT, pinned].map((one) => [...tokenizer.encode(one).ids]);
  assert.equal(text.kind, 'pinned');
  const shift = before.length - ids.length;
  near(other[ids.length - 1], logOf(whale, before, ids.at(-1), before.length - 2), 'the last token');
  const ship = ids.findIndex((id, t) => id !== before[t]);
  assert.equal(other[ship], undefined);
  assert.ok(shift > 0 && other[ship + 2]);
});

test('a model that fills gaps has each token masked once', async () => {
  const { text, now } = await measure(bert, { text: 'The cat sat on the mat.', layer: 0, head: 0 });
  const { ids } = bert.tokenizer.encode('The cat sat on the mat.');
  const last = ids.length - 1;
  assert.ok(text.masked);
  assert.deepEqual(text.silent, [0, last]);
  assert.deepEqual([now[0], now[last]], [undefined, undefined]);
  const mask = bert.tokenizer.idOf(bert.about.mask);
  for (let t = 1; t < last; t++) {
    const hidden = [...ids].map((id, i) => (i === t ? mask : id));
    near(now[t], logOf(bert.model, hidden, ids[t], t), `token ${t}`);
  }
});

test('a measurement can be cancelled after each masked token', async () => {
  const text = Array(6).fill('The cat sat.').join(' ');
  let asked = 0;
  const { done } = await measure(bert, { text, layer: 0, head: 0 }, () => ++asked === 3);
  assert.equal(asked, 3);
  assert.ok((done.at(-1) ?? 0) <= 3);
});
