// Generates text with transformers.js from an ONNX file that toOnnx wrote, with a KV cache, and compares it with the
// text that Headlight generates.

import { mkdirSync, writeFileSync } from 'node:fs';
import { AutoModelForCausalLM, AutoTokenizer, env } from '@huggingface/transformers';
import { load } from 'headlight-attention';

// The continuation of this prompt does not repeat one token over and over.
const TEXT = 'The captain is';
const hl = await load();
const own = await hl.openModel('gpt2');
const files = await own.toOnnx({ names: 'hugging-face', cache: true, external: true });
mkdirSync('gpt2/onnx', { recursive: true });
for (const [name, bytes] of Object.entries(files)) writeFileSync(`gpt2/onnx/${name}`, bytes);

Object.assign(env, { localModelPath: '.', allowRemoteModels: false });
const tokenizer = await AutoTokenizer.from_pretrained('gpt2');
const model = await AutoModelForCausalLM.from_pretrained('gpt2', { use_external_data_format: true });
const inputs = await tokenizer(TEXT);
const [ids] = (await model.generate({ ...inputs, max_new_tokens: 6, do_sample: false })).tolist();
const theirs = (await model(inputs)).logits;
const ours = own.forward({ ids: inputs.input_ids }).logits;
const said = {
  files: Object.keys(files),
  theirs: ids.slice(inputs.input_ids.size).map(Number),
  ours: (await own.generate(TEXT, { max: 6 })).ids,
  off: Math.max(...ours.data.map((x, i) => Math.abs(x - theirs.data[i]))),
};
console.log(JSON.stringify(said));
