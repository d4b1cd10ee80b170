// The what-if line: changes to the model at the bottom of the page, and the actions pin, link and export.

import { isChanged, runOf, UNCHANGED } from '../../store/runInput.js';
import { useSession } from '../../ui/context.js';
import { later } from '../../ui/lazy.jsx';
import { More } from '../../ui/popover.jsx';
import { Colours } from '../heatmap/ramp.jsx';
import { Actions } from './actions.jsx';
import { HeadScale, MaskMenu, PatchMenu, Temperature, Threshold } from './controls.jsx';

const BrushLine = later(() => import('../mask/brushLine.jsx'), 'BrushLine');

/** @import { About } from '../../store/protocol.js' */
/** @typedef {'phone' | 'tablet' | 'tight' | 'narrow' | 'desk' | 'wide'} Kind of a layout, by the width of the page */

/** @param {{ kind: Kind, scant?: boolean }} props scant: there is no room even for all common controls */
export function WhatIf({ kind, scant = false }) {
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  const about = session.about.value;
  if (session.brush.value) return <BrushLine kind={kind} />;
  // In a narrow line the less common controls are in a menu.
  const tight = kind === 'tight' || kind === 'tablet';
  const small = kind === 'narrow' || tight;
  const flow = state.view === 'flow';
  if (about && !about.edits) return <Unchangeable about={about} small={small} />;
  if (kind === 'phone') return <PhoneLine />;
  if ((tight && (flow || scant)) || (small && state.pinned)) return <TightLine scant={scant} />;
  const changed = isChanged(runOf(state));
  // Without a pinned run there is nothing to patch from: then the reset button has its room.
  const patching = state.pinned || !(small || (kind === 'desk' && changed));
  return (
    <section class="whatif" aria-label={words.whatIf}>
      {!small && <span class="lead">{words.whatIf}</span>}
      <Temperature />
      <MaskMenu />
      <HeadScale labelled={!scant} />
      {flow ? <Threshold /> : patching && about?.kind !== 'layer' && <PatchMenu />}
      {!tight && changed && (
        <button type="button" class="word" onClick={() => session.update(UNCHANGED)}>
          {words.reset}
        </button>
      )}
      <Actions small={tight || (kind === 'narrow' && flow)} />
    </section>
  );
}

/** The line of a model that cannot be changed: the reason. @param {{ about: About, small: boolean }} props */
function Unchangeable({ about, small }) {
  const session = useSession();
  const words = session.words.value;
  /** @type {Record<string, string>} */
  const reasons = { weights: words.open.nothingToAsk, transformer: words.open.pairNothing };
  return (
    <section class="whatif" aria-label={words.whatIf}>
      <span class="reason">{about.folder ? words.open.folderNothing : reasons[about.kind]}</span>
      <Actions small={small} />
    </section>
  );
}

function PhoneLine() {
  const session = useSession();
  const words = session.words.value;
  const flow = session.state.value.view === 'flow';
  return (
    <section class="whatif" aria-label={words.whatIf}>
      <Temperature />
      <HeadScale labelled={false} half={false} />
      <More>
        <MaskMenu />
        {flow && <Threshold />}
        <PatchMenu />
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
}

/** @param {{ scant: boolean }} props */
function TightLine({ scant }) {
  const session = useSession();
  const words = session.words.value;
  const flow = session.state.value.view === 'flow';
  return (
    <section class="whatif" aria-label={words.whatIf}>
      {flow ? <Threshold /> : <Temperature />}
      <MaskMenu />
      <HeadScale labelled={!scant} />
      <More>
        {flow && <Temperature />}
        <PatchMenu />
        <Actions small />
      </More>
    </section>
  );
}
