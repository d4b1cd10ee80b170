// Tests writing the results of a scan as HeadVis files, and reading HeadVis files that Headlight or another program
// wrote.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { headRoles, readHeadvis, scanHeads, writeHeadvis } from 'headlight-attention/analysis';
import { readHeadvis as readInPage } from '../../../../src/js/analysis/analysis.ts';
import { difference, GOLDEN, readPack } from '../../../support/golden.js';
import { hl } from '../../../support/headlight.js';
import { plainModel } from '../../../support/plain_model.js';

const TREE = join(GOLDEN, 'heads/headvis');
const NAMES = { model: 'gpt2-a', dataset: 'fifty random sequences' };
const pathsIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1));
const golden = Object.fromEntries(pathsIn(TREE).map((path) => [path, readFileSync(join(TREE, path))]));
const parse = (bytes) => JSON.parse(new TextDecoder().decode(bytes));
const encode = (value) => new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));
/** Returns the golden tree of files with some files changed by functions. */
const changed = (changes) => ({
  ...golden,
  ...Object.fromEntries(
    Object.entries(changes).map(([name, change]) => {
      const value = parse(golden[name]);
      return [name, encode(change(value) ?? value)];
    }),
  ),
});

let scanned;
/** Returns the scan from which the golden tree was written. */
function goldenScan() {
  const scanAll = async () => {
    const model = await hl.openModel(join(GOLDEN, 'models/gpt2-a'));
    const { inputs, options } = readPack('gpt2-a', join(GOLDEN, 'heads')).find(({ kind }) => kind === 'tree');
    const { ids, lengths } = inputs;
    const lists = Array.from(lengths.data, (length, n) =>
      Array.from(ids.data.subarray(n * ids.shape[1], n * ids.shape[1] + length)),
    );
    const scan = await scanHeads(model, lists, options);
    model.dispose();
    return scan;
  };
  scanned ??= scanAll();
  return scanned;
}
const close = (got, expected, most = 1.01e-4) => {
  assert.equal(got.length, expected.length);
  got.forEach((x, i) => void assert.ok(Math.abs(x - expected[i]) <= most, `${x}, expected ${expected[i]}`));
};

test('the files are those that the frontend of HeadVis reads', async () => {
  const files = writeHeadvis(await goldenScan(), NAMES);
  assert.deepEqual(Object.keys(files).sort(), [...Object.keys(golden), 'roles.json'].sort());
  const [config, expected] = [parse(files['config.json']), parse(golden['config.json'])];
  // The roles of the heads are not a part of HeadVis.
  const { roles_file: _, ...known } = config;
  const withoutTexts = ({ metric_descriptions, custom_plots, statistics_display, ...rest }) => rest;
  assert.deepEqual(withoutTexts(known), withoutTexts(expected));
  assert.deepEqual(Object.keys(known), Object.keys(expected));
  for (const name of ['metric_descriptions', 'statistics_display'])
    assert.deepEqual(Object.keys(config[name]), Object.keys(expected[name]));
  assert.deepEqual(
    config.custom_plots.map(({ key }) => key),
    expected.custom_plots.map(({ key }) => key),
  );
  const scatter = parse(files['scatter_data.json']);
  for (const [i, row] of parse(golden['scatter_data.json']).entries()) {
    assert.deepEqual(Object.keys(scatter[i]), Object.keys(row));
    close(Object.values(scatter[i]), Object.values(row));
  }
  for (const name of ['server_config.json', 'attributions/manifest.json']) assert.deepEqual(parse(files[name]), {});
  for (const name of Object.keys(golden).filter((path) => path.startsWith('heads/')))
    compareHeads(parse(files[name]), parse(golden[name]));
});

/**
 * Largest difference of sums of thousands of weights. It is larger than for a single weight, because a weight may be
 * rounded up or down.
 */
const SUM = 5e-4;

