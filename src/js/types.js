// The types that a caller may want to name, from the files that they belong to. There is nothing here at run time.

/** @typedef {import('./check/errors.js').ErrorCode} ErrorCode */
/** @typedef {import('./check/tensorlike.js').DimsArray} DimsArray */
/** @typedef {import('./check/tensorlike.js').NestedArray} NestedArray */
/** @typedef {import('./check/tensorlike.js').NumberArray} NumberArray */
/** @typedef {import('./check/tensorlike.js').ShapedArray} ShapedArray */
/** @typedef {import('./check/tensorlike.js').SyncArray} SyncArray */
/** @typedef {import('./check/tensorlike.js').TensorLike} TensorLike */
/** @typedef {import('./memory/tensor.js').NestedNumbers} NestedNumbers */

/** @typedef {import('./load/load.js').Flavour} Flavour */
/** @typedef {import('./load/load.js').LoadOptions} LoadOptions */
/** @typedef {import('./index.js').Info} Info */
/** @typedef {import('./index.js').NormalOptions} NormalOptions */
/** @typedef {import('./index.js').UniformOptions} UniformOptions */

/** @typedef {import('./ops/visibility.js').VisibilityOptions} VisibilityOptions */
/** @typedef {import('./ops/visibility.js').DropoutOptions} DropoutOptions */
/** @typedef {import('./ops/visibility.js').Out} Out */
/** @typedef {import('./ops/rotary.js').RotaryOptions} RotaryOptions */
/** @typedef {import('./ops/rotary.js').RotaryScaling} RotaryScaling */
/** @typedef {import('./ops/attention.js').AttentionOptions} AttentionOptions */
/** @typedef {import('./ops/gradients.js').AttentionGradients} AttentionGradients */
/** @typedef {import('./ops/gradients.js').BackwardOptions} BackwardOptions */

/** @typedef {import('./ops/multihead.js').ForwardOptions} ForwardOptions */
/** @typedef {import('./ops/multihead.js').Gradients} MultiHeadGradients */
/** @typedef {import('./ops/multihead.js').LayerGradients} LayerGradients */
/** @typedef {import('./ops/multihead.js').ParameterName} ParameterName */
/** @typedef {import('./ops/multihead.js').Parameters} MultiHeadParameters */
/** @typedef {import('./ops/multihead_options.js').MultiHeadOptions} MultiHeadOptions */
/** @typedef {import('./ops/layouts.js').Layout} Layout */
/** @typedef {import('./ops/state.js').StateEntry} StateEntry */

/** @typedef {import('./ops/activation.js').Activation} Activation */
/** @typedef {import('./ops/activation.js').GatedActivation} GatedActivation */
/** @typedef {import('./ops/activation.js').Gelu} Gelu */
/** @typedef {import('./ops/additive.js').AdditiveAttention} AdditiveAttention */
/** @typedef {import('./ops/activation.js').GeluOptions} GeluOptions */
/** @typedef {import('./ops/embedding.js').Embedding} Embedding */
/** @typedef {import('./ops/linear.js').Linear} Linear */
/** @typedef {import('./ops/norm.js').Norm} Norm */
/** @typedef {import('./ops/optimizer.js').Adam} Adam */
/** @typedef {import('./ops/optimizer.js').Sgd} Sgd */
/** @typedef {import('./ops/activation.js').ActivationKind} ActivationKind */
/** @typedef {import('./ops/activation.js').ActivationOptions} ActivationOptions */
/** @typedef {import('./ops/additive.js').AdditiveForwardOptions} AdditiveForwardOptions */
/** @typedef {import('./ops/additive.js').AdditiveOptions} AdditiveOptions */
/** @typedef {import('./ops/layer.js').LayerOptions} LayerOptions */
/** @typedef {import('./ops/embedding.js').EmbeddingForwardOptions} EmbeddingForwardOptions */
/** @typedef {import('./ops/embedding.js').EmbeddingOptions} EmbeddingOptions */
/** @typedef {import('./ops/linear.js').LinearOptions} LinearOptions */
/** @typedef {import('./ops/loss.js').LossOptions} LossOptions */
/** @typedef {import('./ops/loss.js').LossResult} LossResult */
/** @typedef {import('./ops/norm.js').NormOptions} NormOptions */

/** @typedef {import('./ops/optimizer.js').AdamOptions} AdamOptions */
/** @typedef {import('./ops/optimizer.js').SgdOptions} SgdOptions */
/** @typedef {import('./ops/optimizer.js').Trainable} Trainable */
/** @typedef {import('./ops/optimizer.js').TrainableLayer} TrainableLayer */
/** @typedef {import('./ops/schedule.js').CosineOptions} CosineOptions */
/** @typedef {import('./ops/schedule.js').WarmupOptions} WarmupOptions */

/** @typedef {import('./models/transformer.js').LearnOptions} LearnOptions */
/** @typedef {import('./models/transformer.js').StepResult} StepResult */
/** @typedef {import('./models/transformer.js').Transformer} Transformer */
/** @typedef {import('./models/transformer.js').TransformerForwardOptions} TransformerForwardOptions */
/** @typedef {import('./models/transformer.js').TransformerOptions} TransformerOptions */
/** @typedef {import('./models/transformer.js').TransformerResult} TransformerResult */

export {};
