// The files of the page's own language model.

import { readFile } from 'node:fs/promises';

/** @param {'whale.safetensors' | 'tokenizer.json'} name */
export const whaleFile = (name) => readFile(new URL(`../../web/train/whale/${name}`, import.meta.url));
