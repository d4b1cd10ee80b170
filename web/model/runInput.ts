// The input of a run: the text, and the changes of the model. It consists of some fields of the state.

/** Everything that the numbers of a run depend on, except the model. state.ts explains places. */
export type Run = {
  text: string;
  /** the decoder's text, in a model with an encoder; or other sentences to compare: see textImage/sentences.ts */
  second?: string;
  temperature: Record<string, number>;
  /** by place: 'none', 'past' in a model without a causal mask, or the number of keys of a sliding window */
  mask: Record<string, string>;
  /** by place: cells that were masked by hand, see hiddenCells.ts */
  painted: Record<string, string>;
  /** by place: factor of a head's output, 0 is off */
  scale: Record<string, number>;
  /** what replaces the output of a head that is off: zero by default, or its mean over the tokens of the run */
  off?: 'zero' | 'mean';
  /** by place: 1 replaces a head's output by that of the pinned run */
  patch: Record<string, number>;
};

export const RUN = ['text', 'second', 'temperature', 'mask', 'painted', 'scale', 'off', 'patch'] as const;
/** Name of the model that is trained on the page. */
export const TRAINED = 'trained';

export const runOf = ({
  text,
  second = '',
  temperature,
  mask,
  painted = {},
  scale,
  off = 'zero',
  patch,
}: Run): Run => ({
  text,
  second,
  temperature,
  mask,
  painted,
  scale,
  off,
  patch,
});

/** True if the tokens of a word are joined in the picture. */
export const joinsWords = ({
  units,
  view,
  panel,
  first,
}: {
  units: string;
  view: string;
  panel: string;
  first: number | null;
}) => units === 'words' && (view === 'heatmap' || view === 'lines') && panel !== 'story' && first === null;

const isEmpty = (map: Record<string, unknown>) => Object.keys(map).length === 0;
export const isChanged = ({ temperature, mask, painted = {}, scale, patch }: Run) =>
  ![temperature, mask, painted, scale, patch].every(isEmpty);
/** The fields of a run that does not change the model. */
export const UNCHANGED = {
  temperature: {},
  mask: {},
  painted: {},
  scale: {},
  off: 'zero' as const,
  patch: {},
};
