// Models that can be looked at. A source says what it is and what it can do; views ask for nothing else.

import { headOf } from '../../../src/js/analysis/head.js';
import { openTokenizer } from '../../../src/js/text/tokenizer.js';
import { openWhale } from './demoModel.js';

/** @typedef {import('./attentionWeights.js').Attentions} Attentions */
/**
 * @typedef {{ data: Uint8ClampedArray, width: number, height: number }} Image fine: as one sees it, not the model
 * @typedef {{ data: Float32Array, shape: number[], image: Image, fine?: Image }}
 *   Pixels as the model reads them, and as they are seen
 */
/**
 * What the page knows of a source.
 * @typedef {object} About
 * @property {string} name of state.model
 * @property {string} [title] what the visitor calls it
 * @property {'transformer' | 'weights' | 'layer'} kind
 * @property {string} [family]
 * @property {number} layers
 * @property {number} heads
 * @property {number} [batch] entries, of which one is shown
 * @property {number} width of a head
 * @property {number} context tokens at most
 * @property {boolean} [mlps] it has feed-forward parts
 * @property {boolean} causal
 * @property {boolean} predicts it has a next token, or a guess
 * @property {'next' | 'masked' | 'classes' | null} guess of what
 * @property {'text' | 'numbers' | 'picture' | 'pair' | 'nothing'} reads
 * @property {boolean} [words] its tokens are of a text
 * @property {boolean} writes it goes on with a text
 * @property {boolean} edits what if can be asked
 * @property {boolean} sums its logits are sums of parts, which flow shows
 * @property {string | null} mask the token that stands for a covered word
 * @property {string[]} parts of an encoder–decoder
 * @property {number} bytes of its file
 * @property {Record<string, Record<string, [string, string]>>} [terms] by language, what its heads are called and do
 * @property {number[]} [choices] numbers of heads that its queries can be split into
 * @property {object} [trained] for a model that is trained here: { settings, tokens, probe, steps }
 */
/**
 * @typedef {object} Source
 * @property {About} about
 * @property {any} [model]
 * @property {any} [tokenizer]
 * @property {boolean} [exact] its logits are sums of parts, found without unpacking a large model
 * @property {Pixels} [pixels]
 * @property {number} [version] of what it reads beside the text, and of its weights while it is trained
 * @property {number[]} [exemplar] the tokens by which its heads are named, where passages at random say nothing
 * @property {(weights: Float32Array, labels: number[]) => number} [partnerOf] how much a head looks at the tokens where
 *   the answer stands, in a model that was taught a task
 * @property {Attentions[]} [attentions] of a source without a model
 * @property {Record<string, string[]>} [tokens] given with them
 * @property {Map<string, any>} [small] pictures of heads that have been read
 * @property {Record<string, any>} [look] preprocessor_config.json
 * @property {(hl: any, run: import('../../store/state.js').Run, entry: number) => any} [pose] of heads without a model:
 *   see attentionOnly.js
 * @property {(heads: number) => void} [split] queries and keys into so many heads
 * @property {{ image: [number, number], size: number, channels: number }} [patch] of a picture without a model
 */
/**
 * @typedef {(name: string, onProgress: (read: number, total: number) => void, signal?: AbortSignal) =>
 *   Promise<Uint8Array>} Fetch
 */

/** An attribution unpacks the int8 weights of a model: up to so many. */
const UNPACKED = 20e6;

