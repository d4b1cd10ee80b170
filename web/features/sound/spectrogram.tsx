// The spectrogram of the keys, under their columns. Time goes from left to right, and low frequencies are at the
// bottom.

import { useEffect, useRef } from 'preact/hooks';
import { sized } from '../../drawing/paintWeights.ts';
import type { Picture } from '../../drawing/types.ts';
import type { Spectrogram as Levels, ShownSound } from '../../model/protocol/protocol.ts';
import { useSession, useTexts } from '../../store/context.ts';
import { SPECTROGRAM } from '../../ui/layout.ts';
import { PALETTE } from '../../ui/palette.ts';
import { px } from '../../ui/px.ts';
import { sound as en } from './sound.en.ts';
import { sound as zh } from './sound.zh.ts';

export { default as styles } from './sound.css';

/**
 * Possible seconds between two labels; then the minimum distance of two labels and the width of a label, in pixels.
 */
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10];
const [MIN_DISTANCE, LABEL] = [44, 30];

export function Spectrogram({ picture }: { picture: Picture }) {
  const session = useSession();
  const own = useTexts({ en, zh });
  const canvas = useRef(null as HTMLCanvasElement | null);
  const theme = session.theme.value;
  const { run, x, y, matrixWidth, matrixHeight, cell } = picture;
  const sound = run.sound as ShownSound;
  const { spectrogram, step } = sound;
  useEffect(() => {
    if (canvas.current) paint(canvas.current, spectrogram, matrixWidth, PALETTE[theme].ink);
  }, [spectrogram, matrixWidth, theme]);
  const key = session.cell.value?.s;
  const seconds = picture.S * step;
  return (
    <div
      class="spectrogram"
      role="img"
      aria-label={own.spectrogram(seconds.toFixed(1))}
      style={px({ left: x, top: y + matrixHeight + SPECTROGRAM.gap, width: matrixWidth, height: SPECTROGRAM.height })}
    >
      <canvas ref={canvas} aria-hidden="true" />
      {key !== undefined && <span class="at-key" style={px({ left: key * cell, width: Math.max(cell, 1) })} />}
      {ticksOf(seconds, matrixWidth).map(({ text, at }) => (
        <span key={text} class="tick-time" style={px({ left: at })}>
          {text}
        </span>
      ))}
    </div>
  );
}

/** Returns the labels of times that have room. */
function ticksOf(seconds: number, width: number) {
  const step = STEPS.find((step) => (step / seconds) * width >= MIN_DISTANCE) ?? STEPS[STEPS.length - 1];
  const count = Math.floor(seconds / step) + 1;
  return Array.from({ length: count }, (_, i) => ({
    text: `${i === 0 ? 0 : (i * step).toFixed(step < 1 ? 1 : 0)} s`,
    at: ((i * step) / seconds) * width,
  })).filter(({ at }) => at + LABEL <= width || at === 0);
}

function paint(canvas: HTMLCanvasElement, { data, bins, columns }: Levels, width: number, ink: string) {
  const context = sized(canvas, width, SPECTROGRAM.strip);
  const image = new ImageData(columns, bins);
  for (let bin = 0; bin < bins; bin++)
    for (let i = 0; i < columns; i++) image.data[4 * ((bins - 1 - bin) * columns + i) + 3] = data[bin * columns + i];
  const small = Object.assign(document.createElement('canvas'), { width: columns, height: bins });
  small.getContext('2d')?.putImageData(image, 0, 0);
  context.drawImage(small, 0, 0, width, SPECTROGRAM.strip);
  // The image becomes the opacity of the ink.
  context.globalCompositeOperation = 'source-in';
  context.fillStyle = ink;
  context.fillRect(0, 0, width, SPECTROGRAM.strip);
  context.globalCompositeOperation = 'source-over';
}
