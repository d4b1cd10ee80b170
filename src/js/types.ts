// Re-exports the public types, with their type parameters and documentation.

export type {} from './ambient.ts';
import type { BiasChoice, PastChoice, ScoresChoice, VisibilityOptions, WeightsChoice } from './ops/visibility.ts';

export type { ErrorCode } from './check/errors.ts';
export type {
  DimsArray,
  NestedArray,
  NestedList,
  NumberArray,
  ShapedArray,
  SyncArray,
  TensorLike,
} from './check/tensorlike.ts';
export type { HubOptions, HubWait } from './hub/options.ts';
export type { HubError, HubReason } from './hub/types.ts';
export type { WrittenType } from './io/ggufBlocks.ts';
export type { Flavour, LoadOptions } from './load/load.ts';
export type { Cache, CacheOptions, CacheType } from './models/cache.ts';
export type { HubOrigin, ModelFiles } from './models/checkpoint/files.ts';
export type { GenerationDefaults } from './models/checkpoint/folder/generationConfig.ts';
export type { SaveFolderOptions } from './models/checkpoint/folder/saveFolder.ts';
export type { SaveGgufOptions } from './models/checkpoint/gguf/saveGguf.ts';
export type { ModelSource, OpenedModel, OpenOptions } from './models/checkpoint/open.ts';
export type { Storage } from './models/checkpoint/readWeights.ts';
export type { Change as EditChange, Edit } from './models/edits.ts';
export type { Tower } from './models/families/pairs.ts';
export type { Generated, GeneratedToken, GenerateOptions } from './models/generation/generateOptions.ts';
export type { Generation } from './models/generation/generation.ts';
export type { PromptInput } from './models/generation/prompts.ts';
export type { DifferentiableMetric, Differentiated, DifferentiateOptions } from './models/gradients/differentiate.ts';
export type { ForeignInput, ModelInput, PlainInput } from './models/input.ts';
export type { SavedTransformer } from './models/loadTransformer.ts';
export type { DisentangledOptions } from './models/mixers/disentangledOptions.ts';
export type { ModelResult as TransformerResult } from './models/modelResult.ts';
export type {
  BiasOptions as TransformerBiasOptions,
  Resolved as ResolvedTransformerOptions,
  TransformerOptions,
} from './models/options.ts';
export type { ResolvedRotary, RotaryOptions as TransformerRotaryOptions } from './models/positions/rotaryOptions.ts';
export type { Classifiable, Classified } from './models/results/classify.ts';
export type { EmbedOptions, Pooling } from './models/results/embedTexts.ts';
export type { EncodedBatch } from './models/results/encodeBatch.ts';
export type { LikelyToken } from './models/results/likelyTokens.ts';
export type { Ranked } from './models/results/rank.ts';
export type { PictureBytes, PictureInput } from './models/results/readPicture.ts';
export type { SoundInputOptions, SoundNumbers } from './models/results/readSound.ts';
export type { TranscribeOptions, Transcription, WhisperOptions } from './models/results/transcribe.ts';
export type { Sound, SoundOptions } from './models/sound/options.ts';
export type { PixelInput, TextImageInput } from './models/textImage/textImageInput.ts';
export type { RankedText, TextImageModel } from './models/textImage/textImageModel.ts';
export type { TextImageResult } from './models/textImage/textImageResult.ts';
export type {
  ForwardModelOptions as TransformerForwardOptions,
  LearnOptions,
  StepResult,
  TokenizerLike,
  Transformer,
} from './models/transformer.ts';
export type { ValueName } from './models/valueName.ts';
export type {
  Activation,
  ActivationKind,
  ActivationOptions,
  GatedActivation,
  Gelu,
  GeluOptions,
} from './ops/activation.ts';
export type { AdditiveAttention, AdditiveForwardOptions, AdditiveOptions } from './ops/additive.ts';
export type { Embedding, EmbeddingForwardOptions, EmbeddingOptions } from './ops/embedding.ts';
export type { FoundLayer } from './ops/foreign.ts';
export type { AttentionGradients, BackwardOptions, BiasGradient } from './ops/gradients.ts';
export type { LayerOptions } from './ops/layer.ts';
export type { Layout } from './ops/layouts.ts';
export type { Linear, LinearOptions } from './ops/linear.ts';
export type { LossOptions, LossResult } from './ops/loss.ts';
export type { LayerGradients } from './ops/multihead.ts';
export type { MultiHeadOptions } from './ops/multiheadOptions.ts';
export type {
  Gradients as MultiHeadGradients,
  ParameterName,
  Parameters as MultiHeadParameters,
} from './ops/multiheadParameters.ts';
export type { Norm, NormOptions } from './ops/norm.ts';
export type {
  Adam,
  Adam as AdamW,
  AdamOptions,
  Optimizer,
  Sgd,
  SgdOptions,
  Trainable,
  TrainableLayer,
} from './ops/optimizer.ts';
export type { Given } from './ops/result.ts';
export type { RotaryOptions, RotaryScaling } from './ops/rotary.ts';
export type { CosineOptions, WarmupOptions } from './ops/schedule.ts';
export type { StateEntry } from './ops/state.ts';
export type {
  BiasChoice,
  DropoutOptions,
  Out,
  PastChoice,
  ScoresChoice,
  VisibilityOptions,
  WeightsChoice,
} from './ops/visibility.ts';
export type { ChatOptions, Message, Role } from './text/chat/chatTemplate.ts';
export type { Encoding } from './text/processors.ts';
export type { DecodeOptions, Tokenizer } from './text/tokenizer.ts';

/**
 * The depth depends on the shape of a tensor, which the type does not know, so it allows indexing to any depth, and use
 * as a number.
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
