// A line with a knob: an input of the browser's, drawn as a line.

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
