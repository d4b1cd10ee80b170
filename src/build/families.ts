// Makes the table of model families in the documentation from the table of families in the code.
// As a program: writes it into web/docs/families.md.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Family } from '../js/models/families/common.ts';
import { FAMILIES } from '../js/models/families/index.ts';
import type { TransformerOptions } from '../js/models/options.ts';

const PAGE = new URL('../../web/docs/families.md', import.meta.url);
const TABLE = /^\| family +\|[^]*?(?=\n\n)/m;

/** Texts that are not in the code: names of published models, and supported heads. */
const TEXTS: Record<string, { models: string; heads: string }> = {
  bert: {
    models: 'BERT, MiniLM, E5, BGE',
    heads: 'masked word, next sentence, classes, token classes, answers, choices',
  },
  roberta: { models: 'RoBERTa, XLM-R, CamemBERT', heads: 'masked word, classes, token classes, answers, choices' },
  distilbert: { models: 'DistilBERT', heads: 'masked word, classes, token classes, answers' },
  mpnet: { models: 'MPNet, all-mpnet-base', heads: 'masked word, classes, token classes, answers, choices' },
  albert: { models: 'ALBERT', heads: 'masked word, sentence order, classes, token classes, answers, choices' },
  'deberta-v2': {
    models: 'DeBERTa 2 and 3',
    heads: 'masked word, classes, token classes, answers, choices',
  },
  nomic_bert: { models: 'Nomic Embed 1 and 1.5', heads: 'none: vectors of sentences' },
  esm: { models: 'ESM-1 and ESM-2', heads: 'masked word, classes, token classes' },
  electra: {
    models: 'ELECTRA',
    heads: 'replaced token, masked word, classes, token classes, answers, choices',
  },
  modernbert: { models: 'ModernBERT', heads: 'masked word, classes, token classes, answers' },
  gpt2: { models: 'GPT-2, DistilGPT2', heads: 'next token, classes, token classes, answers' },
  opt: { models: 'OPT', heads: 'next token, classes, token classes, answers' },
  bloom: { models: 'BLOOM', heads: 'next token, classes, token classes, answers' },
  gpt_neox: { models: 'Pythia, GPT-NeoX', heads: 'next token, classes, token classes, answers' },
  llama: { models: 'Llama 1 to 3, SmolLM, Mistral', heads: 'next token, classes, token classes, answers' },
  qwen2: { models: 'Qwen 1.5, 2 and 2.5', heads: 'next token, classes, token classes, answers' },
  qwen3: { models: 'Qwen 3', heads: 'next token, classes, token classes, answers' },
  gemma: { models: 'Gemma 1', heads: 'next token, classes, token classes, answers' },
  gemma2: { models: 'Gemma 2', heads: 'next token, classes, token classes, answers' },
  gemma3: { models: 'Gemma 3, without pictures', heads: 'next token, classes, token classes, answers' },
  olmo2: { models: 'OLMo 2 and 3', heads: 'next token, classes, token classes, answers' },
  gpt_neo: { models: 'GPT-Neo, TinyStories', heads: 'next token, classes, token classes, answers' },
  gptj: { models: 'GPT-J', heads: 'next token, classes, token classes, answers' },
  starcoder2: { models: 'StarCoder2', heads: 'next token, classes, token classes, answers' },
  stablelm: { models: 'StableLM 3B and 2 1.6B', heads: 'next token, classes, token classes, answers' },
  granite: { models: 'Granite 3', heads: 'next token, classes, token classes, answers' },
  smollm3: { models: 'SmolLM 3', heads: 'next token, classes, token classes, answers' },
  falcon: { models: 'Falcon 7B, 40B and 11B', heads: 'next token, classes, token classes, answers' },
  cohere: { models: 'Command R, Command R7B, Aya', heads: 'next token, classes, token classes, answers' },
  phi: { models: 'Phi 1, 1.5 and 2', heads: 'next token, classes, token classes, answers' },
  phi3: { models: 'Phi 3', heads: 'next token, classes, token classes, answers' },
  vit: { models: 'ViT, DeiT', heads: 'classes of a picture' },
  dinov2: { models: 'DINOv2', heads: 'classes of a picture' },
  clip_text: { models: 'CLIP, its text tower', heads: 'pooled text, with its projection; similarity with pictures' },
  clip_vision: { models: 'CLIP, its vision tower', heads: 'pooled picture, with its projection' },
  siglip_text: {
    models: 'SigLIP and SigLIP 2 for one size, the text tower',
    heads: 'pooled text; similarity with pictures',
  },
  siglip_vision: {
    models: 'SigLIP and SigLIP 2 for one size, the vision tower',
    heads: 'pooled picture, classes of a picture',
  },
  t5: { models: 'T5, Flan-T5, mT5', heads: 'next token, answers; the encoder alone' },
  whisper: { models: 'Whisper', heads: 'next token' },
  bart: { models: 'BART', heads: 'next token' },
  marian: { models: 'Marian, opus-mt', heads: 'next token' },
  m2m_100: { models: 'M2M-100, NLLB-200', heads: 'next token' },
  wav2vec2: { models: 'wav2vec 2.0, HuBERT', heads: 'letters of speech, classes, frame classes' },
};

