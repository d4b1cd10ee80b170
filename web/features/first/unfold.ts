// Unfolds the picture from the sentence: the sentence moves up, a copy of each word drops to its label in the picture,
// and the row of that word grows to the right.

/** Durations in milliseconds: the sentence moves; the next word starts; a word drops; a row grows; the marks appear. */
const [UP, APART, FLIGHT, GROWTH, MARKS] = [250, 30, 300, 200, 150];

export type Box = { left: number; top: number; width: number };

/** `from`: box of the letters on the previous screen. Returns false if the picture has not been drawn yet. */
export function unfold(root: ShadowRoot, from: Box): boolean {
  const all = (selector: string) => [...root.querySelectorAll(selector)] as HTMLElement[];
  const [line] = all('.sentence .line');
  const [matrix] = all('.picture .matrix');
  const labels = all('.labels .key-label');
  if (!line || !matrix || labels.length === 0) return false;
  moveSentence(line, from);
  const wordOf = (t: number) => root.querySelector(`.sentence [data-t="${t}"]`);
  labels.forEach((label, t) => drop(label, wordOf(t), UP + APART * t));
  growRows(matrix, labels.length);
  const end = UP + APART * labels.length + FLIGHT + GROWTH;
  for (const mark of all('.cross, .nothing-rows, .corner, .legend'))
    mark.animate({ opacity: [0, 1] }, { duration: MARKS, delay: end - MARKS, fill: 'backwards' });
  return true;
}

function moveSentence(line: HTMLElement, from: Box) {
  const to = line.getBoundingClientRect();
  const words = line.closest('.words') as HTMLElement;
  const scale = to.width > 0 ? from.width / to.width : 1;
  words.style.overflow = 'visible';
  line
    .animate(
      {
        transform: [`translate(${from.left - to.left}px, ${from.top - to.top}px) scale(${scale})`, 'none'],
        transformOrigin: ['0 0', '0 0'],
      },
      { duration: UP, easing: 'ease-out' },
    )
    .finished.finally(() => words.style.removeProperty('overflow'))
    .catch(() => {});
}

/** `word`: in the sentence. */
function drop(label: HTMLElement, word: Element | null, delay: number) {
  if (!word) return;
  const [from, to] = [word, label].map((element) => element.getBoundingClientRect());
  const scale = to.height > 0 ? from.height / to.height : 1;
  label.animate(
    {
      transform: [`translate(${from.left - to.left}px, ${from.top - to.top}px) scale(${scale})`, 'none'],
      transformOrigin: ['0 0', '0 0'],
      opacity: [0.2, 1],
    },
    { duration: FLIGHT, delay, easing: 'ease-out', fill: 'backwards' },
  );
  // The copy is invisible until it begins to drop.
  label.animate({ visibility: ['hidden', 'hidden'] }, { duration: delay });
}

/** Covers each row and shrinks the cover to the left, so that the row appears from the side of its word. */
function growRows(matrix: HTMLElement, rows: number) {
  const area = document.createElement('div');
  area.className = 'covers';
  for (let t = 0; t < rows; t++) {
    const cover = document.createElement('span');
    Object.assign(cover.style, {
      top: `${(100 * t) / rows}%`,
      height: `${100 / rows}%`,
      width: `${(100 * (t + 1)) / rows}%`,
    });
    area.append(cover);
    cover.animate(
      { transform: ['none', 'scaleX(0)'] },
      { duration: GROWTH, delay: UP + APART * t + FLIGHT, fill: 'both', easing: 'ease-out' },
    );
  }
  matrix.append(area);
  setTimeout(() => area.remove(), UP + APART * rows + FLIGHT + GROWTH);
}
