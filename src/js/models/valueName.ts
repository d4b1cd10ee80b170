// Types of the names of values in a transformer.

/** of attention */
export type HeadValue = 'query' | 'key' | 'value' | 'scores' | 'weights' | 'heads';
/** of a layer with a memory */
export type MemoryValue = 'state' | 'values' | 'beta' | 'decay' | 'reach' | 'weights';
/** the part of a name after `blocks.0.` */
export type BlockValue =
  | 'in'
  | 'norm1'
  | HeadValue
  | 'attention'
  | 'mid'
  | 'norm2'
  | 'hidden'
  | 'mlp'
  | 'out'
  | `${'query' | 'key' | 'value' | 'mlp'}.in`
  | `cross.${'norm' | HeadValue | 'attention'}`
  | `memory.${MemoryValue}`
  | 'latent'
  | 'router'
  | 'experts';
/**
 * The name of a value: 'embed', 'blocks.0.weights', 'blocks.*.out', 'encoder.blocks.3.heads', 'final' … The type
 * rejects misspelt names. Give it to a name that a program computes as a `string`.
 */
export type ValueName = `${'' | 'encoder.' | 'text.' | 'vision.'}${
  | 'embed'
  | 'final'
  | 'logits'
  | 'pooled'
  | `pool.${HeadValue}`
  | `blocks.${number | '*'}.${BlockValue | '*'}`}`;
