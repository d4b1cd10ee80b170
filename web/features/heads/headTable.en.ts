// The table of all heads, in English.

export const table = {
  title: 'All heads',
  about:
    'The role of each head, and means over the tokens of this text. Choose a column to sort by it, a row to see its head.',
  head: 'head',
  role: 'role',
  columns: {
    entropy: 'entropy, bits',
    distance: 'distance',
    induction: 'induction',
    previous: 'previous',
    duplicate: 'same token',
    itself: 'itself',
    first: 'first token',
  },
  save: 'Save as CSV',
  shown: 'Only frames that are shown count, not the silence after them.',
  large: 'For so long a text only the shown head is computed.',
};
