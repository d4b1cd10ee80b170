// Finds the best segmentation of a text into the pieces of a Unigram vocabulary, in plain loops.

/**
 * @param {{ model: { vocab: [string, number][], unk_id: number } }} tokenizer a file whose normalizer is NFKC, and in
 * which spaces become ▁, with a ▁ before the text
 */
export function unigram({ model: { vocab, unk_id: unknown } }) {
  const ids = new Map(vocab.map(([piece], id) => [piece, id]));
  const longest = vocab.reduce((most, [piece]) => Math.max(most, [...piece].length), 0);
  const unknownScore = Math.min(...vocab.map(([, score]) => score)) - 10;
  return (text) => {
    const letters = [...`▁${text.normalize('NFKC').replaceAll(' ', '▁')}`];
    const best = [{ score: 0, from: -1, id: -1 }];
    for (let end = 1; end <= letters.length; end++) {
      best[end] = { score: best[end - 1].score + unknownScore, from: end - 1, id: unknown };
      for (let from = Math.max(0, end - longest); from < end; from++) {
        const id = ids.get(letters.slice(from, end).join(''));
        if (id === undefined) continue;
        const score = best[from].score + vocab[id][1];
        if (score > best[end].score) best[end] = { score, from, id };
      }
    }
    const path = [];
    for (let end = letters.length; end > 0; end = best[end].from) path.unshift(best[end].id);
    return path.filter((id, i) => id !== unknown || path[i - 1] !== unknown);
  };
}
