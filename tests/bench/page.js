// Measures the contenders in a browser page without a worker, with options from globalThis.benchOptions.

import * as tfWasm from '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import * as ort from 'onnxruntime-web/wasm';
import initRuvector, * as ruvectorModule from 'ruvector-attention-wasm';
import { load } from '../../src/js/load/browser.ts';
import { measure } from './measure.js';
import { peakOf } from './peak.js';
import * as headlight from './peers/headlight.js';
import * as onnxruntime from './peers/onnxruntime.js';
import * as plain from './peers/plain.js';
import * as ruvector from './peers/ruvector.js';
import * as tfjs from './peers/tfjs.js';

try {
  const { threads, ...options } = globalThis.benchOptions;
  const contenders = [];
  for (const simd of ['relaxed', 'simd128']) {
    const binary = await (await fetch(`peak.${simd}.wasm`)).arrayBuffer();
    if (!WebAssembly.validate(binary)) continue;
    await globalThis.say({ peak: await peakOf(binary), simd });
    contenders.push(...(await headlight.open({ load, threads, simd })));
  }
  ort.env.wasm.wasmPaths = new URL('.', location.href).href;
  for (const form of [{ fused: true }, {}, { int8: true }])
    contenders.push(onnxruntime.open(ort, 'onnxruntime-web', { threads, ...form, provider: 'wasm' }));
  contenders.push(await tfjs.open(tf, tfWasm, { threads, path: './' }));
  if (threads === 1) {
    await initRuvector({ module_or_path: 'ruvector_attention_wasm_bg.wasm' });
    contenders.push(ruvector.open(ruvectorModule), plain.open());
  }
  await measure(contenders, { threads, ...options, report: globalThis.say });
  await globalThis.say({ done: true });
} catch (error) {
  await globalThis.say({ broken: error.stack });
}
