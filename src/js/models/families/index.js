// The families of checkpoints, by the model_type in config.json.

import { albert } from './albert.js';
import { bart, marian } from './bart.js';
import { bert } from './bert.js';
import { bloom } from './bloom.js';
import { clip, clipVision } from './clip.js';
import { cohere } from './cohere.js';
import { debertaV2 } from './debertaV2.js';
import { dinov2 } from './dinov2.js';
import { distilbert } from './distilbert.js';
import { electra } from './electra.js';
import { esm } from './esm.js';
import { falcon } from './falcon.js';
import { gemma, gemma2 } from './gemma.js';
import { gemma3 } from './gemma3.js';
import { gpt2 } from './gpt2.js';
import { gptj } from './gptj.js';
import { gptneo } from './gptneo.js';
import { granite } from './granite.js';
import { llama } from './llama.js';
import { m2m100 } from './m2m100.js';
import { modernbert } from './modernbert.js';
import { mpnet } from './mpnet.js';
import { neox } from './neox.js';
import { nomicBert } from './nomicBert.js';
import { olmo2 } from './olmo2.js';
import { opt } from './opt.js';
import { phi, phi3 } from './phi.js';
import { qwen2, qwen3 } from './qwen.js';
import { roberta } from './roberta.js';
import { siglip, siglipVision } from './siglip.js';
import { smollm3 } from './smollm3.js';
import { stablelm } from './stablelm.js';
import { starcoder2 } from './starcoder2.js';
import { t5 } from './t5.js';
import { vit } from './vit.js';
import { wav2vec2 } from './wav2vec2.js';
import { whisper } from './whisper.js';

/** @import { Family } from './common.js' */

/** @type {ReadonlyMap<unknown, Family>} */
export const FAMILIES = new Map(
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
