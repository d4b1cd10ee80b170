import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { makeCheckpoint } from '../../../support/checkpoint.js';
import { lastLine } from '../../expect.js';

export default {
  title: 'transformers.js 4',
  what: 'files of `toOnnx`, Node and a page',
  threads: '—',
  view: 'yes',
  note: "`names: 'hugging-face'`: [With other libraries](recipes/elsewhere.md)",
  recipes: [{ file: 'elsewhere.md', language: 'js', to: 'attend.js' }],
  async run(place) {
    for (const name of ['bert', 'gpt2']) {
      makeCheckpoint(place.file(name), name);
      place.write(`${name}/tokenizer_config.json`, '{}');
    }
    const program = readFileSync(place.file('attend.js'), 'utf8');
    const expected = [...program.matchAll(/^console\.log\(.*\); \/\/ (.*)\n/gm)].map(([, said]) => `${said}\n`);
    assert.equal(expected.length, 3);
    assert.equal(await place.run(process.execPath, ['attend.js']), expected.join(''));
    const { files, theirs, ours, off } = lastLine(await place.run(process.execPath, ['continue.js']));
    assert.deepEqual(files, ['model.onnx', 'model.onnx_data']);
    assert.deepEqual(theirs, ours);
    assert.ok(off < 1e-4, `${off}`);
    assert.deepEqual(await place.openFolder('.', { path: 'shown.html' }), { heads: 8, tokens: 11 });
  },
};
