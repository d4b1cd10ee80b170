// An interpolated trigram model, the baseline for the transformer. The probability of a token is a weighted sum of its
// frequencies after two tokens, after one token and without context.
//
//   p(w | u, v) = a₃ · count(u v w) / count(u v) + a₂ · count(v w) / count(v) + a₁ · count(w) / N + a₀ / V
//
// The weights a are learned by expectation maximization on chapters that were not counted (deleted interpolation),
// separately for rare and frequent contexts. Jelinek and Mercer, 1980.

/** of contexts and of the next tokens */
export type Counts = { total: Map<number, number>; next: Map<number, number> };
/** for each kind of context: the weights a₀ to a₃ */
export type Shares = Float64Array[];

/** Fraction of the training chapters on which the weights a are learned. */
const LEFT_OUT = 0.05;
const ROUNDS = 30;
/** Kinds of contexts by their count: 0, 1, 2 to 3, 4 to 7 … */
const KINDS = 8;

const increase = (map: Map<number, number>, key: number) => map.set(key, (map.get(key) ?? 0) + 1);

/**
 * Yields every token of a chapter except the first, with the two tokens before it. The first token marks the beginning
 * of the chapter.
 */
function* tokensOf(chapters: readonly ArrayLike<number>[]) {
  for (const tokens of chapters)
    for (let t = 1; t < tokens.length; t++) yield [t > 1 ? tokens[t - 2] : tokens[0], tokens[t - 1], tokens[t]];
}

function count(chapters: readonly ArrayLike<number>[], vocab: number) {
  const orders: Counts[] = Array.from({ length: 3 }, () => ({ total: new Map(), next: new Map() }));
  for (const [u, v, w] of tokensOf(chapters))
    [0, v, u * vocab + v].forEach((context, order) => {
      increase(orders[order].total, context);
      increase(orders[order].next, context * vocab + w);
    });
  return orders;
}

/** Returns the four terms of the sum, without their weights, and the kind of the context. */
function partsOf(orders: Counts[], vocab: number, [u, v, w]: number[]) {
  const contexts = [0, v, u * vocab + v];
  const found = contexts.map((context, order) => {
    const total = orders[order].total.get(context) ?? 0;
    return total > 0 ? (orders[order].next.get(context * vocab + w) ?? 0) / total : 0;
  });
  const kind = (n: number) => Math.min(KINDS - 1, Math.ceil(Math.log2(n + 1)));
  const [of2, of1] = [orders[2].total.get(contexts[2]) ?? 0, orders[1].total.get(contexts[1]) ?? 0];
  return { parts: [1 / vocab, ...found], kind: KINDS * kind(of2) + (of2 > 0 ? 0 : kind(of1)) };
}

const mix = (parts: number[], shares: Float64Array) => parts.reduce((sum, part, i) => sum + part * shares[i], 0);

function learnShares(orders: Counts[], vocab: number, chapters: readonly ArrayLike<number>[]): Shares {
  let shares = Array.from({ length: KINDS * KINDS }, () => Float64Array.of(0.01, 0.19, 0.4, 0.4));
  const examples = Array.from(tokensOf(chapters), (three) => partsOf(orders, vocab, three));
  for (let round = 0; round < ROUNDS; round++) {
    // The expected count of each term. It begins with a small number, so that kinds that do not occur keep their
    // shares.
    const owed = shares.map((share) => share.map((value) => value * 1e-3));
    for (const { parts, kind } of examples) {
      const sum = mix(parts, shares[kind]);
      parts.forEach((part, i) => {
        owed[kind][i] += (part * shares[kind][i]) / sum;
      });
    }
    shares = owed.map((share) => {
      const sum = share.reduce((a, b) => a + b);
      return share.map((value) => value / sum);
    });
  }
  return shares;
}

/** @param train the tokens of each chapter */
export function trigram(train: readonly ArrayLike<number>[], vocab: number) {
  const kept = train.length - Math.ceil(LEFT_OUT * train.length);
  const shares = learnShares(count(train.slice(0, kept), vocab), vocab, train.slice(kept));
  const orders = count(train, vocab);
  /** Returns the probability of the third token after the other two. */
  const probability = (three: number[]) => {
    const { parts, kind } = partsOf(orders, vocab, three);
    return mix(parts, shares[kind]);
  };
  /** Returns the mean loss in nats per token. */
  const judge = (chapters: readonly ArrayLike<number>[]) => {
    let [sum, tokens] = [0, 0];
    for (const three of tokensOf(chapters)) {
      sum -= Math.log(probability(three));
      tokens++;
    }
    return { loss: sum / tokens, tokens };
  };
  return { probability, judge };
}