function compareHeads(head, expected) {
  assert.deepEqual(Object.keys(head), Object.keys(expected));
  assert.equal(head.sequences.length, expected.sequences.length);
  head.sequences.forEach((sample, i) => {
    const { attention_values, max_activation, ...rest } = expected.sequences[i];
    const { attention_values: values, max_activation: max, ...own } = sample;
    assert.deepEqual(own, rest);
    close([...values, max], [...attention_values, max_activation]);
  });
  for (const name of ['qk_distance_histogram', 'histogram']) {
    close(head[name].bin_edges, expected[name].bin_edges);
    close(head[name].bin_values, expected[name].bin_values, SUM);
  }
  for (const name of ['top_query_tokens', 'top_key_tokens']) {
    const weights = (rows) => rows.map(({ weight }) => weight);
    close(weights(head[name]), weights(expected[name]), SUM);
    const by = new Map(expected[name].map(({ token, weight }) => [token, weight]));
    // If two tokens have almost equal weights, either of them may be the last one of the list.
    const missing = head[name].filter(({ token }) => !by.has(token));
    assert.ok(missing.length <= 1);
    for (const { token, weight } of head[name]) close([weight], [by.get(token) ?? weight], SUM);
  }
  close(Object.values(head.statistics), Object.values(expected.statistics));
}

test('every number has at most four decimals, and NaN is null', async () => {
  const model = plainModel({});
  const scan = await scanHeads(model, [
    [1, 2, 3, 4],
    [5, 6, 7],
  ]);
  const files = writeHeadvis(scan, { model: 'm', dataset: 'd' });
  for (const bytes of Object.values(files)) assert.doesNotMatch(new TextDecoder().decode(bytes), /\.\d{5}|NaN|e-/);
  assert.ok(parse(files['scatter_data.json']).every((row) => row.induction_score === null));
  const { metrics } = await readHeadvis(files);
  assert.ok(metrics.induction.data.every(Number.isNaN));
  assert.ok(metrics.entropy.data.every(Number.isFinite));
});

test('the names of roles and their numbers are written, and read again as they are', async () => {
  const scan = await goldenScan();
  const read = async (names) => (await readHeadvis(writeHeadvis(scan, { ...NAMES, ...names }))).roles;
  const own = headRoles(scan.roles);
  const { names, weights, mean, chance } = await read({});
  assert.deepEqual(names, own.names);
  close(weights.flat(), own.weights.flat(), 5.1e-5);
  for (const [role, { data, shape }] of Object.entries(scan.roles.mean)) {
    close([...mean[role].data], [...data], 5.1e-5);
    close([...chance[role].data], [...scan.roles.chance[role].data], 5.1e-5);
    assert.deepEqual(mean[role].shape, shape);
  }
  // Names from another measurement are kept, although the measures of the scan show others.
  const [layers, heads] = scan.metrics.entropy.shape;
  const given = {
    names: Array.from({ length: layers }, (_, l) =>
      Array.from({ length: heads }, (_, h) => (h === l ? 'first' : null)),
    ),
    weights: Array.from({ length: layers }, (_, l) => Array.from({ length: heads }, (_, h) => (h === l ? 0.75 : null))),
  };
  const other = await read({ roles: given });
  assert.deepEqual([other.names, other.weights], [given.names, given.weights]);
  assert.equal((await readHeadvis(golden)).roles, undefined);
  const files = writeHeadvis(scan, NAMES);
  for (const wrong of [{}, [{ layer: 9, head: 0 }], [{ layer: 0, head: 0, role: 'constructor' }]])
    await assert.rejects(readHeadvis({ ...files, 'roles.json': encode(wrong) }), {
      code: 'FORMAT',
      parameter: 'roles.json',
    });
});

test('layers without attention are left out', async () => {
  const model = plainModel({});
  const forward = (...given) => {
    const result = model.forward(...given);
    delete result.captured['blocks.0.weights'];
    return result;
  };
  const files = writeHeadvis(await scanHeads({ ...model, forward }, [[1, 2, 1]]), { model: 'm', dataset: 'd' });
  const config = parse(files['config.json']);
  assert.deepEqual(config.heads, [
    [1, 0],
    [1, 1],
  ]);
  assert.equal(config.n_layers, 2);
  assert.equal(parse(files['scatter_data.json']).length, 2);
  assert.deepEqual(
    Object.keys(files).filter((name) => name.startsWith('heads/')),
    ['heads/L1H0.json', 'heads/L1H1.json'],
  );
  const scan = await readHeadvis(files);
  assert.deepEqual(scan.heads, [
    { layer: 1, head: 0 },
    { layer: 1, head: 1 },
  ]);
  assert.ok(Number.isNaN(scan.metrics.previous.data[0]));
  await assert.rejects(scan.head(0, 0), { code: 'FORMAT', parameter: 'heads/L0H0.json' });
});

