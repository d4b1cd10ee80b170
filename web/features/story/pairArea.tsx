// Draws the product of one query component and one key component as a rectangle, whose sides are the two components. A
// negative product is drawn as an outline.

import { plain } from '../../model/numbers.ts';
import { useTexts } from '../../store/context.ts';
import { px } from '../../ui/px.ts';
import { TEXTS } from './texts.ts';

export type Pair = { query: number; key: number };

/** Number of steps of the knob from zero to the original component, and from zero to each end. */
const [STEPS_TO_NUMBER, MAX_STEPS] = [20, 25];
/** y at which the line from the pair's column to the rectangle begins and ends, in CSS pixels. */
const [LINE_TOP, LINE_END] = [-8, 26];
/** In CSS pixels: maximum height above the axis, room below it and at the sides, and half the size of the knob. */
const [MAX_ABOVE, BELOW, SIDE, KNOB] = [140, 58, 16, 11];

export function PairArea({
  width,
  column,
  pair,
  value,
  names,
  isReady,
  onInput,
  onHold,
}: {
  width: number;
  /** x of the middle of the pair's column above */
  column: number;
  /** original components, before a change */
  pair: Pair;
  /** current component of the query */
  value: number;
  /** names of the two tokens */
  names: { query: string; key: string };
  /** false until the visitor has made a prediction */
  isReady: boolean;
  onInput: (value: number) => void;
  /** called with true when the knob is pressed, with false when it is released */
  onHold: (is: boolean) => void;
}) {
  const words = useTexts(TEXTS);
  const knobStep = pair.query / STEPS_TO_NUMBER;
  const unit = Math.min((width / 2 - SIDE) / (MAX_STEPS * knobStep), MAX_ABOVE / pair.key);
  const [middle, axis] = [width / 2, LINE_END + pair.key * unit];
  const [side, height] = [value * unit, pair.key * unit];
  const [left, isNegative] = [Math.min(side, 0), value < 0];
  const reach = MAX_STEPS * knobStep * unit;
  return (
    <div class={`pair-area ${isReady ? '' : 'waits'}`} style={px({ height: axis + BELOW })}>
      <svg width={width} height={axis + BELOW} aria-hidden="true">
        <path
          class="line"
          d={`M${column} ${LINE_TOP}C${column} ${LINE_END} ${middle} ${LINE_TOP} ${middle} ${LINE_END}`}
        />
        <path class="axis" d={`M${middle - reach} ${axis + 0.5}H${middle + reach}`} />
        <rect
          class={isNegative ? 'below-zero' : 'area'}
          x={middle + left}
          y={axis - height}
          width={Math.abs(side)}
          height={height}
        />
        <path class="key" d={`M${middle} ${axis}v${-height}`} />
        <path class="query" d={`M${middle} ${axis}h${side}`} />
        {value !== pair.query && <circle class="knob-before" cx={middle + pair.query * unit} cy={axis} r="6" />}
        <circle class="knob" cx={middle + side} cy={axis} r={KNOB} />
        <path class="arrows" d={`M${middle + side - 2} ${axis - 4}l-4 4l4 4m4 -8l4 4l-4 4`} />
        {Math.abs(side) > 44 && (
          <text class={isNegative ? 'product-below' : 'product-area'} x={middle + side / 2} y={axis - height / 2 + 6}>
            {plain(value * pair.key)}
          </text>
        )}
        <text class="query" x={middle + side / 2} y={axis + 30}>
          {plain(value)}
        </text>
        <text class="token" x={middle + side / 2} y={axis + 48}>
          {words.from(names.query)}
        </text>
        <g class={isNegative ? 'key-after' : 'key-before'}>
          <text class="key" x={middle + (isNegative ? 10 : -10)} y={axis - height / 2}>
            {plain(pair.key)}
          </text>
          <text class="token" x={middle + (isNegative ? 10 : -10)} y={axis - height / 2 + 18}>
            {words.from(names.key)}
          </text>
        </g>
      </svg>
      <input
        type="range"
        aria-label={words.knob(names.query)}
        aria-valuetext={plain(value)}
        min={-MAX_STEPS}
        max={MAX_STEPS}
        step="1"
        value={Math.round(value / knobStep)}
        disabled={!isReady}
        style={px({ left: middle - reach - KNOB, width: 2 * (reach + KNOB), top: axis - 22 })}
        onInput={({ currentTarget }) => {
          const steps = Number(currentTarget.value);
          onInput(steps === STEPS_TO_NUMBER ? pair.query : steps * knobStep);
        }}
        onPointerDown={() => onHold(true)}
        onPointerUp={() => onHold(false)}
        onPointerCancel={() => onHold(false)}
        onChange={() => onHold(false)}
      />
    </div>
  );
}
