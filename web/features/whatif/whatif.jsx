// What if: one line of changes to the model, and what one takes along.

import { useState } from 'preact/hooks';
import { isChanged, runOf, UNCHANGED } from '../../store/runInput.js';
import { useSession } from '../../ui/context.js';
import { later } from '../../ui/lazy.jsx';
import { Menu } from '../../ui/menu.jsx';
import { More } from '../../ui/popover.jsx';
import { Slider } from '../../ui/slider.jsx';
import { isEmbeddable, snippetOf } from '../export/embedSnippet.js';
import { Colours } from '../heatmap/legend.jsx';
import { matrixOf } from '../views.js';
import { effective, KNOB, placeIn, temperatureText, toKnob, toTemperature, withPlace } from './edits.js';
import { Scopes } from './scopes.jsx';

const BrushLine = later(() => import('../mask/brush.jsx'), 'BrushLine');

const WINDOWS = ['0', '1', '3', '7'];
const SCALES = /** @type {const} */ ([
  ['on', 1],
  ['half', 0.5],
  ['off', 0],
]);

/** Pixels of a picture that is saved, for each of the drawing's, beside two. */
const SHARPER = [1, 3, 4];

/** scant: there is not even room for everything that is often used. */
export function WhatIf({ kind, scant = false }) {
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  const { layer, head, scope } = state;
  const place = placeIn(scope, layer, head);
  const temperature = effective(state.temperature, layer, head, 1);
  const mask = effective(state.mask, layer, head, 'causal');
  const scale = effective(state.scale, layer, head, 1);
  const about = session.about.value;
  const patched = effective(state.patch, layer, head, 0) === 1;
  // A model that looks ahead by itself has no other mask by default.
  const own = about && !about.causal;
  if (session.brush.value) return <BrushLine kind={kind} />;
  const painted = Boolean(effective(state.painted, layer, head, ''));
  const maskName = (name) =>
    words.masks[own ? { causal: 'none', past: 'causal' }[name] : name] ?? words.masks.window(Number(name));
  const phone = kind === 'phone';
  /** Where there is little room, what is seldom used stands in the menu. */
  const tight = kind === 'tight' || kind === 'tablet';
  const small = kind === 'narrow' || tight;
  if (about && !about.edits)
    return (
      <section class="whatif" aria-label={words.whatIf}>
        <span class="told">
          {{ weights: words.open.nothingToAsk, transformer: words.open.pairNothing }[about.kind]}
        </span>
        <Actions small={small} />
      </section>
    );

  const setTemperature = (knob) =>
    session.update(
      { temperature: withPlace(state.temperature, place, toTemperature(knob), 1) },
      `temperature ${place}`,
    );
  const slider = (
    <Slider
      label={words.temperature}
      least={-KNOB.span}
      most={KNOB.span}
      step={KNOB.step}
      value={toKnob(temperature)}
      text={temperatureText(temperature)}
      onInput={setTemperature}
      onSettle={session.endGesture}
    />
  );
  const masks = (
    <span class="group">
      <span class="label">{words.mask}</span>
      <Menu
        up
        name={`${words.mask}: ${maskName(mask)}`}
        label={painted ? words.masks.painted(maskName(mask)) : maskName(mask)}
        items={[
          ...['causal', own ? 'past' : 'none', ...WINDOWS].map((name) => ({
            key: name,
            label: maskName(name),
            about:
              words.masksAbout[own ? { causal: 'own', past: 'causal' }[name] : name] ??
              words.masksAbout.window(Number(name)),
            chosen: name === mask,
            act: () => session.update({ mask: withPlace(state.mask, place, name, 'causal') }),
          })),
          {
            key: 'brush',
            label: words.masks.brush,
            about: words.masksAbout.brush,
            act() {
              const matrix = matrixOf(session.run.value);
              if (state.view !== matrix) session.update({ view: matrix });
              session.startBrush('hide');
            },
          },
        ]}
      />
      <span class="label">{words.in}</span>
      <Scopes name={words.scopeOf} />
    </span>
  );
  // What the guess would be is shown beside it.
  const turn = (on) => () => session.setSwitchHover(on);
  const offPointed = {
    onPointerEnter: turn(true),
    onPointerLeave: turn(false),
    onFocus: turn(true),
    onBlur: turn(false),
  };
  const scales = (
    <span class="choice" role="group" aria-label={words.thisHead}>
      {!phone && !scant && <span class="label">{words.thisHead}</span>}
      {SCALES.filter(([name]) => !phone || name !== 'half').map(([name, value]) => (
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
  const patches = (
    <span class="group">
      <span class="label">{words.patch}</span>
      <Menu
        up
        disabled={!state.pinned}
        name={`${words.patch}: ${!state.pinned ? words.nothingPinned : patched ? words.patched : words.notPatched}`}
        label={!state.pinned ? words.nothingPinned : patched ? words.patched : words.notPatched}
        items={[
          { key: 'no', label: words.notPatched, chosen: !patched, value: 0 },
          { key: 'yes', label: words.patched, about: words.patchAbout, chosen: patched, value: 1 },
        ].map(({ value, ...item }) => ({
          ...item,
          act: () => session.update({ patch: withPlace(state.patch, `${layer}.${head}`, value, 0) }),
        }))}
      />
    </span>
  );
  /** Beside what takes all changes back there is no room for what nothing can be taken from. */
  const patching = state.pinned || !(small || (kind === 'desk' && isChanged(runOf(state))));
  const flow = state.view === 'flow';
  const hide = (
    <Slider
      label={words.flow.hide}
      least={0}
      most={0.5}
      step={0.01}
      value={state.hide}
      text={state.hide.toFixed(2)}
      onInput={(value) => session.update({ hide: value }, 'hide')}
      onSettle={session.endGesture}
    />
  );
  if (phone)
    return (
      <section class="whatif" aria-label={words.whatIf}>
        {slider}
        {scales}
        <More>
          {masks}
          {flow && hide}
          {patches}
          {!flow && (
            <span class="group">
              <span class="label">{words.colours.name}</span>
              <Colours />
            </span>
          )}
          <Actions small />
        </More>
      </section>
    );
  if (tight && (flow || state.pinned || scant))
    return (
      <section class="whatif" aria-label={words.whatIf}>
        {flow ? hide : slider}
        {masks}
        {scales}
        <More>
          {flow && slider}
          {patches}
          <Actions small />
        </More>
      </section>
    );
  return (
    <section class="whatif" aria-label={words.whatIf}>
      {!small && <span class="lead">{words.whatIf}</span>}
      {slider}
      {masks}
      {scales}
      {flow ? hide : patching && about?.kind !== 'layer' && patches}
      {!tight && isChanged(runOf(state)) && (
        <button type="button" class="word" onClick={() => session.update(UNCHANGED)}>
          {words.reset}
        </button>
      )}
      <Actions small={tight || (kind === 'narrow' && flow)} />
    </section>
  );
}

function Actions({ small = false }) {
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  const [copied, setCopied] = useState(/** @type {string | null} */ (null));
  // A link holds no files: it finds an opened model only where it is open.
  const here = !session.models.includes(state.model);
  const put = async (content, good, bad) => {
    const done = await navigator.clipboard?.writeText(content).then(
      () => true,
      () => false,
    );
    const text = done ? good : bad;
    setCopied(text);
    session.announce(text);
    setTimeout(() => setCopied(null), 2000);
  };
  const copy = () =>
    put(
      `${location.href.split('#')[0]}#${session.address()}`,
      here ? words.copiedHere : words.copied,
      here ? words.linkHere : words.notCopied,
    );
  const embed = {
    key: 'embed',
    label: words.embed,
    about: words.embedAbout,
    act: () => put(snippetOf(state), words.copied, words.notPut),
  };
  const save = (kind, sharp, figures) =>
    import('../export/savePicture.js').then(({ exportAs }) => exportAs(kind, session, sharp, figures));
  return (
    <span class="actions">
      {session.about.value?.kind !== 'weights' && (
        <button
          type="button"
          class="word strong"
          title={words.pinAbout}
          aria-pressed={state.pinned !== null}
          onClick={() => session.update(state.pinned ? { pinned: null, patch: {} } : { pinned: runOf(state) })}
        >
          {state.pinned ? words.unpin : words.pin}
        </button>
      )}
      {!small && !session.embedded && (
        <button type="button" class="word strong" title={here ? words.linkHere : undefined} onClick={copy}>
          {copied ?? words.link}
        </button>
      )}
      <Menu
        up
        right
        className="strong"
        label={copied && small ? copied : words.export}
        name={words.export}
        items={[
          // In a narrow line they have no place of their own.
          ...(small
            ? [
                { key: 'reset', label: words.reset, act: () => session.update(UNCHANGED) },
                // Of another page's address the instrument knows nothing.
                ...(session.embedded ? [] : [{ key: 'link', label: words.link, act: copy }]),
              ]
            : []),
          ...Object.entries(words.exports)
            // Of weights alone there is nothing to compute them from.
            .filter(([kind]) => session.run.value?.values || !/^(mjs|py)$/.test(kind))
            .map(([kind, label]) => ({
              key: kind,
              label,
              act: () => save(kind),
              ...(kind === 'svg' && {
                more: [
                  {
                    key: 'svg-figures',
                    label: words.withFigures,
                    name: `${label}, ${words.withFigures}`,
                    act: () => save(kind, undefined, true),
                  },
                ],
              }),
              ...(kind === 'png' && {
                more: SHARPER.map((sharp) => ({
                  key: `png${sharp}`,
                  label: `${sharp}×`,
                  name: words.sharp(sharp),
                  act: () => save(kind, sharp),
                })),
              }),
            })),
          ...(isEmbeddable(state) ? [embed] : []),
        ]}
      />
    </span>
  );
}
