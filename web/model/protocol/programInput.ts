// Types of the input of a program that embeds the page, as the worker receives it.

import type { HubOptions } from '../../../src/js/hub/options.ts';
import type { UserFile } from './protocol.ts';

export type InputNumbers = { data: Float32Array; shape: number[] };
/** each (H,T,S) */
export type LayerWeights = { layers: InputNumbers[]; causal: boolean };
/** of an encoder–decoder */
export type Part = 'encoder' | 'decoder' | 'cross';
export type PartWeights = LayerWeights & { part: Part };
export type WeightsInput = { kind: 'weights' } & LayerWeights;
/** layers: those of the first part */
export type PartsInput = { kind: 'weights'; parts: PartWeights[] } & LayerWeights;
export type QkvInput = { kind: 'qkv'; query: InputNumbers; key: InputNumbers; value: InputNumbers; causal: boolean };
export type FolderInput = { kind: 'folder'; url: string; hub?: HubOptions };
export type ModelFilesInput = FolderInput | { kind: 'files'; files: UserFile[] };
/** The title, and the texts of the queries and keys, or of the source and target of an encoder–decoder. */
export type Texts = { title?: string; tokens?: string[]; keys?: string[]; source?: string[]; target?: string[] };
export type ProgramInput = (WeightsInput | PartsInput | QkvInput | ModelFilesInput) & Texts;
