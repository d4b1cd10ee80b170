// Reads the input of a model for texts and pictures: the input, the captures and the edits of each tower.

import { readOptions } from '../../check/arguments.ts';
import { argumentError } from '../../check/errors.ts';
import type { TensorLike } from '../../check/tensorlike.ts';
import { preparePicture } from '../../io/picture/preparePicture.ts';
import type { Edit } from '../edits.ts';
import type { ModelInput } from '../input.ts';
import { encodeBatch } from '../results/encodeBatch.ts';
import type { PictureBytes } from '../results/readPicture.ts';
import type { Transformer } from '../transformer.ts';
import type { ValueName } from '../valueName.ts';

/**
 * text: texts, ids (B,T), or { ids, keep }, or ids in the input itself; pixels (B,3,H,W). Other libraries' names are
 * accepted.
 */
export type TextImageInput = {
  text?: string | readonly string[] | TensorLike | { ids: TensorLike; keep?: TensorLike } | undefined;
  pixels?: TensorLike | undefined;
  ids?: TensorLike | undefined;
  keep?: TensorLike | undefined;
  input_ids?: TensorLike | undefined;
  attention_mask?: TensorLike | undefined;
  pixel_values?: TensorLike | undefined;
};
export type PixelInput = { pixels: TensorLike } | { pixel_values: TensorLike } | PictureBytes;
export type TowerInputs = { text?: ModelInput; vision?: ModelInput };

const OF_TEXT = ['ids', 'keep', 'input_ids', 'attention_mask'];
const OF_VISION = ['pixels', 'pixel_values'];
const TOWERS = ['text', 'vision'] as const;

export const areTexts = (value: unknown): value is string | readonly string[] =>
  typeof value === 'string' || (Array.isArray(value) && typeof value[0] === 'string');

export function encodeTexts(tower: Transformer, caller: string, texts: string | readonly string[]): ModelInput {
  const list = typeof texts === 'string' ? [texts] : texts;
  const { ids, keep } = encodeBatch(tower, caller, list, tower.options.context);
  return { ids, keep };
}

export function readTextImage(
  caller: string,
  { text: tower }: { text: Transformer },
  input: TextImageInput,
): TowerInputs {
  const given = readOptions(caller, input, ['text', ...OF_TEXT, ...OF_VISION]) as Record<string, any>;
  const pick = (names: string[]) =>
    Object.fromEntries(names.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]));
  const [ofText, vision] = [pick(OF_TEXT), pick(OF_VISION)];
  const { text } = given;
  if (text !== undefined && Object.keys(ofText).length > 0)
    throw argumentError(caller, Object.keys(ofText)[0], Object.values(ofText)[0], 'none, as text is given');
  const read = areTexts(text) ? encodeTexts(tower, caller, text) : (text ?? ofText);
  const inputs = {
    ...((text !== undefined || Object.keys(ofText).length > 0) && { text: read as ModelInput }),
    ...(Object.keys(vision).length > 0 && { vision: vision as ModelInput }),
  };
  if (Object.keys(inputs).length === 0) throw argumentError(caller, 'input', input, '{ text }, { pixels } or both');
  return inputs;
}

/** Converts pixels, or a picture as RGBA bytes, to the input of the vision tower. */
export function readPixels({ preprocessor, config }: Transformer, caller: string, given: unknown): ModelInput {
  const input = (given ?? {}) as any;
  if (input.pixels !== undefined || input.pixel_values !== undefined) return input;
  const { data, width, height } = input;
  const area = width * height;
  if (!(area > 0) || data?.length !== 4 * area)
    throw argumentError(
      caller,
      'picture',
      given,
      '{ pixels }, or RGBA bytes; await model.pixels(picture) converts others',
    );
  if (!preprocessor)
    throw argumentError(caller, 'picture', given, '{ pixels }, as the files have no preprocessor_config.json');
  const rgb = Uint8Array.from({ length: 3 * area }, (_, i) => data[4 * Math.floor(i / 3) + (i % 3)]);
  return { pixels: preparePicture({ data: rgb, width, height }, preprocessor, config?.model_type) };
}

/** Returns the entries of a list by tower. The name of an entry begins with 'text.' or 'vision.', which is removed. */
function byTower<T>(
  caller: string,
  parameter: string,
  list: readonly T[] | undefined,
  inputs: TowerInputs,
  nameOf: (entry: T) => unknown,
  rename: (entry: T, name: ValueName) => T,
): Record<'text' | 'vision', T[]> {
  const found: Record<'text' | 'vision', T[]> = { text: [], vision: [] };
  if (list !== undefined && !Array.isArray(list)) throw argumentError(caller, parameter, list, 'a list');
  (list ?? []).forEach((entry, i) => {
    const name = String(nameOf(entry));
    const tower = TOWERS.find((other) => name.startsWith(`${other}.`));
    if (!tower || !inputs[tower]) {
      const towers = TOWERS.filter((other) => inputs[other]).map((other) => `'${other}.'`);
      throw argumentError(
        caller,
        `${parameter}[${i}]`,
        nameOf(entry),
        `a name that begins with ${towers.join(' or ')}`,
      );
    }
    found[tower].push(rename(entry, name.slice(tower.length + 1) as ValueName));
  });
  return found;
}

export function readTowerOptions(
  caller: string,
  options: { capture?: readonly ValueName[]; edit?: readonly Edit[] },
  inputs: TowerInputs,
) {
  const { capture, edit } = readOptions(caller, options, ['capture', 'edit']);
  const names = byTower(
    caller,
    'capture',
    capture,
    inputs,
    (name) => name,
    (_, name) => name,
  );
  const edits = byTower(
    caller,
    'edit',
    edit,
    inputs,
    (one) => one?.at,
    (one, at) => ({ ...one, at }),
  );
  return (tower: 'text' | 'vision') => ({ capture: names[tower], edit: edits[tower] });
}
