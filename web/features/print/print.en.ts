// The caption of a printed picture, in English.

export const texts = {
  caption: (head: string, model: string) =>
    `${head} of ${model}. Rows are queries, columns are keys: the darker a cell, the more its row looks at its column.`,
};
