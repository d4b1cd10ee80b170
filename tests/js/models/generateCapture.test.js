import assert from 'node:assert/strict';
import test from 'node:test';
import { hl } from '../../support/headlight.js';

const SMALL = { layers: 2, dModel: 16, numHeads: 4, vocab: 11, context: 16, seed: 4, std: 2 };
const tokenizer = {
  encode: (text) => ({ ids: [...text].map(Number) }),
  decode: (ids) => ids.map((i) => 'abcdefghijk'[i]).join(''),
};
const build = (options) => Object.assign(hl.transformer({ ...SMALL, ...options }), { tokenizer });
const PROMPT = [3, 1, 4];
const NEVER = { stop: [] };
const CAPTURE = ['blocks.*.weights', 'final', 'logits'];

/** Returns the values of the last `count` tokens of forward without a cache. */
function lastRows(model, ids, name, count, options = {}) {
  const { captured, ...result } = model.forward(ids, { capture: [name], ...options });
  const { shape } = captured[name];
  const rows = captured[name].toArray()[0];
  for (const tensor of [...Object.values(captured), ...Object.values(result)]) tensor?.dispose();
  return shape.length === 4 ? rows.map((head) => head.slice(-count)) : rows.slice(-count);
}

test('each generated token comes with the captured values of the run that predicted it', async () => {
  const model = build({});
  const cases = [{}, { temperature: 1.5, topK: 5, seed: 3 }, { repetitionPenalty: 2 }, { lookup: true }];
  const edit = [{ at: 'blocks.0.heads', head: 1, set: 'zero' }];
  for (const options of [...cases, { edit }]) {
    const { used } = hl.info.memory;
    const given = { max: 5, ...NEVER, ...options };
    const plain = await model.generate(PROMPT, given);
    const ids = [...PROMPT];
    const tokens = [];
    for await (const { id, token, text, captured } of model.generate(PROMPT, { ...given, capture: CAPTURE })) {
      const names = ['blocks.0.weights', 'blocks.1.weights', 'final', 'logits'];
      assert.deepEqual(Object.keys(captured).sort(), names);
      const count = ids.length === PROMPT.length ? PROMPT.length : 1;
      for (const name of names) {
        const { shape, data } = captured[name];
        const rows = name === 'logits' ? 1 : count;
        assert.equal(shape.at(-2), rows, name);
        const expected = lastRows(model, ids, name, rows, { edit: options.edit }).flat(9);
        assert.ok(
          expected.every((x, i) => Math.abs(x - data[i]) < 1e-4),
          name,
        );
      }
      assert.equal(token, tokenizer.decode([id]));
      assert.equal(text, token);
      ids.push(id);
      tokens.push(id);
    }
    assert.deepEqual(tokens, plain.ids);
    assert.equal(hl.info.memory.used, used);
  }
  model.dispose();
});

test('captured values are freed when the next token is asked for, also of a token that is held back', async () => {
  const model = build({});
  const { used } = hl.info.memory;
  const seen = [];
  // Each text is held back until the next token has been computed.
  model.tokenizer = { ...tokenizer, decode: (ids) => `${'x'.repeat(Math.max(0, ids.length - 1))}\ufffd` };
  for await (const { captured } of model.generate(PROMPT, { max: 4, ...NEVER, capture: ['blocks.0.weights'] })) {
    assert.ok(seen.every((tensor) => tensor.disposed));
    assert.equal(captured['blocks.0.weights'].disposed, false);
    seen.push(captured['blocks.0.weights']);
  }
  assert.equal(seen.length, 4);
  assert.ok(seen.every((tensor) => tensor.disposed));
  assert.equal(hl.info.memory.used, used);
  model.dispose();
});

test('leaving the loop, a stop token, a signal and an error free the captured values', async () => {
  const model = build({});
  const { ids } = await model.generate(PROMPT, { max: 4, ...NEVER });
  const { used } = hl.info.memory;
  const options = { max: 4, ...NEVER, capture: CAPTURE };
  for await (const { captured } of model.generate(PROMPT, options)) if (captured.final) break;
  for await (const { captured } of model.generate(PROMPT, { ...options, stop: [ids[2]] })) assert.ok(captured.final);
  const control = new AbortController();
  for await (const { captured } of model.generate(PROMPT, { ...options, signal: control.signal }))
    if (captured.final) control.abort();
  const failing = () => {
    throw new Error('mine');
  };
  await assert.rejects(model.generate(PROMPT, { ...options, onToken: failing }), /mine/);
  await assert.rejects(async () => {
    for await (const { captured } of model.generate(PROMPT, options)) if (captured.final) failing();
  }, /mine/);
  const shapes = [];
  await model.generate(PROMPT, { ...options, onToken: ({ captured }) => shapes.push(captured.final.shape.join()) });
  assert.deepEqual(shapes, ['1,3,16', '1,1,16', '1,1,16', '1,1,16']);
  assert.equal(hl.info.memory.used, used);
  model.dispose();
});

test('values of an encoder come with the first token, because it is run once', async () => {
  const model = build({ encoder: { ...SMALL, causal: false, head: 'none' } });
  const { used } = hl.info.memory;
  const capture = ['encoder.blocks.*.weights', 'blocks.1.cross.weights'];
  const names = [];
  for await (const { captured } of model.generate({ encoder: [1, 2, 3, 4], ids: [5] }, { max: 3, ...NEVER, capture }))
    names.push(Object.entries(captured).map(([name, { shape }]) => `${name} ${shape}`));
  const cross = 'blocks.1.cross.weights 1,4,1,4';
  assert.deepEqual(names[0].sort(), [cross, 'encoder.blocks.0.weights 1,4,4,4', 'encoder.blocks.1.weights 1,4,4,4']);
  assert.deepEqual(names.slice(1), [[cross], [cross]]);
  assert.equal(hl.info.memory.used, used);
  model.dispose();
});

test('without a loop, with beams and with several texts capture is refused; its names are checked', async () => {
  const model = build({});
  const refused = async (prompt, options, message) => {
    const { used } = hl.info.memory;
    await assert.rejects(model.generate(prompt, { max: 2, ...options }), { code: 'ARGUMENT', message });
    assert.equal(hl.info.memory.used, used);
  };
  const capture = ['blocks.0.weights'];
  const onToken = () => {};
  await refused(PROMPT, { capture }, /capture is .*, expected none without a loop over the tokens, or onToken/);
  await refused(PROMPT, { capture, beams: 2 }, /capture is .*, expected none with beams/);
  await refused([PROMPT, PROMPT], { capture, onToken }, /capture is .*, expected none with several texts/);
  await refused(PROMPT, { capture: ['blocks.0.weigths'], onToken }, /^generate: capture\[0\] is 'blocks.0.weigths'/);
  await refused(PROMPT, { capture: 'final', onToken }, /^generate: capture is 'final', expected a list of names/);
  model.dispose();
});
