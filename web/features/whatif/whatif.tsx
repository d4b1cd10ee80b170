// The what-if line at the bottom of the page, with changes to the model and actions on the run.

import type { ComponentChildren } from 'preact';
import type { About } from '../../model/protocol/protocol.ts';
import { isChanged, runOf, UNCHANGED } from '../../model/runInput.ts';
import { placesIn } from '../../model/trace/places.ts';
import { useSession } from '../../store/context.ts';
import type { Kind } from '../../ui/layout.ts';
import { Opens, Unfolds } from '../../ui/popover.tsx';
import { CutLine } from '../circuit/feature.ts';
import { BrushLine } from '../mask/feature.ts';
import { Patched } from '../trace/feature.ts';
import { HeadScale, MaskMenu, PatchMenu, Replacement, Temperature, Threshold } from './controls.tsx';
import { Share } from './share.tsx';

/** kind: kind of the screen */
export function WhatIf({ kind }: { kind: Kind }) {
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  const about = session.about.value;
  if (session.brush.value) return <BrushLine kind={kind} />;
  if (about && !about.edits) return <Unchangeable about={about} />;
  const circuit = state.view === 'flow' && state.circuit !== null;
  const flow = state.view === 'flow' && !circuit;
  const isCut = circuit && (state.circuit?.cut.length ?? 0) > 0;
  const phone = kind === 'phone';
  // A narrow line has no room for the buttons that the menu has too.
  const isNarrow = phone || kind === 'tablet';
  const isPatched = placesIn(state.patch).length > 0;
  return (
    <section class="whatif" aria-label={words.whatIf}>
      {!phone && <span class="lead">{words.whatIf}</span>}
      {isPatched && <Patched />}
      {circuit && <CutLine kind={kind} />}
      {!(phone && (isPatched || isCut)) && <Temperature />}
      {flow && !isNarrow && <Threshold />}
      <Changes pins={isNarrow}>{flow && isNarrow && <Threshold />}</Changes>
      {!isNarrow && isChanged(runOf(state)) && <Reset />}
      {!isNarrow && <Pin />}
      <Share />
    </section>
  );
}

/** A menu of the less common changes. */
function Changes({ pins, children }: { pins: boolean; children: ComponentChildren }) {
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  return (
    <Opens around="changes" sign={<Unfolds name={words.changes} />} name={words.changes} look="opens">
      <div class="list up settings" role="group" aria-label={words.changes}>
        <HeadScale />
        <Replacement />
        {state.pinned && session.about.value?.kind !== 'layer' && <PatchMenu />}
        <MaskMenu />
        {children}
        {pins && <Pin />}
        <Reset />
      </div>
    </Opens>
  );
}

/** Pins the current run, with which later runs are compared, or unpins the pinned one. */
function Pin() {
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  if (session.about.value?.kind === 'weights') return null;
  const turn = () => session.update(state.pinned ? { pinned: null, patch: {} } : { pinned: runOf(state) });
  return (
    <button type="button" class="word pin" title={words.pinAbout} onClick={turn}>
      {state.pinned ? words.unpin : words.pin}
    </button>
  );
}

function Reset() {
  const session = useSession();
  const changed = isChanged(runOf(session.state.value));
  return (
    <button type="button" class="word" disabled={!changed} onClick={() => session.update(UNCHANGED)}>
      {session.words.value.reset}
    </button>
  );
}

/** The what-if line for a model that cannot be changed. It says why. */
function Unchangeable({ about }: { about: About }) {
  const session = useSession();
  const words = session.words.value;
  return (
    <section class="whatif" aria-label={words.whatIf}>
      <span class="reason">{about.folder ? words.open.folderNothing : words.open.nothingToAsk}</span>
      <Pin />
      <Share />
    </section>
  );
}
