// Compares whole models whose weights have 4 and 8 bits, in Chromium, with wllama, which opens the same GGUF file, and
// with onnxruntime-web, which multiplies by the same 4-bit weights (MatMulNBits).

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from '../../dist/headlight.node.js';
import { uniformSource } from '../../src/js/ops/random.ts';
import { openTokenizer } from '../../src/js/text/tokenizer.ts';
import { FEW_BITS, messages, prepare } from './chromium.js';
import { decoderModel } from './decoder.js';
import { makeBytePairs } from './madeTokenizers.js';
import { makeQ4K } from './superBlocks.js';

const BLOCK = 32;

/**
 * The types of weights that are measured. `written` is the type in the file that Headlight opens, `peers` are wllama or
 * the forms of onnxruntime-web. For Q4_K, the matrices of a Q4_0 file are replaced by random Q4_K matrices. For int4,
 * Headlight rounds the weights of a BF16 file while it opens it.
 */
const TYPES = {
  Q4_0: { written: 'Q4_0', peers: ['wllama'] },
  Q4_K: { written: 'Q4_0', peers: ['wllama'], change: makeQ4K },
  Q8_0: { written: 'Q8_0', peers: ['wllama'] },
  int4: { written: 'BF16', peers: ['gqa', 'rows'] },
};

/**
 * Sets the parameters to random numbers that both 4-bit blocks and BF16 represent exactly, so that every program
 * multiplies by the same numbers. A block has codes from -8 to 7 times a 4-bit scale; its first code is -8. Tokens with
 * bytes beyond ASCII get logits of 0, so that they are never the most probable token, because wllama cannot write their
 * bytes.
 */
function fill(model, pieces) {
  const next = uniformSource(1);
  for (const [name, { shape, data }] of Object.entries(model.parameters)) {
    if (shape.length === 1) {
      const middle = /norm\d?\.weight$/.test(name) ? 1 : 0;
      for (let i = 0; i < data.length; i++) data[i] = middle + 0.2 * (next() - 0.5);
      continue;
    }
    for (let at = 0; at < data.length; at += BLOCK) {
      const scale = (8 + Math.floor(8 * next())) * 2 ** -11;
      data[at] = -8 * scale;
      for (let i = 1; i < BLOCK; i++) data[at + i] = (Math.floor(16 * next()) - 8) * scale;
    }
  }
  const { shape, data } = model.parameters['embedding.table'];
  for (const [piece, id] of Object.entries(pieces))
    if (!/^[!-~Ġ]+$/.test(piece)) data.fill(0, id * shape[1], (id + 1) * shape[1]);
}

/** Makes a random text of words that are one token each, so that the ids of every prefix are known. */
function makeWords(file, { context, vocab }) {
  const tokenizer = openTokenizer(file);
  const idsOf = (text) => Array.from(tokenizer.encode(text).ids);
  const known = Object.keys(JSON.parse(file).model.vocab)
    .filter((piece) => /^Ġ[a-z]+$/i.test(piece))
    .map((piece) => piece.replace('Ġ', ' '))
    .filter((word) => idsOf(word).length === 1);
  const next = uniformSource(vocab);
  const words = Array.from({ length: context }, () => known[Math.floor(next() * known.length)]);
  return { words, ids: idsOf(words.join('')) };
}

/**
 * Writes the files that the page fetches, for these types of weights.
 * @returns Promise<{ made, words, ids }>: made has { file, peers } for each type
 */
async function writeFiles(folder, options, types) {
  mkdirSync(folder, { recursive: true });
  const hl = await load();
  const model = hl.transformer(options);
  const tokenizer = makeBytePairs(options.vocab);
  fill(model, JSON.parse(tokenizer).model.vocab);
  const made = {};
  for (const type of types) {
    const { written, peers, change } = TYPES[type];
    const file = `${type}.gguf`;
    const bytes = await model.saveGguf({ type: written, tokenizer });
    await change?.(bytes);
    writeFileSync(join(folder, file), bytes);
    made[type] = { file, peers: [] };
    for (const name of peers) {
      if (name === 'wllama') {
        made[type].peers.push({ name, form: '' });
        continue;
      }
      const weightOf = (name) => model.valuesOf(name, 'bench');
      const { model: graph, data } = decoderModel(options, weightOf, { form: name, quantized: 'nibbles' });
      const peer = { name: 'onnxruntime-web', form: name, graph: `${name}.onnx`, data: `${name}.weights` };
      writeFileSync(join(folder, peer.graph), graph);
      writeFileSync(join(folder, peer.data), data);
      made[type].peers.push(peer);
    }
  }
  hl.dispose();
  return { made, ...makeWords(tokenizer, options) };
}

/**
 * @param given { options: those of hl.transformer, types, counts: numbers of threads, rounds, prefills, pasts, forms? }
 * @returns rows: { type, threads, peer, form, what, median, least, ratio, off, memory }; memory has the memory of both
 *   programs, with the largest number of threads
 */
export async function* measureFewBits({ options, types, counts, forms, ...rest }) {
  const files = join(FEW_BITS.root, 'files');
  await prepare(FEW_BITS);
  try {
    const { made, words, ids } = await writeFiles(files, options, types);
    for (const type of types)
      for (const { name, form, graph, data } of made[type].peers) {
        if (forms && !forms.includes(form || name)) continue;
        const peer = { name, form, ...(graph && { graph: `files/${graph}`, data: `files/${data}` }) };
        const given = { options, type, file: `files/${made[type].file}`, words, ids, peer, ...rest };
        const memory = [];
        for (const alone of ['ours', 'theirs'])
          for await (const result of messages(FEW_BITS, { ...given, threads: counts.at(-1), alone }))
            memory.push(result.memory);
        for (const threads of counts)
          for await (const result of messages(FEW_BITS, { ...given, threads }))
            yield { type, threads, peer: name, form, memory, ...result };
      }
  } finally {
    rmSync(files, { recursive: true, force: true });
  }
}
