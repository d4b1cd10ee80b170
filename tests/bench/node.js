// Measures the contenders in this Node, with options from a JSON argument. Prints one line of JSON per result.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as ortNode from 'onnxruntime-node';
import * as ortWeb from 'onnxruntime-web';
import * as ruvectorModule from 'ruvector-attention-wasm';
import { load } from '../../dist/headlight.node.js';
import { measure } from './measure.js';
import { peakOf } from './peak.js';
import * as headlight from './peers/headlight.js';
import * as onnxruntime from './peers/onnxruntime.js';
import * as plain from './peers/plain.js';
import * as ruvector from './peers/ruvector.js';
import * as tfjs from './peers/tfjs.js';

const { threads, peers = true, ...options } = JSON.parse(process.argv[2]);
const say = (line) => console.log(JSON.stringify(line));
const require = createRequire(import.meta.url);

const contenders = [];
for (const simd of ['relaxed', 'simd128']) {
  const binary = readFileSync(new URL(`../../dist/bench/peak.${simd}.wasm`, import.meta.url));
  if (!WebAssembly.validate(binary)) continue;
  say({ peak: await peakOf(binary), simd });
  contenders.push(...(await headlight.open({ load, threads, simd })));
}
if (peers) {
  for (const form of [{ fused: true }, {}, { int8: true }])
    contenders.push(onnxruntime.open(ortWeb, 'onnxruntime-web', { threads, ...form, provider: 'wasm' }));
  const path = require.resolve('@tensorflow/tfjs-backend-wasm').replace(/[^/]*$/, '');
  contenders.push(
    await tfjs.open(require('@tensorflow/tfjs-core'), require('@tensorflow/tfjs-backend-wasm'), { threads, path }),
  );
  if (threads === 1) {
    ruvectorModule.initSync({
      module: readFileSync(
        require.resolve('ruvector-attention-wasm').replace(/[^/]*$/, 'ruvector_attention_wasm_bg.wasm'),
      ),
    });
    contenders.push(ruvector.open(ruvectorModule), plain.open());
  }
  contenders.push(onnxruntime.open(ortNode, 'onnxruntime-node (native)', { threads, fused: true, provider: 'cpu' }));
}
await measure(contenders, { threads, ...options, report: say });
process.exit();
