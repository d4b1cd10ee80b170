// Finds attention layers in the tensors of a checkpoint by the names that other libraries use.

import { HeadlightError } from '../check/errors.ts';
import { quoteNames } from '../check/quote.ts';

/** rows of a fused weight. rows: all of q, then of k, then of v; heads: for each head those of q, k and v */
export type Fused = 'rows' | 'heads';
/**
 * Names after the prefix of a layer: q, k, v or `all` for one fused weight, and o. transposed: weights are (in, out);
 * within: must match the prefix.
 */
export type Form = {
  family: string;
  q?: string;
  k?: string;
  v?: string;
  all?: string;
  o: string;
  transposed?: boolean;
  fused?: Fused;
  within?: RegExp;
};
export type FoundLayer = {
  /** prefix of the names of the layer's tensors */
  prefix: string;
  /** model family that uses these names */
  family: string;
  /** index of the block from the prefix; 0 if there is none */
  layer: number;
  embedDim: number;
  /** from the config or the shapes; assumed if `certain` is false */
  numHeads: number;
  kvHeads: number;
  headDim: number;
  /** true if the number of heads is known, false if a headDim of 64 is assumed */
  certain: boolean;
};

const FORMS: readonly Form[] = [
  { family: 'bert', q: 'self.query', k: 'self.key', v: 'self.value', o: 'output.dense' },
  { family: 'vit', q: 'attention.query', k: 'attention.key', v: 'attention.value', o: 'output.dense' },
  { family: 'distilbert', q: 'q_lin', k: 'k_lin', v: 'v_lin', o: 'out_lin' },
  { family: 'llama', q: 'q_proj', k: 'k_proj', v: 'v_proj', o: 'o_proj' },
  { family: 'opt', q: 'q_proj', k: 'k_proj', v: 'v_proj', o: 'out_proj' },
  { family: 'phi', q: 'q_proj', k: 'k_proj', v: 'v_proj', o: 'dense' },
  { family: 't5', q: 'q', k: 'k', v: 'v', o: 'o', within: /Attention\.$/ },
  { family: 'mpnet', q: 'q', k: 'k', v: 'v', o: 'o', within: /\.attn\.$/ },
  { family: 'deberta-v2', q: 'self.query_proj', k: 'self.key_proj', v: 'self.value_proj', o: 'output.dense' },
  { family: 'albert', q: 'query', k: 'key', v: 'value', o: 'dense' },
  { family: 'gpt2', all: 'c_attn', o: 'c_proj', transposed: true, fused: 'rows' },
  { family: 'phi3', all: 'qkv_proj', o: 'o_proj', fused: 'rows' },
  { family: 'modernbert', all: 'Wqkv', o: 'Wo', fused: 'rows' },
  { family: 'nomic_bert', all: 'Wqkv', o: 'out_proj', fused: 'rows' },
  { family: 'timm', all: 'qkv', o: 'proj', fused: 'rows' },
  { family: 'gpt_neox', all: 'query_key_value', o: 'dense', fused: 'heads' },
  { family: 'torch', all: 'in_proj_', o: 'out_proj', fused: 'rows' },
];

const nameOf = (layer: string, part: 'weight' | 'bias') => (layer.endsWith('_') ? layer + part : `${layer}.${part}`);

/** Returns the prefixes of the layers with these names. */
function prefixesOf(names: ReadonlySet<string>, { q, all, o, within }: Form) {
  const first = nameOf((q ?? all) as string, 'weight');
  const last = nameOf(o, 'weight');
  return [...names].flatMap((name) => {
    if (!name.endsWith(first)) return [];
    const prefix = name.slice(0, -first.length);
    const begins = prefix === '' || prefix.endsWith('.');
    return begins && (!within || within.test(prefix)) && names.has(prefix + last) ? [prefix] : [];
  });
}

export function findForms(names: readonly string[]) {
  const set = new Set(names);
  return FORMS.flatMap((form) => prefixesOf(set, form).map((prefix) => ({ form, prefix })));
}

