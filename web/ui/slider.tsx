// A range input, drawn as a line with a knob.

export function Slider({
  label,
  value,
  text,
  least,
  most,
  step,
  onInput,
  onSettle,
}: {
  label: string;
  value: number;
  /** the value as a text, which is shown and spoken */
  text: string;
  least: number;
  most: number;
  step: number | 'any';
  onInput: (value: number) => void;
  /** called when the knob is released */
  onSettle?: () => void;
}) {
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
