// A range input, drawn as a line with a knob.

/**
 * @param {object} props
 * @param {string} props.label
 * @param {number} props.value
 * @param {string} props.text the value as a text, which is shown and spoken
 * @param {number} props.least
 * @param {number} props.most
 * @param {number | 'any'} props.step
 * @param {(value: number) => void} props.onInput
 * @param {() => void} [props.onSettle] called when the knob is released
 */
export function Slider({ label, value, text, least, most, step, onInput, onSettle }) {
  return (
    <label class="slider">
      <span>{label}</span>
      <input
        type="range"
        min={least}
        max={most}
        step={step}
        value={value}
        aria-valuetext={text}
        onInput={(event) => onInput(Number(event.currentTarget.value))}
        onChange={onSettle}
        style={{ '--share': `${(100 * (value - least)) / (most - least)}%` }}
      />
      <b>{text}</b>
    </label>
  );
}
