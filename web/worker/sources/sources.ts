// Opens the models of the menu, and makes a source of a transformer: see types.ts.

import { headOf } from '../../../src/js/analysis/head.ts';
import { openTokenizer } from '../../../src/js/text/tokenizer.ts';
import type { About } from '../../model/protocol/protocol.ts';
import type { SourceTokenizer } from '../../model/types.ts';
import { openDemoModel } from './demoModel.ts';
import { Problem } from './problem.ts';
import type { FetchFile, Hl, OnProgress, Source, Transformer, TransformerSource } from './types.ts';
export type Opener = (hl: Promise<Hl>, fetchFile: FetchFile, onProgress: OnProgress) => Promise<Source>;

/** Maximum packed weights that an attribution unpacks. Unpacked to floats, these weights take 80 MB. */
const MAX_UNPACKED = 20e6;

/** Functions that open the models of the menu, by the name in state.model. */
const OPENERS: Record<string, Opener> = {
  async whale(hl, fetchFile, onProgress) {
    const [tokenizer, bytes, core] = await Promise.all([
      fetchFile('whale.tokenizer.json', () => {}).then(openTokenizer),
      fetchFile('whale.safetensors', onProgress),
      hl,
    ]);
    return transformerSource('whale', { model: openDemoModel(core, bytes), tokenizer, bytes: bytes.length });
  },
  // The code of each of the following models is loaded when the model is chosen, because few visitors choose one.
  constructed: async () => (await import('./handmadeHeads.ts')).constructed(),
  patches: async () => (await import('./handmadePatches.ts')).patches(),
  async sentence(hl, fetchFile, onProgress) {
    // The page shows the progress even before the first bytes arrive.
    onProgress(0, 1);
    const { FILE, sentenceSource } = await import('./sentenceEncoder.ts');
    return sentenceSource(await hl, await fetchFile(FILE, onProgress));
  },
};

/** `name`: of state.model. */
export async function openSource(
  hl: Promise<Hl>,
  fetchFile: FetchFile,
  name: string,
  onProgress: OnProgress,
): Promise<Source> {
  const open = OPENERS[name];
  if (!open) throw Object.assign(new Problem('gone'), { message: `there is no model named ${name}` });
  return open(hl, fetchFile, onProgress);
}

export function transformerOf(source: Source): TransformerSource {
  if (!('model' in source)) throw new Error(`${source.about.name} is not a transformer`);
  return source;
}

/** Reads token ids from a text with numbers. It replaces a missing tokenizer. */
export const NUMBERS: SourceTokenizer = {
  encode(text) {
    const found = [...text.matchAll(/\d+/g)];
    return {
      ids: found.map(([digits]) => Number(digits)),
      offsets: found.map(({ 0: digits, index }, i) => [
        i === 0 ? 0 : found[i - 1].index + found[i - 1][0].length,
        index + digits.length,
      ]),
    };
  },
  decode: (ids) => ids.map((id) => ` ${id}`).join(''),
  idOf: () => undefined,
  tokenOf: (id) => `#${id}`,
};

function maskOf(tokenizer: SourceTokenizer | undefined) {
  return ['[MASK]', '<mask>'].find((token) => tokenizer?.idOf?.(token) !== undefined) ?? null;
}

/** Returns true if logits are sums of contributions and few weights must be unpacked. */
function isExact(model: Transformer) {
  let packed = 0;
  for (const { shape, packed: form } of model.weights.values())
    if (form && !/^B?F16$/.test(form.kind)) packed += shape.reduce((a, b) => a * b, 1);
  if (packed > MAX_UNPACKED) return false;
  try {
    headOf('open', model);
    return true;
  } catch {
    return false;
  }
}

/** Returns true if the labels of a model's logits are tokens, not classes. */
export const predictsTokens = ({ options: { head, classes } }: Transformer) => head === 'logits' && !(classes > 0);

/** Returns true if a model reads sound. */
const hears = ({ input, encoder }: { input?: string; encoder?: { input?: string } }) =>
  [input, encoder?.input].some((kind) => kind === 'audio' || kind === 'sound');

/** Returns the kind of input. `words`: true with a tokenizer. */
function inputOf(options: Transformer['options'], words: boolean): About['reads'] {
  if (hears(options)) return 'sound';
  if (options.encoder) return 'pair';
  return options.input === 'patches' ? 'picture' : words ? 'text' : 'numbers';
}

/**
 * Returns how a model that compares sentences pools its hidden states, as its files say; without them, a model of texts
 * that predicts nothing uses the mean. Null if a sentence's vector depends on more than the hidden states.
 */
function poolingOf({ sentence }: Transformer, predicts: boolean): About['compares'] {
  if (!sentence) return predicts ? null : 'mean';
  return sentence.unsupported || sentence.prompt ? null : (sentence.pooling ?? null);
}

export function transformerSource(
  name: string,
  {
    model,
    tokenizer,
    bytes,
    title,
  }: { model: Transformer; tokenizer?: SourceTokenizer; bytes: number; title?: string },
): TransformerSource {
  const { options } = model;
  const { layers, numHeads: heads, headDim, context, causal, head, encoder, mlp = 1 } = options;
  const reads = inputOf(options, Boolean(tokenizer));
  const masked = maskOf(tokenizer);
  const guess =
    head === 'pooled' ? 'classes' : !predictsTokens(model) ? null : causal ? 'next' : masked ? 'masked' : null;
  const compares = reads === 'text' ? poolingOf(model, guess !== null) : null;
  const exact = guess === 'next' && isExact(model);
  return {
    about: {
      name,
      title,
      kind: 'transformer',
      family: model.family,
      layers,
      heads,
      width: headDim,
      context: Math.min(context, 4096),
      mlps: mlp > 0,
      causal,
      predicts: guess !== null,
      guess,
      reads,
      words: Boolean(tokenizer),
      writes: guess === 'next' && reads !== 'sound',
      edits: true,
      sums: exact,
      compares,
      chats: Boolean(model.chatTemplates) && guess === 'next',
      mask: guess === 'masked' ? masked : null,
      parts: encoder ? ['encoder', 'decoder', 'cross'] : [],
      bytes,
    },
    model,
    tokenizer: tokenizer ?? NUMBERS,
    exact,
    version: 0,
    dispose: () => model.dispose(),
  };
}
