// Runs the published graph of the Universal Sentence Encoder in TensorFlow.js.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const LAYER = (l) =>
  `module_apply_default/Encoder_en/KonaTransformer/Encode/TransformerStack/Layer_${l}/TransformerLayer/` +
  'MultiheadAttention/DotProductAttention/BaseDotProductAttention/attention_weights';
const EVENTS = ['uncaughtException', 'unhandledRejection'];
const VECTORS = 'module_apply_default/Encoder_en/hidden_layers/l2_normalize';

/** @param {string} folder @returns a function that runs the graph on the tokens of sentences */
export async function openGraphModel(folder) {
  const known = EVENTS.map((event) => process.listeners(event));
  const tf = createRequire(import.meta.url)('@energetic-ai/core');
  await tf.ready();
  // Removes the handlers that TensorFlow.js installs. They end the process at any error, but the test runner must
  // report errors.
  EVENTS.forEach((event, i) => {
    for (const listener of process.listeners(event))
      if (!known[i].includes(listener)) process.removeListener(event, listener);
  });
  const { modelTopology, weightsManifest } = JSON.parse(readFileSync(join(folder, 'model.json'), 'utf8'));
  const [{ paths, weights }] = weightsManifest;
  const bytes = Uint8Array.from(Buffer.concat(paths.map((path) => readFileSync(join(folder, path)))));
  const model = await tf.loadGraphModel({
    load: async () => ({ modelTopology, weightSpecs: weights, weightData: bytes.buffer }),
  });
  return async (ids) => {
    const places = ids.flatMap((sentence, b) => sentence.map((_, t) => [b, t]));
    const inputs = { indices: tf.tensor2d(places, undefined, 'int32'), values: tf.tensor1d(ids.flat(), 'int32') };
    const outputs = await model.executeAsync(inputs, [LAYER(0), LAYER(1), VECTORS]);
    const [first, second, vectors] = outputs.map((x) => ({ data: x.dataSync(), shape: x.shape }));
    tf.dispose([inputs, outputs]);
    return { weights: [first, second], vectors };
  };
}
