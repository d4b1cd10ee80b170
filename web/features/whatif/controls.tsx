// The controls of the what-if line. Each control changes one field of the state in the current scope.

import {
  effective,
  hasMean,
  KNOB,
  placeIn,
  placeOfLayer,
  replacementOf,
  shownPart,
  temperatureText,
  toKnob,
  toTemperature,
  withPlace,
} from '../../model/modelEdits.ts';
import { matrixOf } from '../../model/viewRules.ts';
import { useSession } from '../../store/context.ts';
import { Menu } from '../../ui/menu.tsx';
import { Slider } from '../../ui/slider.tsx';
import { Scopes } from './scopes.tsx';

const WINDOWS = ['0', '1', '3', '7'];
const SCALES = [
  ['on', 1],
  ['half', 0.5],
  ['off', 0],
] as const;

export function Temperature() {
  const session = useSession();
  const state = session.state.value;
  const { head, scope } = state;
  const layer = placeOfLayer(session);
  const place = placeIn(scope, layer, head);
  const temperature = effective(state.temperature, layer, head, 1);
  return (
    <Slider
      label={session.words.value.temperature}
      least={-KNOB.span}
      most={KNOB.span}
      step={KNOB.step}
      value={toKnob(temperature)}
      text={temperatureText(temperature)}
      onInput={(knob: number) =>
        session.update(
          { temperature: withPlace(state.temperature, place, toTemperature(knob), 1) },
          `temperature ${place}`,
        )
      }
      onSettle={session.endGesture}
    />
  );
}

/** A menu of the mask and its scope. For a model that is not causal the masks have other names. */
export function MaskMenu() {
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  const { head, scope } = state;
  const layer = placeOfLayer(session);
  const place = placeIn(scope, layer, head);
  const mask = effective(state.mask, layer, head, 'causal');
  const painted = Boolean(effective(state.painted, layer, head, ''));
  const about = session.about.value;
  const own = about && !about.causal;
  /** Returns the text of a mask, by its name or by the size of its window. */
  const textOf: (texts: { window: (n: number) => string }, renamed: Record<string, string>, name: string) => string = (
    texts,
    renamed,
    name,
  ) => (texts as unknown as Record<string, string>)[own ? renamed[name] : name] ?? texts.window(Number(name));
  const nameOf = (name: string) => textOf(words.masks, { causal: 'none', past: 'causal' }, name);
  const aboutOf = (name: string) => textOf(words.masksAbout, { causal: 'own', past: 'causal' }, name);
  // In cross-attention only one mask applies, because the tokens of the encoder are neither before nor after those of
  // the decoder.
  const others = shownPart(about, state) === 'cross' ? [] : [own ? 'past' : 'none', ...WINDOWS];
  const masks = ['causal', ...others].map((name) => ({
    key: name,
    label: nameOf(name),
    about: aboutOf(name),
    chosen: name === mask,
    act: () => session.update({ mask: withPlace(state.mask, place, name, 'causal') }),
  }));
  const brush = {
    key: 'brush',
    label: words.masks.brush,
    about: words.masksAbout.brush,
    act() {
      const matrix = matrixOf(session.run.value);
      if (state.view !== matrix) session.update({ view: matrix });
      session.startBrush('hide');
    },
  };
  return (
    <span class="group">
      <span class="label">{words.mask}</span>
      <Menu
        up
        name={`${words.mask}: ${nameOf(mask)}`}
        label={painted ? words.masks.painted(nameOf(mask)) : nameOf(mask)}
        items={[...masks, brush]}
      />
      <span class="label">{words.in}</span>
      <Scopes name={words.scopeOf} />
    </span>
  );
}

/** Sets the factor on this head's output to 1, 0.5 or 0. */
export function HeadScale() {
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  const { head } = state;
  const layer = placeOfLayer(session);
  const scale = effective(state.scale, layer, head, 1);
  // While the pointer or the focus is on `off`, the prediction without the head is shown.
  const turn = (on: boolean) => () => session.setSwitchHover(on);
  const offPointed = {
    onPointerEnter: turn(true),
    onPointerLeave: turn(false),
    onFocus: turn(true),
    onBlur: turn(false),
  };
  return (
    <span class="choice" role="group" aria-label={words.thisHead}>
      <span class="label">{words.thisHead}</span>
      {SCALES.map(([name, value]) => (
        <button
          key={name}
          type="button"
          class="word"
          aria-pressed={scale === value}
          {...(value === 0 && offPointed)}
          onClick={() => session.update({ scale: withPlace(state.scale, `${layer}.${head}`, value, 1) })}
        >
          {words[name]}
        </button>
      ))}
    </span>
  );
}

/** Chooses what replaces the output of a head that is off. */
export function Replacement() {
  const session = useSession();
  const words = session.words.value;
  const about = session.about.value;
  if (!hasMean(about)) return null;
  const chosen = replacementOf(about, session.state.value);
  return (
    <span class="choice" role="group" aria-label={words.whenOff}>
      <span class="label">{words.whenOff}</span>
      {(['zero', 'mean'] as const).map((off) => (
        <button
          key={off}
          type="button"
          class="word"
          aria-pressed={chosen === off}
          onClick={() => session.update({ off })}
        >
          {words.replacements[off]}
        </button>
      ))}
    </span>
  );
}

/** Patches this head's output with the output in the pinned run. */
export function PatchMenu() {
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  const { head } = state;
  const layer = placeOfLayer(session);
  const patched = effective(state.patch, layer, head, 0) === 1;
  const label = patched ? words.patched : words.notPatched;
  const set = (value: number) => () => session.update({ patch: withPlace(state.patch, `${layer}.${head}`, value, 0) });
  return (
    <span class="group">
      <span class="label">{words.patch}</span>
      <Menu
        up
        name={`${words.patch}: ${label}`}
        label={label}
        items={[
          { key: 'no', label: words.notPatched, chosen: !patched, act: set(0) },
          { key: 'yes', label: words.patched, about: words.patchAbout, chosen: patched, act: set(1) },
        ]}
      />
    </span>
  );
}

/** A slider for the threshold of flow, below which contributions and compositions are not drawn. */
export function Threshold() {
  const session = useSession();
  const { hide } = session.state.value;
  return (
    <Slider
      label={session.words.value.hideBelow}
      least={0}
      most={0.5}
      step={0.01}
      value={hide}
      text={hide.toFixed(2)}
      onInput={(value: number) => session.update({ hide: value }, 'hide')}
      onSettle={session.endGesture}
    />
  );
}
