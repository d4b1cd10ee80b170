// ./build.sh bench models: compares whole models with onnxruntime-web, which runs the same model with the same random
// weights from an ONNX file that this program writes. It measures a prompt, and one token after a long past, with
// float32, bfloat16 and int8 weights, on one core and on all cores, in the newer Node that the tests use
// (node_modules/node). Then it compares files with weights of 4 and 8 bits with wllama and onnxruntime-web, in Chromium
// (fewBits.js).
//   --tiny              models of a few thousand parameters in one round, to check that the program still runs
//   --only 'GPT-2'      only models whose name contains the text
//   --type int8         only this type: float32, bfloat16, int8, Q4_0, Q4_K, Q8_0 or int4
//   --threads N         only this number of threads
//   --form gqa          only this form of onnxruntime-web (see decoder.js), or wllama; can be repeated
//   --rounds N          default 3
//   --write             writes the tables to models.md; a table that is not measured remains unchanged

import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { measureFewBits } from './fewBits.js';

const { values } = parseArgs({
  options: {
    tiny: { type: 'boolean' },
    only: { type: 'string' },
    type: { type: 'string' },
    threads: { type: 'string' },
    form: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '3' },
    write: { type: 'boolean' },
  },
});
/** The heading of the second table in models.md. */
const HEADING = '## Weights in four and eight bits';
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

const llama = { norm: 'rms', positions: 'rotary', rotary: { theta: 10000 }, activation: 'silu', gated: true };
const MODELS = values.tiny
  ? {
      'GPT-2, tiny': { layers: 2, dModel: 32, numHeads: 4, vocab: 67, context: 64, tied: true },
      'Llama, tiny': {
        ...{ ...llama, layers: 2, dModel: 64, numHeads: 4, kvHeads: 2, mlp: 96, bias: false },
        ...{ vocab: 67, context: 64, tied: true },
      },
    }
  : {
      'GPT-2 small, 124 M': { layers: 12, dModel: 768, numHeads: 12, vocab: 50257, context: 1024, tied: true },
      'Llama, 387 M': {
        ...{ ...llama, layers: 24, dModel: 896, numHeads: 14, kvHeads: 2, mlp: 4864, bias: false },
        ...{ vocab: 32000, context: 1024, tied: true },
      },
    };
/**
 * The models whose weights have few bits: the options and the types of weights. Widths of models with Q4_K are
 * multiples of 256.
 */
const SMALL = values.tiny
  ? {
      'Llama, tiny': { types: ['Q4_0', 'Q8_0', 'int4'], options: { ...MODELS['Llama, tiny'], vocab: 320 } },
      'Llama, tiny and wide': {
        types: ['Q4_K'],
        options: { ...MODELS['Llama, tiny'], dModel: 256, mlp: 512, vocab: 320 },
      },
    }
  : {
      'SmolLM, 135 M': {
        types: ['Q4_0', 'Q8_0', 'int4'],
        options: {
          ...{ ...llama, layers: 30, dModel: 576, numHeads: 9, kvHeads: 3, mlp: 1536, bias: false },
          ...{ vocab: 49152, context: 1024, tied: true },
        },
      },
      'Llama, 120 M': {
        types: ['Q4_K'],
        options: {
          ...{ ...llama, layers: 30, dModel: 512, numHeads: 8, kvHeads: 4, mlp: 1536, bias: false },
          ...{ vocab: 49152, context: 1024, tied: true },
        },
      },
    };
const [prefills, pasts] = values.tiny
  ? [[5], [3, 9]]
  : [
      [128, 512],
      [128, 992],
    ];
const cores = availableParallelism();
const counts = values.threads ? [Number(values.threads)] : values.tiny || cores === 1 ? [1] : [1, cores];

const rounds = values.tiny ? 1 : Number(values.rounds);
const chosen = (types) => types.filter((type) => !values.type || type === values.type);

/** Runs models-here.js and yields every line that it prints, parsed as JSON. */
async function* lines(given) {
  const args = [here('models-here.js'), JSON.stringify(given)];
  const child = spawn(here('../../node_modules/node/bin/node'), args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.on('close', resolve));
  for await (const line of createInterface({ input: child.stdout })) if (line.startsWith('{')) yield JSON.parse(line);
  const code = await ended;
  if (code !== 0) throw new Error(`models-here.js ended with ${code}`);
}

const milliseconds = (ms) => `${ms.toFixed(ms < 10 ? 2 : ms < 100 ? 1 : 0)} ms`;
const megabytes = (bytes) => (bytes / 1e6).toFixed(0);
const gigabytes = (bytes) => (bytes / 1e9).toFixed(1);

const rows = [];
for (const [model, options] of Object.entries(MODELS)) {
  if (values.only && !model.includes(values.only)) continue;
  for (const type of chosen(['float32', 'bfloat16', 'int8']))
    for (const threads of counts) {
      for await (const result of lines({ options, type, threads, rounds, prefills, pasts, only: values.form })) {
        const { form, what, failure, off, median, least, ratio, rate, bandwidth, share } = result;
        const head = `${model}, ${type}, ${threads} thread${threads > 1 ? 's' : ''}`;
        if (failure) {
          console.log(`${head}  onnxruntime-web, ${form}, fails: ${failure}`);
          if (values.tiny) process.exitCode = 1;
          continue;
        }
        rows.push({ model, type, threads, ...result });
        console.log(
          [
            head,
            what.padEnd(19),
            milliseconds(median[0]).padStart(9),
            `${form.padEnd(15)} ${milliseconds(median[1]).padStart(9)}`,
            `${ratio.toFixed(2)}, of the minimum times ${(least[1] / least[0]).toFixed(2)}`,
            ...(rate ? [`${gigabytes(rate)} of ${gigabytes(bandwidth)} GB/s: ${share.toFixed(2)}`] : []),
            `off by ${off.toExponential(1)}`,
            `beyond the weights ${megabytes(result.beyond)} MB, ${megabytes(result.heap.beyond)} MB`,
          ].join('  '),
        );
      }
    }
}

