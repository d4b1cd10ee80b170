// The families of checkpoints, by the model_type in config.json.

import { albert } from './albert.ts';
import { bart, marian } from './bart.ts';
import { bert } from './bert.ts';
import { bloom } from './bloom.ts';
import { clip, clipVision } from './clip.ts';
import { cohere } from './cohere.ts';
import type { Family } from './common.ts';
import { debertaV2 } from './debertaV2.ts';
import { dinov2 } from './dinov2.ts';
import { distilbert } from './distilbert.ts';
import { electra } from './electra.ts';
import { esm } from './esm.ts';
import { falcon } from './falcon.ts';
import { gemma, gemma2 } from './gemma.ts';
import { gemma3 } from './gemma3.ts';
import { gpt2 } from './gpt2.ts';
import { gptj } from './gptj.ts';
import { gptneo } from './gptneo.ts';
import { granite } from './granite.ts';
import { llama } from './llama.ts';
import { m2m100 } from './m2m100.ts';
import { modernbert } from './modernbert.ts';
import { mpnet } from './mpnet.ts';
import { neox } from './neox.ts';
import { nomicBert } from './nomicBert.ts';
import { olmo2 } from './olmo2.ts';
import { opt } from './opt.ts';
import { phi, phi3 } from './phi.ts';
import { qwen2, qwen3 } from './qwen.ts';
import { roberta } from './roberta.ts';
import { siglip, siglipVision } from './siglip.ts';
import { smollm3 } from './smollm3.ts';
import { stablelm } from './stablelm.ts';
import { starcoder2 } from './starcoder2.ts';
import { t5 } from './t5.ts';
import { vit } from './vit.ts';
import { wav2vec2 } from './wav2vec2.ts';
import { whisper } from './whisper.ts';

export const FAMILIES: ReadonlyMap<unknown, Family> = new Map(
  Object.entries({
    bert,
    roberta,
    'xlm-roberta': roberta,
    camembert: roberta,
    distilbert,
    mpnet,
    electra,
    albert,
    'deberta-v2': debertaV2,
    nomic_bert: nomicBert,
    esm,
    modernbert,
    gpt2,
    opt,
    bloom,
    gpt_neox: neox,
    llama,
    smollm: llama,
    mistral: llama,
    qwen2,
    qwen3,
    gemma,
    gemma2,
    gemma3,
    gemma3_text: gemma3,
    olmo2,
    olmo3: olmo2,
    gpt_neo: gptneo,
    gptj,
    starcoder2,
    stablelm,
    granite,
    smollm3,
    falcon,
    cohere,
    cohere2: cohere,
    phi,
    phi3,
    vit,
    deit: vit,
    dinov2,
    clip_text_model: clip,
    clip,
    clip_vision_model: clipVision,
    siglip_text_model: siglip,
    siglip,
    siglip_vision_model: siglipVision,
    t5,
    mt5: t5,
    whisper,
    bart,
    marian,
    m2m_100: m2m100,
    wav2vec2,
    hubert: wav2vec2,
  }),
);
