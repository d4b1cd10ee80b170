// The names of tensors in GGUF files and in those of Hugging Face, by architecture.

import type { Architecture } from '../../families/common.ts';
import { FAMILIES } from '../../families/index.ts';

const ATTENTION = 'blk.L.attn';

/** The architectures by general.architecture. */
export const ARCHITECTURES: ReadonlyMap<unknown, Architecture> = new Map(
  [...FAMILIES.values()].flatMap(({ gguf = {} }) => Object.entries(gguf)),
);

/** Tensors with factors of rotary frequencies, which become part of the config. */
export const FREQUENCIES = ['rope_freqs.weight', 'rope_factors_long.weight', 'rope_factors_short.weight'];

export type ParsedName = {
  /** with L for the number of the block, without .weight and .bias */
  base: string;
  /** .weight, .bias, or nothing */
  suffix: string;
  number: string;
};

export function parseName(name: string): ParsedName {
  const [, stem, suffix = ''] = /^(.*?)(\.weight|\.bias)?$/s.exec(name) as RegExpExecArray;
  const number = /(?:^|\.)blk\.(\d+)\./.exec(stem)?.[1] ?? '';
  return { base: number ? stem.replace(`blk.${number}.`, 'blk.L.') : stem, suffix, number };
}

export const fillName = (base: string, { suffix, number }: ParsedName) => base.replace('.L.', `.${number}.`) + suffix;

/**
 * Returns which projection a name in GGUF is: 0, 1 or 2 for q, k or v; 3 for a tensor with all three; −1 for another.
 */
export const projectionOf = (base: string) => ['q', 'k', 'v', 'qkv'].map((end) => `${ATTENTION}_${end}`).indexOf(base);

/** Returns GGUF's name of a tensor, or the name itself if GGUF has none. name: of Hugging Face. */
export function ggufName({ names, qkv }: Architecture, name: string) {
  const [, stem, suffix = ''] = /^(.*?)(\.weight|\.bias)?$/s.exec(name) as RegExpExecArray;
  const number = /\.(\d+)\./.exec(stem)?.[1] ?? '';
  const base = stem.replace(`.${number}.`, '.L.');
  const three = Array.isArray(qkv) ? qkv.indexOf(base) : -1;
  const projection = base === qkv ? 'qkv' : three >= 0 ? 'qkv'[three] : undefined;
  const found = projection ? `${ATTENTION}_${projection}` : Object.keys(names).find((key) => names[key] === base);
  return found ? found.replace('.L.', `.${number}.`) + suffix : name;
}
