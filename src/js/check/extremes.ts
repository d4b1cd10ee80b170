// Finds the largest of any number of values. Math.max(...values) fails for more than about 125,000 values.

/** Returns the largest of some numbers, or -Infinity if there are none. */
export function largestOf(numbers: Iterable<number>) {
  let largest = -Infinity;
  for (const number of numbers) largest = Math.max(largest, number);
  return largest;
}

/** Returns the position of the first of the largest numbers, or -1 if there are none. */
export function indexOfLargest(numbers: ArrayLike<number>) {
  let best = numbers.length > 0 ? 0 : -1;
  for (let i = 1; i < numbers.length; i++) if (numbers[i] > numbers[best]) best = i;
  return best;
}
