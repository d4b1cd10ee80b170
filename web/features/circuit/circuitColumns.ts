// The columns of a circuit, one for each token. A column with heads or MLPs of the circuit is wide, any other column is
// narrow.

import type { Part } from './circuitNodes.ts';
/** x: middle of its heads and word; before: width of the MLPs left of the heads; text: false if the word has no room */
export type Column = { t: number; x: number; before: number; width: number; text: boolean };
/** rest: groups of neighbouring tokens, each of which is drawn as "…" */
export type Columns = { columns: Column[]; rest: { x: number; width: number }[] };

/** Pixels between heads or MLPs of a column, around a word, and width of a group of tokens drawn as "…". */
const [APART, AROUND, DOTS] = [14, 12, 26];

/** Returns the width of several heads or MLPs side by side. */
export const widthOf = (widths: readonly number[]) =>
  widths.reduce((sum, w) => sum + w, 0) + APART * Math.max(widths.length - 1, 0);

export function columnsOf({
  words,
  parts,
  feet,
  widthOfPart,
  left,
  right,
}: {
  /** widths of the tokens' texts */
  words: number[];
  parts: Part[];
  /** tokens at which edges from the embeddings begin */
  feet: readonly number[];
  widthOfPart: (part: Part) => number;
  left: number;
  right: number;
}): Columns {
  const byToken: Map<number, Map<string, number[]>> = new Map(feet.map((t) => [t, new Map()]));
  for (const part of parts) {
    const rows = byToken.get(part.token) ?? new Map();
    const row = `${part.kind}${part.layer}`;
    rows.set(row, [...(rows.get(row) ?? []), widthOfPart(part)]);
    byToken.set(part.token, rows);
  }
  const needed = words.map((word, t) => {
    const rows = [...(byToken.get(t) ?? [])];
    const widest = (kind: string) =>
      Math.max(0, ...rows.filter(([row]) => row.startsWith(kind)).map(([, widths]) => widthOf(widths)));
    const [heads, pills] = [widest('head'), widest('mlp')];
    // MLPs are on the left of the heads, so that lines from the heads can go straight up.
    const before = heads > 0 && pills > 0 ? pills + APART : 0;
    const right = Math.max(word + AROUND, Math.max(heads, before ? 0 : pills) + 2 * APART);
    return { t, used: byToken.has(t), before, width: before + right, text: true };
  });
  const total = () => needed.reduce((sum, { width }) => sum + width, 0);
  // If the columns are too wide, groups of neighbouring unused tokens become "…", the widest group first.
  const runs = runsOf(needed).sort((a, b) => b.width - a.width);
  for (const run of runs) {
    if (total() <= right - left) break;
    run.list.forEach((column, i) => {
      column.text = false;
      column.width = i === 0 ? DOTS : 0;
    });
  }
  const used = needed.filter(({ width }) => width > 0);
  const spare = right - left - total();
  const scale = spare < 0 ? (right - left) / total() : 1;
  const more = spare > 0 ? spare / used.length : 0;
  let x = left;
  const columns = needed.map(({ t, before, width, text }) => {
    const whole = width > 0 ? width * scale + more : 0;
    x += whole;
    return { t, x: x - (whole - before * scale) / 2, before: before * scale, width: whole, text };
  });
  const rest = columns.filter(({ text, width }) => !text && width > 0).map(({ x: at, width }) => ({ x: at, width }));
  return { columns, rest };
}

function runsOf(columns: { t: number; used: boolean; before: number; width: number; text: boolean }[]) {
  const runs: { list: typeof columns; width: number }[] = [];
  columns.forEach((column, i) => {
    if (column.used) return;
    if (i === 0 || columns[i - 1].used) runs.push({ list: [], width: 0 });
    const run = runs[runs.length - 1];
    run.list.push(column);
    run.width += column.width;
  });
  return runs;
}