/** A config.json with the fields of all families. */
const CONFIG = {
  ...{ num_hidden_layers: 2, n_layer: 2, n_layers: 2, num_layers: 2, encoder_layers: 2, decoder_layers: 2 },
  ...{ hidden_size: 64, n_embd: 64, dim: 64, d_model: 64, d_kv: 16, head_dim: 16 },
  ...{ num_attention_heads: 4, n_head: 4, n_heads: 4, num_heads: 4, num_key_value_heads: 2 },
  ...{ encoder_attention_heads: 4, decoder_attention_heads: 4, encoder_ffn_dim: 128, decoder_ffn_dim: 128 },
  ...{ intermediate_size: 128, n_inner: 128, ffn_dim: 128, hidden_dim: 128, d_ff: 128, vocab_size: 100 },
  ...{ max_position_embeddings: 64, n_positions: 64, max_source_positions: 64, max_target_positions: 64 },
  ...{ image_size: 32, patch_size: 8, num_mel_bins: 80, sliding_window: 8, use_sliding_window: true },
  ...{ max_window_layers: 0, query_pre_attn_scalar: 16, pos_att_type: 'c2p|p2c', position_biased_input: false },
  ...{ relative_attention: true, share_att_key: true, token_dropout: true, mask_token_id: 1 },
  ...{ attention_types: [[['global', 'local'], 1]], rotary_dim: 8, no_rope_layer_interval: 2 },
};
/** Fields of CONFIG for one family, because other families read them differently. */
const OWN: Record<string, object> = { nomic_bert: { activation_function: 'swiglu', rotary_emb_fraction: 1 } };
const ALL = (name: string) => name === 'decoder.final_layer_norm.weight';

const POSITIONS = {
  learned: 'learned',
  sinusoidal: 'sinusoids',
  rotary: 'rotary',
  alibi: 'ALiBi',
  buckets: 'relative',
  none: 'none',
};
const PLACES = {
  before: 'before each part',
  after: 'after each sum',
  both: 'before and after each part',
  parallel: 'before both, which run side by side',
  stream: 'in the stream',
  outputs: 'after each part',
};

/** Lists the special features of a family's attention. */
function attentionOf(options: TransformerOptions) {
  const list = [options.causal === false && !options.encoder ? 'both directions' : 'causal'];
  if ((options.kvHeads ?? options.numHeads) < options.numHeads) list.push('grouped heads');
  if ([options.window].flat().some((width) => width)) list.push('windows');
  if (options.softcap) list.push('softcap');
  if (options.disentangled) list.push('products with positions');
  if (options.queryKeyNorm) list.push('norms of queries and keys');
  if (options.rotary?.layers?.includes(false)) list.push('layers without rotation');
  if (options.encoder) list.push('attention to an encoder');
  return list.join(', ');
}

const feedForwardOf = ({ activation = 'gelu-tanh', gated }: TransformerOptions) =>
  `${gated ? 'gated ' : ''}${activation}`;
const normOf = ({ norm = 'layer', normPlace = 'before' }: TransformerOptions) =>
  `${norm === 'rms' ? 'RMS' : 'layer'}, ${PLACES[normPlace]}`;

/** Returns the families in order, each with its values of model_type. */
function typesByFamily() {
  const families: Map<Family, string[]> = new Map();
  for (const [type, family] of FAMILIES) families.set(family, [...(families.get(family) ?? []), String(type)]);
  return families;
}

/** Returns the table in Markdown. */
export function makeFamilyTable() {
  const rows = [...typesByFamily()].map(([family, names]) => {
    const all = names.map((type) => family.options({ ...CONFIG, ...OWN[type], model_type: type }, ALL));
    // The last type has the most features. For example Mistral, which has windows, shares the table of Llama.
    const options = all[all.length - 1];
    const { models, heads } = TEXTS[family.name];
    const types = names.map((type) => `\`${type}\``).join(', ');
    const kind = options.disentangled
      ? POSITIONS.buckets
      : options.sound
        ? 'a convolution'
        : POSITIONS[(options.positions ?? 'learned') as keyof typeof POSITIONS];
    const positions = options.buckets && kind !== POSITIONS.buckets ? `${kind} and relative` : kind;
    const feedForwards = [...new Set(all.map(feedForwardOf))].join(' or ');
    const cells = [models, types, positions, attentionOf(options), normOf(options), feedForwards, heads];
    return `| ${cells.join(' | ')} |`;
  });
  const head = ['family', '`model_type`', 'positions', 'attention', 'norms', 'feed-forward', 'heads'];
  return [`| ${head.join(' | ')} |`, `| ${head.map(() => '---').join(' | ')} |`, ...rows].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = readFileSync(PAGE, 'utf8');
  writeFileSync(
    PAGE,
    text.replace(TABLE, () => makeFamilyTable()),
  );
}
