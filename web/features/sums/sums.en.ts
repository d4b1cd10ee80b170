// Texts of sums of rows or columns, in English.

export const texts = {
  title: 'Sum of rows or columns',
  summed: ', summed',
  rows: 'How much these queries look at each key, together.',
  columns: 'How much each query looks at these keys, together.',
  asRows: 'as queries',
  asColumns: 'as keys',
  axis: 'The tokens are added',
  close: 'Close',
  keys: 'Drag over labels, or press Shift and an arrow key, to add others. Control and a press adds a single one.',
  spoken: (names: string, most: string, weight: string) => `${names}, summed. Most: ${most}, ${weight}.`,
};