/** How each is made, by the name of state.model. */
const MAKERS = {
  /** @param {Promise<any>} hl @param {Fetch} fetch @param {(read: number, total: number) => void} onProgress */
  async whale(hl, fetch, onProgress) {
    const [tokenizer, bytes, core] = await Promise.all([
      fetch('whale.tokenizer.json', () => {}).then(openTokenizer),
      fetch('whale.safetensors', onProgress),
      hl,
    ]);
    return transformerSource('whale', { model: openWhale(core, bytes), tokenizer, bytes: bytes.length });
  },
  // What few visitors choose is loaded when they do.
  constructed: async () => (await import('./handmadeHeads.js')).constructed(),
  patches: async () => (await import('./handmadeHeads.js')).patches(),
  /** @param {Promise<any>} hl @param {Fetch} fetch @param {(read: number, total: number) => void} onProgress */
  async sentence(hl, fetch, onProgress) {
    // Until its first bytes come, there is nothing of it.
    onProgress(0, 1);
    const { FILE, sentenceSource } = await import('./sentenceEncoder.js');
    return sentenceSource(await hl, await fetch(FILE, onProgress));
  },
};

/** Numbers in place of words, where there is no tokenizer. */
export const NUMBERS = {
  encode(/** @type {string} */ text) {
    const found = [...text.matchAll(/\d+/g)];
    return {
      ids: found.map(([digits]) => Number(digits)),
      offsets: found.map(({ 0: digits, index }, i) => [
        i === 0 ? 0 : found[i - 1].index + found[i - 1][0].length,
        index + digits.length,
      ]),
    };
  },
  decode: (/** @type {number[]} */ ids) => ids.map((id) => ` ${id}`).join(''),
  idOf: () => undefined,
  tokenOf: (/** @type {number} */ id) => `#${id}`,
};

/** The token that stands for a covered word. @param {any} tokenizer */
function maskOf(tokenizer) {
  return ['[MASK]', '<mask>'].find((token) => tokenizer?.idOf?.(token) !== undefined) ?? null;
}

/** Whether the logits of a model are sums of what its parts add. @param {any} model */
function isExact(model) {
  let packed = 0;
  for (const { shape, int8 } of model.weights.values())
    if (int8) packed += shape.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1);
  if (packed > UNPACKED) return false;
  try {
    headOf('open', model);
    return !model.options.encoder;
  } catch {
    return false;
  }
}

/** Whether its logits are those of tokens, and not of classes. @param {any} model */
export const saysTokens = ({ options: { head, classes } }) => head === 'logits' && !(classes > 0);

/**
 * @param {string} name
 * @param {{ model: any, tokenizer?: any, bytes: number, title?: string }} given
 * @returns {Source}
 */
export function transformerSource(name, { model, tokenizer, bytes, title }) {
  const { options } = model;
  const { layers, numHeads: heads, headDim, dModel, context, causal, head, encoder, input, mlp = 1 } = options;
  const reads = encoder ? 'pair' : input === 'patches' ? 'picture' : tokenizer ? 'text' : 'numbers';
  const masked = maskOf(tokenizer);
  const guess = head === 'pooled' ? 'classes' : !saysTokens(model) ? null : causal ? 'next' : masked ? 'masked' : null;
  const exact = guess === 'next' && isExact(model);
  return {
    about: {
      name,
      title,
      kind: 'transformer',
      family: model.family,
      layers,
      heads,
      width: headDim ?? dModel / heads,
      context: Math.min(context, 4096),
      mlps: mlp > 0,
      causal,
      predicts: guess !== null,
      guess,
      reads,
      words: Boolean(tokenizer),
      writes: guess === 'next' && !encoder,
      edits: !encoder,
      sums: exact,
      mask: guess === 'masked' ? masked : null,
      parts: encoder ? ['encoder', 'decoder', 'cross'] : [],
      bytes,
    },
    model,
    tokenizer: tokenizer ?? NUMBERS,
    exact,
    version: 0,
  };
}

/**
 * @param {Promise<any>} hl
 * @param {Fetch} fetch
 * @param {string} name
 * @param {(read: number, total: number) => void} onProgress
 * @returns {Promise<Source>}
 */
export async function openSource(hl, fetch, name, onProgress) {
  const make = /** @type {any} */ (MAKERS)[name];
  if (!make) throw Object.assign(new Error(`there is no model named ${name}`), { code: 'gone', values: [] });
  return make(hl, fetch, onProgress);
}