const shapeOf = (value: unknown): readonly number[] => (value as { shape: readonly number[] }).shape;

/** prefix: prefix of a layer, which shows whether the layer belongs to the encoder or the decoder */
function headsOf(config: Record<string, any> | undefined, prefix: string) {
  const c = config?.text_config ?? config;
  const ofStack = c?.[`${prefix.includes('decoder') ? 'decoder' : 'encoder'}_attention_heads`];
  return {
    heads: ofStack ?? c?.num_attention_heads ?? c?.n_head ?? c?.n_heads ?? c?.num_heads,
    headDim: c?.head_dim ?? c?.d_kv,
  };
}

/**
 * Finds attention layers by the names of their tensors, also of families that openModel does not support, for
 * multiHeadAttention and loadStateDict.
 * @param dict tensors by name, or the result of readSafetensorsHeader
 * @param config a config.json, for the number of heads
 */
export function layersIn(
  dict: Record<string, { shape: readonly number[] }>,
  config?: Record<string, any>,
): FoundLayer[] {
  if (dict === null || typeof dict !== 'object')
    throw new HeadlightError('ARGUMENT', 'layersIn: dict must be an object of named tensors', {
      parameter: 'dict',
      got: dict,
    });
  return findForms(Object.keys(dict))
    .map(({ form, prefix }) => {
      const { q, k, all, o, transposed } = form;
      const given = headsOf(config, prefix);
      const at = (layer: string) => {
        const [a = 0, b = 0] = shapeOf(dict[prefix + nameOf(layer, 'weight')]);
        return transposed ? [b, a] : [a, b];
      };
      const [outO, inO] = at(o);
      const rows = q && k ? { q: at(q)[0], kv: at(k)[0] } : { q: inO, kv: (at(all as string)[0] - inO) / 2 };
      const norm = dict[`${prefix}q_norm.weight`];
      const normed = norm && shapeOf(norm)[0];
      const frequencies = dict[`${prefix}rotary_emb.inv_freq`];
      const known =
        given.headDim ??
        (given.heads && rows.q / given.heads) ??
        // The width of a norm of all heads together is not that of a head.
        (normed !== rows.q ? normed : undefined) ??
        (frequencies && 2 * shapeOf(frequencies)[0]);
      const headDim = known ?? (rows.q % 64 === 0 && rows.kv % 64 === 0 ? 64 : rows.kv);
      return {
        prefix,
        family: form.family,
        layer: Number(/(\d+)\.(?!.*\d)/.exec(prefix)?.[1] ?? 0),
        embedDim: outO,
        numHeads: rows.q / headDim,
        kvHeads: rows.kv / headDim,
        headDim,
        certain: known !== undefined,
      };
    })
    .sort((a, b) => a.layer - b.layer || (a.prefix < b.prefix ? -1 : 1));
}

/** undefined without names of a known family. prefix: required if there are several layers. */
export function findLayer(caller: string, names: readonly string[], prefix?: string) {
  const found = findForms(names).filter((layer) => prefix === undefined || layer.prefix === prefix);
  if (found.length > 1) {
    const prefixes = found.map((layer) => layer.prefix);
    throw new HeadlightError(
      'ARGUMENT',
      `${caller}: there are ${found.length} attention layers, choose one with { prefix: ${quoteNames(prefixes)} }`,
      { parameter: 'layout', expected: prefixes },
    );
  }
  return found[0];
}

/**
 * Maps a row of q, k or v to one of a fused weight. index: 0 for q, 1 for k, 2 for v; layer: sizes: rows of q, k and v.
 */
export function fusedRow(
  fused: Fused,
  index: number,
  { headDim, sizes }: { headDim: number; sizes: readonly number[] },
): (row: number) => number {
  const first = sizes.slice(0, index).reduce((a, b) => a + b, 0);
  if (fused === 'rows') return (row) => first + row;
  return (row) => Math.floor(row / headDim) * 3 * headDim + index * headDim + (row % headDim);
}

export { nameOf };