test('intervals are written in their order, and read again', async () => {
  const ids = Array.from({ length: 30 }, (_, n) => [n % 9, (n * 5) % 9, (n * n) % 9, n % 4]);
  const scan = await scanHeads(plainModel({}), ids, { intervals: 4, samples: 2, top: 3 });
  const files = writeHeadvis(scan, { model: 'm', dataset: 'd' });
  assert.equal(parse(files['config.json']).n_intervals, 4);
  const read = await readHeadvis(files);
  for (const [name, { data, shape }] of Object.entries(scan.metrics)) {
    close([...read.metrics[name].data], [...data], 5.1e-5);
    assert.deepEqual(read.metrics[name].shape, shape);
  }
  const [own, head] = [scan.head(1, 1), await read.head(1, 1)];
  assert.deepEqual(
    head.sequences.map(({ sequence, interval, tokens }) => [sequence, interval, tokens]),
    own.sequences.map(({ sequence, interval, tokens }) => [sequence, interval, tokens]),
  );
  own.sequences.forEach((sample, i) => {
    assert.deepEqual([...head.sequences[i].indices], [...sample.indices]);
    close([...head.sequences[i].values, head.sequences[i].max], [...sample.values, sample.max], 5.1e-5);
  });
  close(head.distances.values, own.distances.values, 5e-3);
  assert.deepEqual(head.distances.edges, own.distances.edges);
  assert.deepEqual(head.histogram, own.histogram);
  assert.deepEqual(
    head.keyTokens.map(({ token }) => token),
    own.keyTokens.map(({ token }) => token),
  );
  close([head.statistics.samples, head.statistics.meanMax], [own.statistics.samples, own.statistics.meanMax], 5.1e-5);
  assert.deepEqual([read.model, read.dataset, read.skipped], ['m', 'd', []]);
  assert.equal('maxima' in read || 'intervals' in read, false);
});

