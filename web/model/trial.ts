// Changes inside a head that the story tries. Each has a name in state.trial. '4.2.13.29' is a changed component of a
// query, by layer, head, token and index. '3.3-4.2' is a cut edge, from head 3.3 to the keys of head 4.2.

export type Place = { layer: number; head: number };
export type Line = { from: Place; to: Place };

/** The edge from the previous-token head to the keys of the induction head. */
export const TRICK = { from: { layer: 3, head: 3 }, to: { layer: 4, head: 2 } };
export const headName = ({ layer, head }: Place) => `${layer}.${head}`;
export const lineKey = ({ from, to }: Line) => `${headName(from)}-${headName(to)}`;
export const numberKey = ({ layer, head, token, index }: Place & { token: number; index: number }) =>
  [layer, head, token, index].join('.');

function placeOf(name: string): Place {
  const [layer, head] = name.split('.').map(Number);
  return { layer, head };
}

export const hasTrial = ({ trial = {} }: { trial?: Record<string, number> }) => Object.keys(trial).length > 0;

export function readTrial(trial: Record<string, number>) {
  const all = Object.entries(trial);
  return {
    numbers: all
      .filter(([key]) => !key.includes('-'))
      .map(([key, value]) => {
        const [layer, head, token, index] = key.split('.').map(Number);
        return { layer, head, token, index, value };
      }),
    lines: all
      .filter(([key]) => key.includes('-'))
      .map(([key]) => {
        const [from, to] = key.split('-').map(placeOf);
        return { from, to };
      }) as Line[],
  };
}
