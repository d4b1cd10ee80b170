// Reads tiny checkpoints in the layout of Hugging Face, with the expected results of the models.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GOLDEN, readPack } from './golden.js';

const FOLDER = join(GOLDEN, 'models');
const ARRAYS = { float32: Float32Array, int32: Int32Array };

/** Models with two towers, whose cases have other inputs and outputs. */
const PAIRS = ['clip-a'];
/** Paths of the folders of the checkpoints that are not in PAIRS. */
export const FOLDERS = readdirSync(FOLDER)
  .filter((name) => name !== 'torch' && !PAIRS.includes(name))
  .map((name) => join(FOLDER, name));

/**
 * Reads the cases of a folder: { name, kind, inputs, outputs, cache }. inputs and outputs map names to { shape, data }.
 */
function readCases(folder) {
  const { cases, bin } = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'));
  const bytes = readFileSync(join(folder, bin));
  const read = (list) =>
    Object.fromEntries(
      list.map(({ name, dtype, shape, offset, bytes: length }) => [
        name,
        { shape, data: new ARRAYS[dtype](new Uint8Array(bytes.subarray(offset, offset + length)).buffer) },
      ]),
    );
  return cases.map((c) => ({ ...c, inputs: read(c.inputs), outputs: withClasses(read(c.outputs), read(c.inputs)) }));
}

/**
 * Adds a class axis to logits of one class for each token, because Hugging Face's models return such logits without
 * this axis.
 */
function withClasses(outputs, { input_ids: ids }) {
  const { shape = [] } = outputs.logits ?? {};
  if (shape.length !== 2 || shape[1] !== ids?.shape[1]) return outputs;
  return { ...outputs, logits: { ...outputs.logits, shape: [...shape, 1] } };
}

/**
 * Returns the name that Headlight has for a value, from the name of this value in the outputs of Hugging Face's models.
 */
function nameOf(output) {
  const [, stack, name] = /^(?:(encoder|decoder)\.)?(.*)$/.exec(output);
  const at = stack === 'encoder' ? 'encoder.' : '';
  const [, what, number] = /^(hidden|attn|cross)\.(\d+)$/.exec(name) ?? [];
  if (what === 'hidden') return number === '0' ? `${at}blocks.0.in` : `${at}blocks.${number - 1}.out`;
  if (what === 'attn') return `${at}blocks.${number}.weights`;
  if (what === 'cross') return `blocks.${number}.cross.weights`;
  return at + name;
}

/** Returns the input of forward for the inputs of a case. */
function inputOf({
  input_ids: ids,
  attention_mask: keep,
  token_type_ids,
  position_ids,
  decoder_input_ids,
  pixel_values,
  input_values,
}) {
  if (pixel_values) return { pixels: pixel_values };
  if (input_values) return { samples: input_values };
  const input = {
    ids,
    ...(keep && { keep }),
    ...(token_type_ids && { typeIds: token_type_ids }),
    ...(position_ids && { positions: position_ids }),
  };
  return decoder_input_ids ? { encoder: input, ids: decoder_input_ids } : input;
}

/** Returns a function that returns true for a flat index of an output that belongs to a token, not to padding. */
function isJudged({ inputs: { attention_mask: mask, decoder_input_ids } }, output, shape) {
  const ofQueries = /attn|attentions/.test(output);
  const rows = ofQueries ? shape[2] : shape.length === 3 ? shape[1] : 0;
  const decoded = /^decoder\./.test(output) || (output === 'logits' && decoder_input_ids);
  if (!mask || decoded || shape[0] !== mask.shape[0] || rows !== mask.shape[1]) return () => true;
  const [width, perEntry] = [shape.at(-1), shape.slice(1).reduce((a, b) => a * b, 1)];
  return (i) => mask.data[Math.floor(i / perEntry) * rows + (Math.floor(i / width) % rows)] === 1;
}

/**
 * Returns the largest difference, relative to the largest value. For attention weights, whose maximum is 1, it is
 * absolute.
 */
export function off(c, output, got) {
  const { shape, data } = c.outputs[output];
  if (got.length !== data.length) return Infinity;
  const judged = isJudged(c, output, shape);
  let [most, difference] = [0, 0];
  for (let i = 0; i < data.length; i++) {
    if (!judged(i)) continue;
    most = Math.max(most, Math.abs(data[i]));
    const d = Math.abs(got[i] - data[i]);
    if (!(d <= difference)) difference = d;
  }
  return difference / (/attn|cross|attentions/.test(output) ? 1 : most);
}

/** Checkpoints: { folder, name, cases }. In a case, `names` has the name of the value in Headlight for each output. */
export const checkpoints = FOLDERS.map((folder) => ({
  folder,
  name: folder.slice(FOLDER.length + 1),
  cases: readCases(folder).map((c) => ({
    ...c,
    input: inputOf(c.inputs),
    names: Object.fromEntries(Object.keys(c.outputs).map((output) => [output, nameOf(output)])),
  })),
}));

const EMBEDS = {
  text_embeds: 'textEmbeds',
  image_embeds: 'imageEmbeds',
  logits_per_text: 'logitsPerText',
  logits_per_image: 'logitsPerImage',
};

/**
 * Checkpoints of models with two towers. `names` has names such as 'text.blocks.0.out' and 'textEmbeds'; some outputs
 * have no name in Headlight.
 */
export const pairs = PAIRS.map((name) => ({
  folder: join(FOLDER, name),
  name,
  cases: readCases(join(FOLDER, name)).map((c) => ({
    ...c,
    input: { ...inputOf({ ...c.inputs, pixel_values: undefined }), pixels: c.inputs.pixel_values },
    names: Object.fromEntries(
      Object.keys(c.outputs).flatMap((output) => {
        const [, tower, value] = /^(text|vision)\.(.*)$/.exec(output) ?? [];
        if (value === 'pooled') return [];
        return [[output, tower ? `${tower}.${nameOf(value)}` : EMBEDS[output]]];
      }),
    ),
  })),
}));

const TORCH = { last_hidden_state: 'final', pooler_output: 'pooled', logits: 'logits' };

/** Cases of another source, in which the last hidden states are those after the final norm. */
export const torchCases = readPack('models-share', join(FOLDER, 'torch')).map((c) => {
  const layers = Object.keys(c.outputs).filter((name) => name.startsWith('attentions.')).length;
  const names = Object.fromEntries(
    Object.keys(c.outputs).flatMap((output) => {
      const [, what, number] = /^(hidden_states|attentions)\.(\d+)$/.exec(output) ?? [];
      if (what === 'attentions') return [[output, `blocks.${number}.weights`]];
      if (what === 'hidden_states') {
        if (number === '0') return [[output, 'blocks.0.in']];
        return [[output, Number(number) === layers ? 'final' : `blocks.${number - 1}.out`]];
      }
      if (output === 'last_block_output') return [[output, `blocks.${layers - 1}.out`]];
      return TORCH[output] ? [[output, TORCH[output]]] : [];
    }),
  );
  return { ...c, folder: join(FOLDER, 'torch', c.model), input: inputOf(c.inputs), outputs: c.outputs64, names };
});
