// Inputs, outputs, axes and the file beside, as Hugging Face calls them: transformers.js finds them by their names.

/** @type {[RegExp, string][]} */
const HUGGING_FACE = [
  [/^ids$/, 'input_ids'],
  [/^keep$/, 'attention_mask'],
  [/^typeIds$/, 'token_type_ids'],
  [/^positions$/, 'position_ids'],
  [/^pixels$/, 'pixel_values'],
  [/^hidden$/, 'last_hidden_state'],
  [/^pooled$/, 'pooler_output'],
  [/^blocks\.(\d+)\.weights$/, 'attentions.$1'],
  [/^pastKey\.(\d+)$/, 'past_key_values.$1.key'],
  [/^pastValue\.(\d+)$/, 'past_key_values.$1.value'],
  [/^presentKey\.(\d+)$/, 'present.$1.key'],
  [/^presentValue\.(\d+)$/, 'present.$1.value'],
  [/\.onnx\.data$/, '.onnx_data'],
  // An empty cache is made by the names of its axes: this is the number of texts, all others are 0.
  [/^batch$/, 'batch_size'],
];

/** @param {string} name what Headlight calls it */
export function huggingFaceName(name) {
  const found = HUGGING_FACE.find(([pattern]) => pattern.test(name));
  return found ? name.replace(...found) : name;
}
