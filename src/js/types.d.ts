/// <reference path="./ambient.d.ts" />
// Re-exports the public types. This is a declaration file because a re-export keeps the type parameters and the
// documentation, which a typedef in a comment loses.

import type { BiasChoice, PastChoice, ScoresChoice, VisibilityOptions, WeightsChoice } from './ops/visibility.js';

export type { ErrorCode } from './check/errors.js';
export type {
  DimsArray,
  NestedArray,
  NestedList,
  NumberArray,
  ShapedArray,
  SyncArray,
  TensorLike,
} from './check/tensorlike.js';
export type { HubOptions, HubWait } from './hub/options.js';
export type { HubError, HubReason } from './hub/types.js';
export type { WrittenType } from './io/ggufBlocks.js';
export type { Flavour, LoadOptions } from './load/load.js';
export type { Cache, CacheOptions, CacheType } from './models/cache.js';
export type { HubOrigin, ModelFiles } from './models/checkpoint/files.js';
export type { GenerationDefaults } from './models/checkpoint/generationConfig.js';
export type { ModelSource, OpenedModel, OpenOptions } from './models/checkpoint/open.js';
export type { Storage } from './models/checkpoint/readWeights.js';
export type { SaveFolderOptions } from './models/checkpoint/saveFolder.js';
export type { SaveGgufOptions } from './models/checkpoint/saveGguf.js';
export type { DifferentiableMetric, Differentiated, DifferentiateOptions } from './models/differentiate.js';
export type { Change as EditChange, Edit } from './models/edits.js';
export type { Tower } from './models/families/pairs.js';
export type { Generated, GeneratedToken, GenerateOptions } from './models/generateOptions.js';
export type { Generation } from './models/generation.js';
export type { ForeignInput, ModelInput, PlainInput } from './models/input.js';
export type { SavedTransformer } from './models/loadTransformer.js';
export type { ModelResult as TransformerResult } from './models/modelResult.js';
export type {
  BiasOptions as TransformerBiasOptions,
  Resolved as ResolvedTransformerOptions,
  TransformerOptions,
} from './models/options.js';
export type { DisentangledOptions } from './models/disentangledOptions.js';
export type { PromptInput } from './models/prompts.js';
export type { Classifiable, Classified } from './models/results/classify.js';
export type { EmbedOptions, Pooling } from './models/results/embedTexts.js';
export type { EncodedBatch } from './models/results/encodeBatch.js';
export type { LikelyToken } from './models/results/likelyTokens.js';
export type { Ranked } from './models/results/rank.js';
export type { PictureBytes, PictureInput } from './models/results/readPicture.js';
export type { SoundInputOptions, SoundNumbers } from './models/results/readSound.js';
export type { TranscribeOptions, Transcription, WhisperOptions } from './models/results/transcribe.js';
export type { ResolvedRotary, RotaryOptions as TransformerRotaryOptions } from './models/rotaryOptions.js';
export type { Sound, SoundOptions } from './models/sound/options.js';
export type { PixelInput, TextImageInput } from './models/textImage/textImageInput.js';
export type { RankedText, TextImageModel } from './models/textImage/textImageModel.js';
export type { TextImageResult } from './models/textImage/textImageResult.js';
export type {
  ForwardModelOptions as TransformerForwardOptions,
  LearnOptions,
  StepResult,
  TokenizerLike,
  Transformer,
} from './models/transformer.js';
export type { ValueName } from './models/valueName.js';
export type {
  Activation,
  ActivationKind,
  ActivationOptions,
  GatedActivation,
  Gelu,
  GeluOptions,
} from './ops/activation.js';
export type { AdditiveAttention, AdditiveForwardOptions, AdditiveOptions } from './ops/additive.js';
export type { Embedding, EmbeddingForwardOptions, EmbeddingOptions } from './ops/embedding.js';
export type { FoundLayer } from './ops/foreign.js';
export type { AttentionGradients, BackwardOptions, BiasGradient } from './ops/gradients.js';
export type { LayerOptions } from './ops/layer.js';
export type { Layout } from './ops/layouts.js';
export type { Linear, LinearOptions } from './ops/linear.js';
export type { LossOptions, LossResult } from './ops/loss.js';
export type { LayerGradients } from './ops/multihead.js';
export type { MultiHeadOptions } from './ops/multiheadOptions.js';
export type {
  Gradients as MultiHeadGradients,
  ParameterName,
  Parameters as MultiHeadParameters,
} from './ops/multiheadParameters.js';
export type { Norm, NormOptions } from './ops/norm.js';
export type {
  Adam,
  Adam as AdamW,
  AdamOptions,
  Optimizer,
  Sgd,
  SgdOptions,
  Trainable,
  TrainableLayer,
} from './ops/optimizer.js';
export type { Given } from './ops/result.js';
export type { RotaryOptions, RotaryScaling } from './ops/rotary.js';
export type { CosineOptions, WarmupOptions } from './ops/schedule.js';
export type { StateEntry } from './ops/state.js';
export type {
  BiasChoice,
  DropoutOptions,
  Out,
  PastChoice,
  ScoresChoice,
  VisibilityOptions,
  WeightsChoice,
} from './ops/visibility.js';
export type { ChatOptions, Message, Role } from './text/chat/chatTemplate.js';
export type { Encoding } from './text/processors.js';
export type { DecodeOptions, Tokenizer } from './text/tokenizer.js';

/**
 * A number, or nested arrays of numbers. The depth depends on the shape of a tensor, which the type does not know. So
 * the type allows both: indexing to any depth, and use as a number.
 */
export type NestedNumbers = number & NestedNumbers[];

/** A flat part of a tensor, or a number. It depends on the number of indices, so the type allows both. */
export type TensorPart = number & Float32Array<ArrayBuffer>;

/** Options of attention(): the options of a layer's forward(), and the numbers of heads of packed inputs. */
export interface AttentionOptions<
  W extends WeightsChoice = WeightsChoice,
  S extends ScoresChoice = ScoresChoice,
  P extends PastChoice = PastChoice,
  B extends BiasChoice = BiasChoice,
> extends VisibilityOptions<W, S, P, B> {
  /** Heads of a packed query, (B,T,H·D); default 1 */
  heads?: number | undefined;
  /** Heads of packed keys and values, (B,S,G·D); default heads */
  kvHeads?: number | undefined;
}

/** The options of forward() of a layer. It is an interface so that the API reference shows its members. */
export interface ForwardOptions<
  W extends WeightsChoice = WeightsChoice,
  S extends ScoresChoice = ScoresChoice,
  P extends PastChoice = PastChoice,
  B extends BiasChoice = BiasChoice,
> extends VisibilityOptions<W, S, P, B> {}
