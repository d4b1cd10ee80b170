// Checks the options of `mount` and converts them to the program input and the state of the page.

import { checkOptions, readBoolean, readNumber, readWord } from '../../src/js/check/arguments.ts';
import { argumentError } from '../../src/js/check/errors.ts';
import {
  isByPart,
  lengthsOf,
  PARTS,
  readModel,
  readParts,
  readQkv,
  readTexts,
  readWeights,
} from '../model/programInput.ts';
import type { ProgramInput } from '../model/protocol/programInput.ts';
import { MAX_TEXT, type State } from '../model/state.ts';

import type { Part, ViewOptions, ViewState } from './mountOptions.ts';
export type Counts = { layers: number; heads: number };

const VIEWS = ['instrument', 'head', 'heads', 'lines', 'flow', 'story'] as const;
/** The options that describe a model or weights. FIELD_OPTIONS are the options that become fields of the state. */
const MODEL_OPTIONS = [
  'model',
  'attentions',
  'batch',
  'q',
  'k',
  'v',
  'causal',
  'tokens',
  'keys',
  'title',
  'hub',
] as const;
const FIELD_OPTIONS = ['text', 'part', 'layer', 'head', 'cell', 'view', 'controls', 'theme', 'language'];
const OPTIONS = [...MODEL_OPTIONS, ...FIELD_OPTIONS, 'state', 'onState'];

export const checkNames = (caller: string, options: unknown) => checkOptions(caller, options as object, OPTIONS);

export const describesModel = (options: Partial<ViewOptions>) =>
  MODEL_OPTIONS.some((name) => options[name] !== undefined);

/** Refuses options that exclude or require other options. */
function checkCombination(caller: string, options: ViewOptions) {
  const { model, attentions, q, title } = options;
  const sources = Object.entries({ model, attentions, q }).filter(([, value]) => value !== undefined);
  if (sources.length > 1)
    throw argumentError(caller, sources[1][0], sources[1][1], `no such option, because there is ${sources[0][0]}`);
  for (const name of ['k', 'v', 'causal'] as const)
    if (options[name] !== undefined && q === undefined)
      throw argumentError(caller, 'q', q, `queries, because the options contain ${name}`);
  for (const name of ['tokens', 'keys', 'batch'] as const)
    if (options[name] !== undefined && attentions === undefined && q === undefined)
      throw argumentError(caller, name, options[name], 'this option only together with attentions or q, k and v');
  if (options.hub !== undefined && model === undefined)
    throw argumentError(caller, 'model', model, 'the name of a model, because the options contain hub');
  if (title !== undefined && typeof title !== 'string') throw argumentError(caller, 'title', title, 'a text');
}

/** Reads the model or the weights that the options describe; null for the demo model. */
export function readSource(caller: string, options: ViewOptions): ProgramInput | null {
  checkCombination(caller, options);
  const { model, attentions, q, title, hub } = options;
  if (model === 'whale' || (model === undefined && attentions === undefined && q === undefined)) return null;
  if (model !== undefined) return { ...readModel(caller, model, document.baseURI, hub), title };
  if (q === undefined && isByPart(attentions)) return { ...readByPart(caller, options), title };
  const read = q === undefined ? readWeightsOf(caller, options) : readQkvOf(caller, options);
  const tokens = readTexts(caller, 'tokens', options.tokens, read.T);
  const keys = readTexts(caller, 'keys', options.keys, read.S);
  return { ...read.input, title, tokens, keys };
}

function readWeightsOf(caller: string, { attentions, batch }: ViewOptions) {
  const input = readWeights(caller, attentions, { batch });
  const [, T, S] = input.layers[0].shape;
  return { input, T, S };
}

function readQkvOf(caller: string, { q, k, v, causal }: ViewOptions) {
  if (k === undefined) throw argumentError(caller, 'k', k, 'keys, because the options contain q');
  if (v === undefined) throw argumentError(caller, 'v', v, 'values, because the options contain q');
  const input = readQkv(caller, { q, k, v, causal });
  return { input, T: input.query.shape[1], S: input.key.shape[1] };
}

/** Reads the weights and texts of an encoder–decoder. */
function readByPart(caller: string, { attentions, tokens = {}, keys, batch }: ViewOptions) {
  const input = readParts(caller, attentions as Record<string, unknown>, { batch });
  if (keys !== undefined)
    throw argumentError(
      caller,
      'keys',
      keys,
      'no such option: give the texts of both parts as tokens: { source, target }',
    );
  if (typeof tokens !== 'object' || tokens === null || Array.isArray(tokens))
    throw argumentError(caller, 'tokens', tokens, 'an object { source, target } with the texts of both');
  checkOptions(caller, tokens, ['source', 'target'], 'tokens');
  const names = tokens as Record<string, unknown>;
  const lengths = lengthsOf(input) as Record<string, number | undefined>;
  const texts = ['source', 'target'].map((name) => {
    const count = lengths[name];
    return [name, count === undefined ? undefined : readTexts(caller, `tokens.${name}`, names[name], count)];
  });
  return { ...input, ...Object.fromEntries(texts) };
}

