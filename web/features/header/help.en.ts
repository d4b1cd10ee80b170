// The help, in English.

export const texts = {
  keys: 'Keys',
  keyList: [
    ['← ↑ → ↓', 'move between cells of the picture'],
    ['1 … 6', 'Heatmap, Lines, Flow, Trace, Text, Atlas'],
    ['[ ]', 'previous head, next head'],
    ['{ }', 'layer below, layer above'],
    ['Enter', 'lock or unlock the cell'],
    ['Ctrl\u00a0Z, Ctrl\u00a0Shift\u00a0Z', 'undo, redo'],
    ['Esc', 'close, unlock, stop'],
  ],
  terms: 'Words',
  termList: [
    ['token', 'A piece of text with a number of its own: a word or a part of one.'],
    ['head', 'Computes attention: how much every token takes from each token before it.'],
    ['layer', 'Several heads that work in parallel. A model is a stack of layers.'],
    ['query', 'Numbers that say what a token looks for, computed from the layer’s input.'],
    ['key', 'As many numbers, by which a token is found.'],
    ['score', 'Query times key, number by number, summed and scaled. High if they match.'],
    ['softmax', 'Turns the scores of a row into weights that add up to 1.'],
    ['value', 'Numbers that a token passes on. A head sums the values, each times its weight.'],
    ['feed-forward', 'The part of a layer that processes each token alone.'],
    ['logit', 'The score of a possible next token. Softmax over all of them gives the probabilities.'],
  ],
};
