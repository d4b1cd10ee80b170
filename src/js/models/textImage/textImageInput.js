// Reads the input of a model for texts and pictures: the input, the captures and the edits of each tower.

import { readOptions } from '../../check/arguments.js';
import { argumentError } from '../../check/errors.js';
import { preparePicture } from '../../io/picture/preparePicture.js';
import { encodeBatch } from '../results/encodeBatch.js';

/** @import { TensorLike } from '../../check/tensorlike.js' */
/** @import { Edit } from '../edits.js' */
/** @import { ModelInput } from '../input.js' */
/** @import { PictureBytes } from '../results/readPicture.js' */
/** @import { Transformer } from '../transformer.js' */
/** @import { ValueName } from '../valueName.js' */

/**
 * text: texts, ids (B,T), or { ids, keep }; pixels (B,3,H,W). Ids may also be properties of the input itself. The
 * names of other libraries are accepted too.
 * @typedef {object} TextImageInput
 * @property {string | readonly string[] | TensorLike | { ids: TensorLike, keep?: TensorLike }} [text]
 * @property {TensorLike} [pixels]
 * @property {TensorLike} [ids]
 * @property {TensorLike} [keep]
 * @property {TensorLike} [input_ids]
 * @property {TensorLike} [attention_mask]
 * @property {TensorLike} [pixel_values]
 */
/** @typedef {{ pixels: TensorLike } | { pixel_values: TensorLike } | PictureBytes} PixelInput */
/** @typedef {{ text?: ModelInput, vision?: ModelInput }} TowerInputs */

const OF_TEXT = ['ids', 'keep', 'input_ids', 'attention_mask'];
const OF_VISION = ['pixels', 'pixel_values'];
const TOWERS = /** @type {const} */ (['text', 'vision']);

/** @param {unknown} value @returns {value is string | readonly string[]} */
export const areTexts = (value) => typeof value === 'string' || (Array.isArray(value) && typeof value[0] === 'string');

/**
 * Encodes texts as the input of the text tower.
 * @param {Transformer} tower
 * @param {string} caller
 * @param {string | readonly string[]} texts
 * @returns {ModelInput}
 */
export function encodeTexts(tower, caller, texts) {
  const list = typeof texts === 'string' ? [texts] : texts;
  const { ids, keep } = encodeBatch(tower, caller, list, tower.options.context);
  return { ids, keep };
}

/**
 * @param {string} caller
 * @param {{ text: Transformer }} towers
 * @param {TextImageInput} input
 * @returns {TowerInputs}
 */
export function readTextImage(caller, { text: tower }, input) {
  const given = /** @type {Record<string, any>} */ (readOptions(caller, input, ['text', ...OF_TEXT, ...OF_VISION]));
  const pick = (/** @type {string[]} */ names) =>
    Object.fromEntries(names.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]));
  const [ofText, vision] = [pick(OF_TEXT), pick(OF_VISION)];
  const { text } = given;
  if (text !== undefined && Object.keys(ofText).length > 0)
    throw argumentError(caller, Object.keys(ofText)[0], Object.values(ofText)[0], 'none, as text is given');
  const read = areTexts(text) ? encodeTexts(tower, caller, text) : (text ?? ofText);
  const inputs = {
    ...((text !== undefined || Object.keys(ofText).length > 0) && { text: /** @type {ModelInput} */ (read) }),
    ...(Object.keys(vision).length > 0 && { vision: /** @type {ModelInput} */ (vision) }),
  };
  if (Object.keys(inputs).length === 0) throw argumentError(caller, 'input', input, '{ text }, { pixels } or both');
  return inputs;
}

/**
 * Converts pixels, or a picture as RGBA bytes, to the input of the vision tower.
 * @param {Transformer} tower
 * @param {string} caller
 * @param {unknown} given
 * @returns {ModelInput}
 */
export function readPixels({ preprocessor, config }, caller, given) {
  const input = /** @type {any} */ (given ?? {});
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

/**
 * Returns the entries of a list by tower. The name of an entry begins with 'text.' or 'vision.', which is removed.
 * @template T
 * @param {string} caller
 * @param {string} parameter
 * @param {readonly T[] | undefined} list
 * @param {TowerInputs} inputs
 * @param {(entry: T) => unknown} nameOf
 * @param {(entry: T, name: ValueName) => T} rename
 * @returns {Record<'text' | 'vision', T[]>}
 */
function byTower(caller, parameter, list, inputs, nameOf, rename) {
  /** @type {Record<'text' | 'vision', T[]>} */
  const found = { text: [], vision: [] };
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
    found[tower].push(rename(entry, /** @type {ValueName} */ (name.slice(tower.length + 1))));
  });
  return found;
}

/**
 * @param {string} caller
 * @param {{ capture?: readonly ValueName[], edit?: readonly Edit[] }} options
 * @param {TowerInputs} inputs
 */
export function readTowerOptions(caller, options, inputs) {
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
  return (/** @type {'text' | 'vision'} */ tower) => ({ capture: names[tower], edit: edits[tower] });
}
