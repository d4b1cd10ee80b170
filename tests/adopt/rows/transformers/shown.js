// Computes attention weights with transformers.js in a page, from the file that attend.js has written, and shows them.

import { AutoModel, AutoTokenizer, env } from '@huggingface/transformers';
import { mount } from 'headlight-attention/view';

Object.assign(env, { localModelPath: './', allowLocalModels: true, allowRemoteModels: false, useBrowserCache: false });
env.backends.onnx.wasm.wasmPaths = new URL('node_modules/onnxruntime-web/dist/', location.href).href;
const [tokenizer, model] = await Promise.all([
  AutoTokenizer.from_pretrained('bert'),
  AutoModel.from_pretrained('bert', { device: 'wasm', dtype: 'fp32' }),
]);
const inputs = await tokenizer('the cat sat on the mat');
const outputs = await model(inputs);
const attentions = [0, 1].map((block) => outputs[`attentions.${block}`]);
const tokens = [...inputs.input_ids.data].map((id) => tokenizer.decode([id]));
const element = document.body.appendChild(document.createElement('div'));
await mount(element, { attentions, tokens, view: 'heads' }).ready;
const { shadowRoot } = element.querySelector('div');
const heads = shadowRoot.querySelectorAll('.thumbnail').length;
document.body.dataset.said = JSON.stringify({ heads, tokens: tokens.length });
