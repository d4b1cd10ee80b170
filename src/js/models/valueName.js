// Types of the names of values in the computation of a transformer.

/**
 * @typedef {'query' | 'key' | 'value' | 'scores' | 'weights' | 'heads'} HeadValue of attention
 */
/** @typedef {'state' | 'values' | 'beta' | 'decay' | 'reach' | 'weights'} MemoryValue of a layer with a memory */
/**
 * @typedef {'in' | 'norm1' | HeadValue | 'attention' | 'mid' | 'norm2' | 'hidden' | 'mlp' | 'out' |
 *   `${'query' | 'key' | 'value' | 'mlp'}.in` | `cross.${'norm' | HeadValue | 'attention'}` | `memory.${MemoryValue}` |
 *   'latent' | 'router' | 'experts'} BlockValue the part of a name after `blocks.0.`
 */
/**
 * The name of a value: 'embed', 'blocks.0.weights', 'blocks.*.out', 'encoder.blocks.3.heads', 'final' … The type
 *   rejects
 * misspelt names. Give it to a name that a program computes as a `string`.
 * @typedef {`${'' | 'encoder.' | 'text.' | 'vision.'}${'embed' | 'final' | 'logits' | 'pooled' | `pool.${HeadValue}` |
 *   `blocks.${number | '*'}.${BlockValue | '*'}`}`} ValueName
 */

export {};