/** Serves the golden tree of files, and records the requested paths. */
async function serveTree() {
  const requested = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://localhost');
    requested.push(url.pathname + url.search);
    const file = golden[decodeURIComponent(url.pathname).replace('/data/', '')];
    response.writeHead(file ? 200 : 404, file && { 'content-length': file.length });
    response.end(file);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/data`, requested, close: () => server.close() };
}

test('a tree is read from a path, a URL, files by name or a list of files; a head only on request', async () => {
  const server = await serveTree();
  const inFolder = Object.fromEntries(Object.entries(golden).map(([path, bytes]) => [`some/data/${path}`, bytes]));
  const list = Object.entries(inFolder).map(([path, bytes]) => {
    const file = new File([bytes], path.split('/').at(-1));
    Object.defineProperty(file, 'webkitRelativePath', { value: path });
    return file;
  });
  const handle = (folder) => ({
    getFileHandle: () => assert.fail(),
    getDirectoryHandle: async (name) => handle(`${folder}${name}/`),
    async *values() {
      for (const [path, bytes] of Object.entries(golden))
        if (path.startsWith(folder) && !path.slice(folder.length).includes('/'))
          yield { kind: 'file', name: path.slice(folder.length), getFile: async () => new Blob([bytes]) };
    },
  });
  const { sequences } = parse(golden['heads/L1H2.json']);
  const own = [TREE, `${TREE}/`, pathToFileURL(TREE), server.url, new URL(`${server.url}/?key=1`)];
  for (const files of [...own, golden, inFolder, list, handle('')]) {
    const scan = await readHeadvis(files);
    assert.equal(scan.heads.length, 8);
    const head = await scan.head(1, 2);
    assert.deepEqual([...head.sequences[3].indices], sequences[3].attention_indices);
  }
  const key = server.requested.filter((path) => path.includes('?'));
  assert.deepEqual(key, ['/data/config.json?key=1', '/data/scatter_data.json?key=1', '/data/heads/L1H2.json?key=1']);
  assert.equal(server.requested.filter((path) => path.includes('heads/')).length, 2);
  const page = await readInPage(server.url);
  await page.head(0, 1);
  await assert.rejects(readInPage(TREE), { code: 'ARGUMENT', parameter: 'files' });
  server.close();
});

test('a folder on disk is read again for each head, and nothing stays open', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'headlight-headvis-'));
  for (const [path, bytes] of Object.entries(golden)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
  const scan = await readHeadvis(folder);
  await scan.head(0, 0);
  rmSync(join(folder, 'heads/L0H0.json'));
  await assert.rejects(scan.head(0, 0), { code: 'FORMAT', parameter: 'heads/L0H0.json' });
  await scan.head(0, 1);
  rmSync(join(folder, 'heads'), { recursive: true });
  await assert.rejects(scan.head(0, 1), { code: 'FORMAT', parameter: 'heads/L0H1.json' });
  rmSync(folder, { recursive: true });
  await assert.rejects(readHeadvis(folder), { code: 'LOAD' });
});

test('files of other writers are read: further columns, ten intervals, any id, long decimals', async () => {
  const sample = (interval, i) => ({
    sequence_id: i % 2 ? `doc-${i}` : 1e12 + i,
    interval,
    tokens: ['a', ' b', 'c'],
    attention_indices: [0, 4, 8],
    attention_values: [0.1234567890123456, 3.0517578125e-5, 1],
    seq_len: 3,
    max_activation: 0.999999999999,
  });
  const sequences = Array.from({ length: 200 }, (_, i) => sample(1 + Math.floor(i / 20), i));
  const scatter = [0, 1].map((head) => ({
    layer: 0,
    head,
    previous_token_score: 0.25,
    logit_std: 1.5 + head,
    induction_score: head === 0 ? null : 0.5,
    label: 'text',
    __proto__: null,
  }));
  const files = {
    'config.json': encode({ n_layers: 1, n_heads: 2, heads: [[0, 1]], n_intervals: 10, has_umap: true }),
    'scatter_data.json': encode(scatter),
    'heads/L0H1.json': encode(sequences),
    'umap/L0H1.json': encode('not a head'),
  };
  const scan = await readHeadvis(files);
  assert.deepEqual([...scan.metrics.previous.data], [0.25, 0.25]);
  assert.deepEqual([...scan.metrics.logit_std.data], [1.5, 2.5]);
  assert.deepEqual([...scan.metrics.induction.data], [Number.NaN, 0.5]);
  assert.ok(scan.metrics.entropy.data.every(Number.isNaN));
  assert.equal('label' in scan.metrics, false);
  assert.equal(scan.config.has_umap, true);
  const head = await scan.head(0, 1);
  assert.equal(head.sequences.length, 200);
  assert.deepEqual([head.sequences[0].sequence, head.sequences[199].sequence], [1e12, 'doc-199']);
  assert.deepEqual([head.sequences[0].interval, head.sequences[199].interval], [1, 10]);
  assert.equal(head.sequences[0].values[0], Math.fround(0.1234567890123456));
  // Older files do not contain these tables, so they are computed from the samples.
  assert.ok(difference([head.distances.values[0]], [200 * (1.123456789012345 + 3.0517578125e-5)]) < 1e-6);
  assert.deepEqual(
    head.queryTokens.map(({ token }) => token),
    ['c', 'a', ' b'],
  );
  assert.equal(head.histogram, undefined);
  assert.equal(head.statistics.samples, 200);
  assert.ok(Number.isNaN(head.statistics.meanMax));
  const named = {
    ...files,
    'config.json': encode({ n_layers: 1, n_heads: 2, heads: [], head_data_pattern: 'h{head}.json' }),
  };
  await assert.rejects((await readHeadvis(named)).head(0, 1), { parameter: 'heads/h1.json' });
});

test('the error about a wrong file names it', async () => {
  const rejects = (files, parameter, message) =>
    assert.rejects(readHeadvis(files), (error) => {
      assert.deepEqual([error.name, error.code, error.parameter], ['HeadlightError', 'FORMAT', parameter]);
      assert.ok(error.message.includes(parameter));
      if (message) assert.match(error.message, message);
      return true;
    });
  const without = (name) => Object.fromEntries(Object.entries(golden).filter(([path]) => path !== name));
  for (const name of ['config.json', 'scatter_data.json']) {
    await rejects(without(name), name, /missing/);
    await rejects({ ...golden, [name]: encode('{"a":') }, name, /JSON/);
    await rejects({ ...golden, [name]: encode('3') }, name);
    await rejects({ ...golden, [name]: new Uint8Array() }, name);
  }
  for (const [name, value] of [
    ['n_layers', 0],
    ['n_layers', 1.5],
    ['n_heads', undefined],
    ['n_heads', 2 ** 40],
    ['heads', {}],
    ['heads', [[0]]],
    ['heads', [[2, 0]]],
    ['heads', [[0, 4]]],
    ['head_data_pattern', '../L{layer}H{head}.json'],
    ['head_data_pattern', 'https://example.org/{layer}'],
    ['head_data_pattern', '..'],
    ['head_data_pattern', 3],
  ])
    await rejects(changed({ 'config.json': (config) => ({ ...config, [name]: value }) }), 'config.json');
  for (const row of [null, [], { layer: 2, head: 0 }, { layer: 0, head: -1 }, { layer: 0 }])
    await rejects(changed({ 'scatter_data.json': (rows) => [...rows, row] }), 'scatter_data.json');
});

test('the error about a wrong file of a head names it', async () => {
  const name = 'heads/L0H1.json';
  const rejects = async (change) => {
    const files = change instanceof Uint8Array ? { ...golden, [name]: change } : changed({ [name]: change });
    const scan = await readHeadvis(files);
    await scan.head(0, 0);
    await assert.rejects(scan.head(0, 1), (error) => {
      assert.deepEqual([error.name, error.code, error.parameter], ['HeadlightError', 'FORMAT', name]);
      return true;
    });
  };
  for (const text of ['', '{', 'null', '[1]', '{}', '{"sequences":{}}']) await rejects(encode(text));
  const inSample = (change) => rejects((head) => void Object.assign(head.sequences[2], change(head.sequences[2])));
  await inSample(({ seq_len }) => ({ seq_len: seq_len + 1 }));
  await inSample(({ tokens }) => ({ tokens: tokens.slice(1) }));
  await inSample(() => ({ tokens: 'text' }));
  await inSample(() => ({ seq_len: undefined }));
  await inSample(({ attention_values }) => ({ attention_values: attention_values.slice(1) }));
  for (const value of ['0.1', null, undefined]) await inSample(() => ({ attention_values: [value] }));
  for (const wrong of [-1, 0.5, 1e9, null, '3'])
    await inSample(({ attention_indices }) => ({ attention_indices: [wrong, ...attention_indices.slice(1)] }));
  await inSample(({ seq_len, attention_indices }) => ({
    attention_indices: [...attention_indices.slice(0, -1), seq_len ** 2],
  }));
  const files = changed({
    [name]: (head) => void Object.assign(head.sequences[2].attention_indices, [head.sequences[2].seq_len ** 2]),
  });
  const { seq_len: length } = JSON.parse(new TextDecoder().decode(golden[name])).sequences[2];
  await assert.rejects(
    (await readHeadvis(files)).head(0, 1),
    new RegExp(`attention_indices\\[0\\] is ${length ** 2}, expected an integer from 0 to ${length ** 2 - 1}`),
  );
  for (const interval of [0, 1.5, 'high']) await inSample(() => ({ interval }));
  await rejects((head) => void head.histogram.bin_edges.pop());
  await rejects((head) => void (head.qk_distance_histogram.bin_values = 3));
  await rejects((head) => void (head.top_key_tokens[0].weight = 'much'));
  await rejects((head) => void (head.statistics = 3));
});

test('invalid arguments are refused', async () => {
  const scan = await goldenScan();
  const refuses = (given, names, parameter) =>
    assert.throws(() => writeHeadvis(given, names), { code: 'ARGUMENT', parameter });
  for (const wrong of [undefined, null, {}, await readHeadvis(golden)]) refuses(wrong, NAMES, 'scan');
  refuses(scan, { model: 'm' }, 'dataset');
  refuses(scan, { dataset: 'd' }, 'model');
  refuses(scan, { ...NAMES, title: 'x' }, 'title');
  refuses(scan, undefined, 'options');
  for (const wrong of [undefined, 3, null]) await assert.rejects(readHeadvis(wrong), { code: 'ARGUMENT' });
  await assert.rejects(readHeadvis(golden, { signal: 3 }), { code: 'ARGUMENT', parameter: 'signal' });
  const read = await readHeadvis(golden);
  await assert.rejects(read.head(2, 0), { code: 'ARGUMENT', parameter: 'layer' });
  await assert.rejects(read.head(0, 4), { code: 'ARGUMENT', parameter: 'head' });
  const stopped = readHeadvis(TREE, { signal: AbortSignal.abort(new Error('enough')) });
  await assert.rejects(stopped, (error) => /enough/.test(`${error.message} ${error.cause?.message}`));
});
