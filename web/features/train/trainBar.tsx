// The controls of training: play, one step, start over, learning rate, sizes, save.

import { useRef } from 'preact/hooks';
import { HEADS, LAYERS, MAX_RATE, MIN_RATE, OWN_TEXT, SPEEDS, WIDTHS } from '../../model/training/settings.ts';
import { useSession } from '../../store/context.ts';
import type { Kind } from '../../ui/layout.ts';
import { Menu } from '../../ui/menu.tsx';
import { More } from '../../ui/popover.tsx';
import { Slider } from '../../ui/slider.tsx';
import { Lesson } from './lesson.tsx';
import { useTrainTexts } from './texts.ts';

const SPAN = [Math.log10(MIN_RATE), Math.log10(MAX_RATE)];
const toRate = (knob: number) => Number((10 ** knob).toPrecision(2));

export function TrainBar({ kind }: { kind: Kind }) {
  const session = useSession();
  const texts = useTrainTexts();
  const { training } = session;
  const now = training.progress.value;
  const { task } = session.state.value.training;
  const phone = kind === 'phone';
  const narrow = phone || kind === 'tablet';
  return (
    <section class="whatif trainbar" aria-label={texts.controls}>
      <Play />
      <Speed short={phone} />
      {phone ? <PhoneControls /> : <Controls narrow={narrow} />}
      <span class="actions">
        <button type="button" class="word strong" disabled={!now} onClick={training.readText}>
          {narrow ? texts.tryShort : task === OWN_TEXT ? texts.tryText : texts.tryIt}
        </button>
        {!narrow && <Save />}
      </span>
    </section>
  );
}

function PhoneControls() {
  return (
    <More name={useTrainTexts().settings}>
      <Lesson compact />
      <p>
        <OneStep /> <StartOver /> <Save />
      </p>
      <Rate />
      <Sizes />
    </More>
  );
}

/** `narrow`: true if the less common controls are in a menu. */
function Controls({ narrow }: { narrow: boolean }) {
  const texts = useTrainTexts();
  return (
    <>
      <span class="group in-wide">
        <OneStep /> <StartOver />
      </span>
      <Rate />
      {narrow ? (
        <More name={texts.settings}>
          <span class="group in-narrow">
            <OneStep /> <StartOver />
          </span>
          <Sizes /> <Save />
        </More>
      ) : (
        <Sizes />
      )}
    </>
  );
}

function Play() {
  const session = useSession();
  const texts = useTrainTexts();
  const { training } = session;
  const now = training.progress.value;
  const playing = now?.playing || training.replaying.value;
  // Before the first step the button has a name, because nothing else on the page says how to begin.
  const begins = now !== null && now.steps === 0 && !playing;
  return (
    <button
      type="button"
      class={`play ${begins ? 'begins' : ''}`}
      aria-label={playing ? texts.pause : texts.play}
      onClick={training.play}
    >
      <svg viewBox="0 0 20 20" aria-hidden="true">
        {playing ? (
          <path d="M6.600 5.500v9M13.400 5.500v9" />
        ) : (
          <path class="full" d="M7 4.500l8.500 5.500L7 15.500z" />
        )}
      </svg>
      {begins && <span aria-hidden="true">{texts.play}</span>}
    </button>
  );
}

/** A menu of the number of steps per second. */
function Speed({ short }: { short: boolean }) {
  const session = useSession();
  const texts = useTrainTexts();
  const { training } = session;
  const text = texts.perSecondShown(training.speed.value, short);
  return (
    <Menu
      up
      className="strong speed"
      name={`${texts.speed}: ${text}`}
      label={text.split(/(\d+)/).map((part) => (/\d/.test(part) ? <b key="number">{part}</b> : part))}
      items={SPEEDS.map((value) => ({
        key: String(value),
        label: texts.perSecond(value),
        chosen: value === training.speed.value,
        act: () => training.setSpeed(value),
      }))}
    />
  );
}

function OneStep() {
  const session = useSession();
  return (
    <button type="button" class="word strong" onClick={session.training.step}>
      {useTrainTexts().oneStep}
    </button>
  );
}

function StartOver() {
  const session = useSession();
  return (
    <button type="button" class="word strong" onClick={session.training.restart}>
      {useTrainTexts().again}
    </button>
  );
}

/** A slider for the learning rate, on a logarithmic scale. */
function Rate() {
  const session = useSession();
  const { rate } = session.state.value.training;
  return (
    <Slider
      label={useTrainTexts().rate}
      least={SPAN[0]}
      most={SPAN[1]}
      step={0.05}
      value={Math.log10(rate)}
      text={String(rate)}
      onInput={(knob: number) => session.training.setRate(toRate(knob))}
      onSettle={session.endGesture}
    />
  );
}

/** Menus for the layers, heads and width of the model. */
function Sizes() {
  const session = useSession();
  const texts = useTrainTexts();
  const { task, layers, heads, width } = session.state.value.training;
  // The sizes of a model that is fine-tuned cannot change.
  if (task === OWN_TEXT) return null;
  return (
    <span class="group">
      <Size name={texts.layers} choices={LAYERS} value={layers} field="layers" />
      {texts.of}
      <Size name={texts.heads} choices={HEADS} value={heads} field="heads" />
      <span class="comma">{texts.comma}</span>
      <Size name={texts.wide} choices={WIDTHS} value={width} field="width" />
    </span>
  );
}

function Size({
  name,
  choices,
  value,
  field,
}: {
  name: (size: number) => string;
  choices: readonly number[];
  value: number;
  field: 'layers' | 'heads' | 'width';
}) {
  const session = useSession();
  return (
    <Menu
      up
      name={name(value)}
      label={name(value)}
      items={choices.map((choice) => ({
        key: String(choice),
        label: name(choice),
        chosen: choice === value,
        act: () => choice !== value && session.training.choose({ [field]: choice }),
      }))}
    />
  );
}

/** A menu that saves the trained model in several formats, and opens a saved one. */
function Save() {
  const session = useSession();
  const texts = useTrainTexts();
  const { training } = session;
  const input = useRef(null as HTMLInputElement | null);
  const now = training.progress.value;
  const kept = training.savedModels.value.find(({ key }) => key === now?.key);
  return (
    <>
      <Menu
        up
        right
        className="strong"
        label={texts.save}
        name={texts.save}
        items={[
          { key: 'file', label: texts.file, about: texts.fileAbout, act: training.save },
          { key: 'folder', label: texts.folder, about: texts.folderAbout, act: training.saveFolder },
          { key: 'onnx', label: texts.onnx, about: texts.onnxAbout, act: training.saveOnnx },
          { key: 'open', label: texts.open, about: texts.openAbout, act: () => input.current?.click() },
          ...(kept
            ? [
                {
                  key: 'remove',
                  label: texts.remove,
                  about: texts.keptAbout(kept.steps),
                  act: () => training.removeSaved(kept.key),
                },
              ]
            : []),
        ]}
      />
      <input
        ref={input}
        class="hidden"
        type="file"
        accept=".safetensors"
        tabIndex={-1}
        aria-hidden="true"
        onChange={async ({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          if (file) training.loadFile(new Uint8Array(await file.arrayBuffer()));
          currentTarget.value = '';
        }}
      />
    </>
  );
}
