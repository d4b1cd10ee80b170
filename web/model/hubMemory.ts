// The memory that a model needs for each form of its weights, and the form that suits a computer.

import type { HubModel } from './protocol/hubProtocol.ts';
export type Form = HubModel['forms'][number];
/** tight: the model fits, but other programs may have to give up memory */
export type Fit = 'fits' | 'tight' | 'no';

/** A download of more bytes than this needs a confirmation. */
export const MAX_DOWNLOAD = 50e6;
/** A model that needs more bytes of memory than this needs a confirmation. */
const MAX_MEMORY = 1e9;
/** Memory of a run on a short text in addition to the weights: RUN_SHARE of the weights, and RUN_BYTES. */
const [RUN_SHARE, RUN_BYTES] = [0.05, 64e6];
/** The share of the computer's memory that a page can usually get. */
const PAGE_SHARE = 0.5;

export const neededBy = ({ bytes }: Pick<Form, 'bytes'>) => bytes * (1 + RUN_SHARE) + RUN_BYTES;

/** `room`: bytes that the page can use; `machine`: bytes of the computer's memory, null if unknown. */
export function fitOf(form: Pick<Form, 'bytes'>, room: number, machine: number | null): Fit {
  const needed = neededBy(form);
  if (needed > room) return 'no';
  return machine !== null && needed > PAGE_SHARE * machine ? 'tight' : 'fits';
}

/** Returns the proposed form: the most exact that needs little memory, else the smallest that fits; null for none. */
export function choiceOf({ forms, room }: Pick<HubModel, 'forms' | 'room'>, machine: number | null): Form | null {
  const possible = forms.filter((form) => fitOf(form, room, machine) !== 'no');
  const easy = possible.filter((form) => fitOf(form, room, machine) === 'fits' && form.bytes <= MAX_MEMORY);
  const exactFirst = (list: Form[]) => [...list].sort((a, b) => b.bytes - a.bytes);
  return exactFirst(easy)[0] ?? exactFirst(possible).at(-1) ?? null;
}

/** Returns true if a model is opened only after a confirmation. */
export const isLarge = ({ download }: Pick<HubModel, 'download'>, { bytes }: Form) =>
  download > MAX_DOWNLOAD || bytes > MAX_MEMORY;