function layersOf(input: ProgramInput | null, part?: Part) {
  if (input?.kind !== 'weights') return undefined;
  const parts = 'parts' in input ? input.parts : [];
  return (parts.find((one) => one.part === part) ?? parts[0] ?? input).layers;
}

/** Counts layers and heads; undefined for a model. */
function countsOf(input: ProgramInput | null, part?: Part) {
  if (input?.kind === 'qkv') return { layers: 1, heads: input.query.shape[0] };
  const layers = layersOf(input, part);
  return layers && { layers: layers.length, heads: layers[0].shape[0] };
}

/** Counts queries and keys; 0 for a model. */
export function sizesOf(input: ProgramInput | null, part?: Part) {
  if (input?.kind === 'qkv') return { T: input.query.shape[1], S: input.key.shape[1] };
  const layers = layersOf(input, part);
  return layers ? { T: layers[0].shape[1], S: layers[0].shape[2] } : { T: 0, S: 0 };
}

const readIndex = (caller: string, name: string, value: unknown, count?: number) =>
  readNumber(caller, name, value, { least: 0, most: count === undefined ? undefined : count - 1, integer: true });

export function checkHead(caller: string, { layer, head }: ViewOptions, { layers, heads }: Counts) {
  if (layer !== undefined) readIndex(caller, 'layer', layer, layers);
  if (head !== undefined) readIndex(caller, 'head', head, heads);
}

function checkPart(caller: string, part: Part, input: ProgramInput | null) {
  readWord(caller, 'part', part, PARTS);
  // The parts of a model are not known before it has been read.
  if (!input || input.kind === 'folder' || input.kind === 'files') return;
  const parts = partsOf(input);
  if (!parts?.includes(part))
    throw argumentError(
      caller,
      'part',
      part,
      parts ? `one of the parts in attentions: ${parts.join(', ')}` : 'no such option, because there are no parts',
    );
}
const partsOf = (input: ProgramInput | null) =>
  input && 'parts' in input ? input.parts.map(({ part }) => part) : null;

function readCell(caller: string, cell: ViewOptions['cell']) {
  if (cell === null) return null;
  if (!cell) throw argumentError(caller, 'cell', cell, 'an object { t, s } with the positions of a query and a key');
  readIndex(caller, 'cell.t', cell.t);
  readIndex(caller, 'cell.s', cell.s);
  return { t: cell.t, s: cell.s };
}

/** Reads the fields of the state from the options. `shown`: sizes of the current model, if the options keep it. */
export function readFields(
  caller: string,
  options: Partial<ViewOptions>,
  input: ProgramInput | null,
  shown: Counts | null = null,
): Partial<State> {
  const { text, part, layer, head, cell, view, controls, theme, language } = options;
  if (part !== undefined) checkPart(caller, part, input);
  if (view !== undefined) readWord(caller, 'view', view, VIEWS);
  if (controls !== undefined) readBoolean(caller, 'controls', controls);
  if (theme !== undefined) readWord(caller, 'theme', theme, ['light', 'dark']);
  if (language !== undefined) readWord(caller, 'language', language, ['en', 'zh']);
  if (text !== undefined && !(typeof text === 'string' && text.length <= MAX_TEXT))
    throw argumentError(caller, 'text', text, `a text of at most ${MAX_TEXT} characters`);
  const { layers, heads } = countsOf(input, part) ?? shown ?? {};
  const parts = partsOf(input);
  return {
    ...(text !== undefined && { text }),
    ...(part !== undefined ? { part } : parts && { part: parts[0] }),
    ...(layer !== undefined && { layer: readIndex(caller, 'layer', layer, layers) }),
    ...(head !== undefined && { head: readIndex(caller, 'head', head, heads) }),
    ...(cell !== undefined && { cell: readCell(caller, cell) }),
    ...((view === 'lines' || view === 'flow') && { view }),
    ...(view === 'story' && { panel: 'story' }),
  };
}

export function readState(caller: string, state: unknown): string | Partial<ViewState> {
  if (state === undefined || typeof state === 'string') return state ?? '';
  if (state === null || typeof state !== 'object')
    throw argumentError(caller, 'state', state, 'an address, or a state');
  return state;
}

export function checkListener(caller: string, onState: unknown) {
  if (onState !== undefined && typeof onState !== 'function')
    throw argumentError(caller, 'onState', onState, 'a function');
}
