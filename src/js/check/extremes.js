// Finds the largest of any number of values. Math.max(...values) fails for more than about 125,000 values.

/** Returns the largest of some numbers, or -Infinity if there are none. @param {Iterable<number>} numbers */
export function largestOf(numbers) {
  let largest = -Infinity;
  for (const number of numbers) largest = Math.max(largest, number);
  return largest;
}

/**
 * Returns the position of the first of the largest numbers, or -1 if there are none.
 * @param {ArrayLike<number>} numbers
 */
export function indexOfLargest(numbers) {
  let best = numbers.length > 0 ? 0 : -1;
  for (let i = 1; i < numbers.length; i++) if (numbers[i] > numbers[best]) best = i;
  return best;
}
