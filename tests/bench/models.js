// ./build.sh bench models: compares whole models with onnxruntime-web, which runs the same model with the same random
// weights from an ONNX file that this program writes. It measures a prompt, and a token after many, with float32,
// bfloat16 and int8 weights, on one core and on all, in the newer Node.
//   --tiny              models of a few thousand parameters, a round each: does it still run?
//   --only 'GPT-2'      models whose name holds the text
//   --type int8         float32, bfloat16 or int8 only
//   --threads N         with so many threads only
//   --form gqa          of onnxruntime-web's forms, see decoder.js; more than once
//   --rounds N          default 3
//   --write             the table goes to models.md

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

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
const [prefills, pasts] = values.tiny
  ? [[5], [3, 9]]
  : [
      [128, 512],
      [128, 992],
    ];
const cores = availableParallelism();
const counts = values.threads ? [Number(values.threads)] : values.tiny || cores === 1 ? [1] : [1, cores];

/** Every line that the program prints, parsed as JSON. */
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
  for (const type of values.type ? [values.type] : ['float32', 'bfloat16', 'int8'])
    for (const threads of counts) {
      const rounds = values.tiny ? 1 : Number(values.rounds);
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

const table = [
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
if (values.write) {
  writeFileSync(here('models.md'), `${table}\n`);
  console.log('written: tests/bench/models.md');
}
