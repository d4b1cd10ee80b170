// A picture as the model reads it, patch by patch: each wears the weight that the asking patch gives it.

import { useEffect, useRef } from 'preact/hooks';
import { RAMP } from '../model/ramp.js';
import { weightsOf } from '../model/reading.js';
import { px, useSession } from './context.js';
import { sized } from './paint.js';

const HIGH = 92;

export function Patches() {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const cell = session.cell.value;
  const theme = session.theme.value;
  const canvas = useRef(/** @type {any} */ (null));
  const { image, patch, S } = run;
  const [rows, columns] = patch.image.map((side) => Math.floor(side / patch.size));
  const size = Math.max(Math.floor(HIGH / rows), 1);
  const [wide, high] = [columns * size, rows * size];
  const before = S - rows * columns;
  useEffect(() => {
    const context = sized(canvas.current, 2 * wide + 8, high);
    const own = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
    own.getContext('2d')?.putImageData(new ImageData(image.data, image.width, image.height), 0, 0);
    context.drawImage(own, 0, 0, wide, high);
    if (!cell) return;
    const row = weightsOf(run, run.layer, run.head).subarray(cell.t * S, (cell.t + 1) * S);
    for (let i = 0; i < rows * columns; i++) {
      const [x, y] = [(i % columns) * size, Math.floor(i / columns) * size];
      context.fillStyle = RAMP[theme].css(row[before + i]);
      context.fillRect(wide + 8 + x, y, size - (size > 4 ? 1 : 0), size - (size > 4 ? 1 : 0));
    }
    const mark = (token, colour) => {
      if (token < before) return;
      const [x, y] = [((token - before) % columns) * size, Math.floor((token - before) / columns) * size];
      context.strokeStyle = colour;
      context.lineWidth = 2;
      for (const shift of [0, wide + 8]) context.strokeRect(shift + x, y, size - 1, size - 1);
    };
    const colours = getComputedStyle(canvas.current);
    mark(cell.s, colours.getPropertyValue('--key'));
    mark(cell.t, colours.getPropertyValue('--query'));
  }, [run.weights, image, cell?.t, cell?.s, run.layer, run.head, theme]);
  const point = (event) => {
    const box = canvas.current.getBoundingClientRect();
    const x = (event.clientX - box.left) % (wide + 8);
    const at = Math.floor((event.clientY - box.top) / size) * columns + Math.floor(x / size);
    if (x < wide && at >= 0 && at < rows * columns) session.hover.value = { t: before + at, s: -1 };
  };
  return (
    <div class="patches">
      <canvas
        ref={canvas}
        role="img"
        aria-label={words.open.picture(rows, columns)}
        style={px({ width: 2 * wide + 8, height: high })}
        onPointerMove={point}
        onPointerLeave={() => (session.hover.value = null)}
      />
    </div>
  );
}