const small = [];
for (const [model, { types: all, options }] of Object.entries(SMALL)) {
  const types = chosen(all);
  if (types.length === 0 || (values.only && !model.includes(values.only))) continue;
  for await (const result of measureFewBits({ options, types, counts, rounds, prefills, pasts, forms: values.form })) {
    const { type, threads, peer, form, what, median, least, ratio, off, memory } = result;
    small.push({ model, ...result });
    console.log(
      [
        `${model}, ${type}, ${threads} thread${threads > 1 ? 's' : ''}`,
        what.padEnd(19),
        milliseconds(median[0]).padStart(9),
        `${[peer, form].filter(Boolean).join(', ').padEnd(21)} ${milliseconds(median[1]).padStart(9)}`,
        `${ratio.toFixed(2)}, of the minimum times ${(least[1] / least[0]).toFixed(2)}`,
        `off by ${off.toExponential(1)}`,
        `memory ${megabytes(memory[0])} MB, ${megabytes(memory[1])} MB`,
      ].join('  '),
    );
  }
}

const floats = [
  [
    `Measured on ${cpus()[0].model.trim()}, ${cpus().length} cores, in Node 24. Both run the same model with the same `,
    'random weights and give the logits of the last token; both keep the keys and values. Median of rounds in which ',
    'they take turns; the ratio is the median of those of the rounds, and beside it stands that of the least times. ',
    'onnxruntime-web is given each form of the model that its operators allow (decoder.js): gqa is ',
    'GroupQueryAttention, concat joins past and present, rows takes the past and gives the new rows only. Its inputs ',
    'and outputs are copied at every call, also those that are allocated beforehand: no form can share a cache. ',
    'With bfloat16 both have the same numbers of 16 bits; onnxruntime-web multiplies by no other than float32. ',
    'The share is of the bandwidth that is measured between the turns with as many threads.\n',
  ].join(''),
  `| ${[
    ...['model', 'weights', 'threads', '', 'Headlight', 'onnxruntime-web', '', 'ratio', 'of the least'],
    ...['GB/s', 'share', 'off by', 'MB beyond the weights', ''],
  ].join(' | ')} |`,
  '| --- | --- | ---: | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
  ...rows.map(({ model, type, threads, what, form, off, median, least, ratio, rate, share, beyond, heap }) =>
    [
      '',
      model,
      type,
      threads,
      what,
      milliseconds(median[0]),
      form,
      milliseconds(median[1]),
      `**${ratio.toFixed(2)}**`,
      (least[1] / least[0]).toFixed(2),
      rate ? gigabytes(rate) : '',
      share ? share.toFixed(2) : '',
      off.toExponential(1),
      megabytes(beyond),
      megabytes(heap.beyond),
      '',
    ]
      .join(' | ')
      .trim(),
  ),
].join('\n');

const fewBits = [
  `${HEADING}\n`,
  [
    `Measured on ${cpus()[0].model.trim()}, ${cpus().length} cores, in Chromium, in a page that is isolated from `,
    'other origins. Q4_0, Q4_K and Q8_0 are GGUF files that both open, in Headlight with weights: stored; their ',
    'embedding, which is also the head, is Q8_0 with all three. int4 is a file of BF16 that Headlight rounds while it ',
    'opens it; onnxruntime-web has MatMulNBits with four bits in blocks of 32, in the forms of the table above. The ',
    'random matrices of Q4_0 and int4 are such that four bits hold them exactly, so both multiply by the same ',
    'numbers. wllama reports its times itself: they include no messages between the page and its worker. Its cache is ',
    'float16, that of the others ',
    'float32. The times are medians of rounds in which both take turns. The memory is the largest that the process of ',
    'a page needs to open the model and to run the longest prompt and a token after the longest past, beyond that of ',
    'an empty page, with the most threads: that of Headlight, then of the other.\n',
  ].join(''),
  `| ${[
    ...['model', 'weights', 'threads', '', 'Headlight', 'other', '', 'ratio', 'of the least'],
    ...['off by', 'MB of memory', ''],
  ].join(' | ')} |`,
  '| --- | --- | ---: | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |',
  ...small.map(({ model, type, threads, peer, form, what, off, median, least, ratio, memory }) =>
    [
      ...['', model, type, threads, what, milliseconds(median[0])],
      ...[[peer, form].filter(Boolean).join(', '), milliseconds(median[1])],
      ...[`**${ratio.toFixed(2)}**`, (least[1] / least[0]).toFixed(2), off.toExponential(1)],
      ...[megabytes(memory[0]), megabytes(memory[1]), ''],
    ]
      .join(' | ')
      .trim(),
  ),
].join('\n');
if (values.write) {
  const [oldFloats, oldFewBits = ''] = readFileSync(here('models.md'), 'utf8').trimEnd().split(`\n${HEADING}`);
  const parts = [
    rows.length > 0 ? floats : oldFloats.trimEnd(),
    small.length > 0 ? fewBits : oldFewBits && HEADING + oldFewBits,
  ];
  writeFileSync(here('models.md'), `${parts.filter(Boolean).join('\n\n')}\n`);
  console.log('written: tests/bench/models.md');
}
