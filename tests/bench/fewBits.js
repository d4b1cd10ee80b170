// Compares whole models whose weights have four and eight bits, in Chromium: with wllama, which opens the same GGUF
// file, and with onnxruntime-web, which multiplies by the same numbers of four bits (MatMulNBits).

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from '../../dist/headlight.node.js';
import { uniformSource } from '../../src/js/ops/random.js';
import { openTokenizer } from '../../src/js/text/tokenizer.js';
import { FEW_BITS, messages, prepare } from './chromium.js';
import { decoderModel } from './decoder.js';
import { makeBytePairs } from './madeTokenizers.js';
import { makeQ4K } from './superBlocks.js';

const BLOCK = 32;

/**
 * The types that are measured: that of the GGUF file, and the other programs. Q4_K: the matrices of a Q4_0 file become
 * such ones. int4: rounded while a file of BF16 is opened.
 */
const TYPES = {
  Q4_0: { written: 'Q4_0', peers: ['wllama'] },
  Q4_K: { written: 'Q4_0', peers: ['wllama'], change: makeQ4K },
  Q8_0: { written: 'Q8_0', peers: ['wllama'] },
  int4: { written: 'BF16', peers: ['gqa', 'rows'] },
};

/**
 * Random matrices that blocks of four bits hold exactly, as does BF16: codes from -8 to 7, the first is -8, times a
 * scale of four bits. So every program multiplies by the same numbers. Tokens with bytes beyond ASCII have logits of 0,
 * and are never the likeliest: wllama fails to write them alone.
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

/** A random text of words that are one token each, so that the ids of every prefix are known. */
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
 * Writes the files for these types, which the page fetches.
 * @returns Promise<{ made: by type { file, peers }, words, ids }>
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
 * @param given { options: of hl.transformer, types, counts: of threads, rounds, prefills, pasts, forms? }
 * @returns rows: { type, threads, peer, form, what, median, least, ratio, off, memory }; memory: that of both programs,
 *   with the most threads
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
