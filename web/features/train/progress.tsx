// The progress of training in the reading column: accuracy, loss and the roles of the heads.

import { OWN_TEXT } from '../../model/training/settings.ts';
import { useSession } from '../../store/context.ts';
import { valueAt } from './chartLines.ts';
import { Chart, HeadsChart } from './charts.tsx';
import { useTrainTexts } from './texts.ts';
import { WhatChanged } from './whatChanged.tsx';

/** All charts, with a common line at the current step; for a model that is fine-tuned, its changes. */
export function Charts({ compact = false, phone = false }: { compact?: boolean; phone?: boolean }) {
  const session = useSession();
  return session.state.value.training.task === OWN_TEXT ? (
    <WhatChanged phone={phone} />
  ) : (
    <TaskCharts compact={compact} />
  );
}

function TaskCharts({ compact }: { compact: boolean }) {
  const session = useSession();
  const texts = useTrainTexts();
  const { progress, curves, previousCurves, watch } = session.training;
  const now = progress.value;
  const all = curves.value;
  const step = now?.at ?? now?.steps ?? 0;
  const end = now?.end ?? 1;
  const right = valueAt(all.right, step);
  const previous = previousCurves.value;
  const shared = { step, end };
  return (
    <section class={`charts ${compact ? 'compact' : ''}`} aria-label={texts.progress}>
      <h2 class="title">{right === undefined ? texts.untrained : texts.right(right)}</h2>
      <p class="how">{texts.onUnseen}</p>
      <Chart
        {...shared}
        name={texts.loss}
        marks={all.loss}
        before={previous?.loss}
        noisy
        text={(x) => x.toFixed(2)}
        about={texts.lossAbout}
      />
      <Chart
        {...shared}
        name={texts.rightUnseen}
        marks={all.right}
        before={previous?.right}
        most={1}
        text={texts.percent}
        about={texts.rightAbout}
      />
      {watch.value.length > 0 && <HeadsChart {...shared} curves={all} watch={watch.value} />}
      {previous && <p class="older">{texts.older}</p>}
    </section>
  );
}

export function ShortCharts() {
  const session = useSession();
  const texts = useTrainTexts();
  const { progress, curves, previousCurves, changes } = session.training;
  const now = progress.value;
  const step = now?.at ?? now?.steps ?? 0;
  const right = valueAt(curves.value.right, step);
  return (
    <section class="charts short" aria-label={texts.progress}>
      <h2 class="title">{right === undefined ? texts.untrained : texts.right(right)}</h2>
      <p class="how">{changes.value?.loss === null ? texts.onText : texts.onUnseenShort}</p>
      <Chart
        step={step}
        end={now?.end ?? 1}
        marks={curves.value.loss}
        before={previousCurves.value?.loss}
        name={texts.loss}
        bare
        text={(x) => `${texts.lossShort} ${x.toFixed(2)}`}
        about={texts.lossAbout}
      />
    </section>
  );
}
