// The cost of switching off the chosen head: a fine line for each passage, and a mark at the mean.

import type { AtlasMap, AtlasRole } from '../../model/protocol/atlasProtocol.ts';
import { useSession } from '../../store/context.ts';
import { scaleOf } from './axes.ts';
import { bitsText } from './numbers.ts';
import { useAtlasTexts } from './texts.ts';

/** Width of the drawing in SVG units. The drawing is stretched to the width of the column. */
const WIDTH = 1000;

export function HeadCost({ map, role }: { map: AtlasMap; role: AtlasRole | null }) {
  const session = useSession();
  const texts = useAtlasTexts();
  const { layer, head } = session.state.value;
  const known = session.atlas.cost.value;
  const cost = known?.layer === layer && known.head === head ? known : null;
  const predicts = session.about.value?.guess === 'next';
  const isRunning = map.state === 'running' || map.state === 'paused';
  return (
    <div class="atlas-cost">
      <p>
        <b>{texts.off}</b> {cost && texts.linePerPassage}
      </p>
      {map.source === 'folder' && <p class="quiet-text">{texts.costFolder}</p>}
      {map.source !== 'folder' && !predicts && <p class="quiet-text">{texts.costNever}</p>}
      {map.source !== 'folder' && predicts && isRunning && <p class="quiet-text">{texts.costLater}</p>}
      {map.source !== 'folder' && predicts && !isRunning && !cost && (
        <button type="button" class="word strong" onClick={() => session.atlas.measure(layer, head, role)}>
          {texts.measure}
        </button>
      )}
      {cost && <Lines costs={cost.costs} mean={cost.mean} />}
      {cost && (
        <p>
          <b>{changeText(texts, cost.mean)}</b>
          {cost.holding !== null && holdingText(texts, cost.mean, cost.holding)}
        </p>
      )}
      {cost && cost.measured < cost.total && <p class="quiet-text">{texts.measuring(cost.measured, cost.total)}</p>}
    </div>
  );
}

function changeText(texts: ReturnType<typeof useAtlasTexts>, bits: number) {
  const size = bitsText(bits);
  return size === '0' ? texts.same : (bits < 0 ? texts.better : texts.worse)(size);
}

/** Returns the text for the cost where the head's rule holds. Compares with all rows only if the guesses differ. */
function holdingText(texts: ReturnType<typeof useAtlasTexts>, mean: number, holding: number) {
  const size = bitsText(holding);
  if (mean < 0 === holding < 0 && bitsText(mean) !== '0') return texts.whereHolds(size);
  return (holding < 0 ? texts.betterThere : texts.worseThere)(size);
}

function Lines({ costs, mean }: { costs: number[]; mean: number }) {
  const texts = useAtlasTexts();
  const { ticks, at } = scaleOf('cost', costs, 0, WIDTH);
  const step = Math.ceil(ticks.length / 4);
  const shown = ticks.filter((_, i) => i % step === 0);
  return (
    <div class="atlas-lines" aria-hidden="true">
      <svg viewBox={`0 0 ${WIDTH} 20`} preserveAspectRatio="none" aria-hidden="true">
        <line class="base" x1="0" x2={WIDTH} y1="10" y2="10" />
        {costs.map((cost, i) => (
          <line key={i} x1={at(cost)} x2={at(cost)} y1="4" y2="16" />
        ))}
        <line class="mean" x1={at(mean)} x2={at(mean)} y1="0" y2="20" />
      </svg>
      <p>
        {shown.map(({ value, at: x }, i) => (
          <span key={value} style={{ '--at': `${x / 10}%` }}>
            {value}
            {i === shown.length - 1 && ` ${texts.bits}`}
          </span>
        ))}
      </p>
    </div>
  );
}
