// Maps names of inputs, outputs, axes and the data file to the names of Hugging Face, which transformers.js requires.

const HUGGING_FACE: [RegExp, string][] = [
  [/^ids$/, 'input_ids'],
  [/^keep$/, 'attention_mask'],
  [/^typeIds$/, 'token_type_ids'],
  [/^positions$/, 'position_ids'],
  [/^pixels$/, 'pixel_values'],
  [/^samples$/, 'input_values'],
  [/^hidden$/, 'last_hidden_state'],
  [/^pooled$/, 'pooler_output'],
  [/^blocks\.(\d+)\.weights$/, 'attentions.$1'],
  [/^pastKey\.(\d+)$/, 'past_key_values.$1.key'],
  [/^pastValue\.(\d+)$/, 'past_key_values.$1.value'],
  [/^presentKey\.(\d+)$/, 'present.$1.key'],
  [/^presentValue\.(\d+)$/, 'present.$1.value'],
  [/\.onnx\.data$/, '.onnx_data'],
  // transformers.js creates an empty cache from the names of the axes. batch_size is the batch size, all other named
  // axes have size 0.
  [/^batch$/, 'batch_size'],
];

/** @param name Headlight's name */
export function huggingFaceName(name: string) {
  const found = HUGGING_FACE.find(([pattern]) => pattern.test(name));
  return found ? name.replace(...found) : name;
}
