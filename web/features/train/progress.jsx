// The progress of training in the reading column: accuracy, loss and the roles of the heads.

import { useSession } from '../../ui/context.js';
import { Chart, HeadsChart } from './charts.jsx';
import { valueAt } from './curves.js';

/** All charts, with a common line at the current step. */
export function Charts({ compact = false }) {
  const session = useSession();
  const words = session.words.value;
  const { progress, curves, previousCurves, watch } = session.training;
  const now = progress.value;
  const all = curves.value;
  const step = now?.at ?? now?.steps ?? 0;
  const end = now?.end ?? 1;
  const right = valueAt(all.right, step);
  const previous = previousCurves.value;
  const shared = { step, end };
  return (
    <section class={`charts ${compact ? 'compact' : ''}`} aria-label={words.train.progress}>
      <h2 class="title">{right === undefined ? words.train.untrained : words.train.right(right)}</h2>
      <p class="how">{words.train.onUnseen}</p>
      <Chart
        {...shared}
        name={words.train.loss}
        marks={all.loss}
        before={previous?.loss}
        noisy
        text={(x) => x.toFixed(2)}
        about={words.train.lossAbout}
      />
      <Chart
        {...shared}
        name={words.train.rightUnseen}
        marks={all.right}
        before={previous?.right}
        most={1}
        text={words.train.percent}
        about={words.train.rightAbout}
      />
      {watch.value.length > 0 && <HeadsChart {...shared} curves={all} watch={watch.value} />}
      {previous && <p class="older">{words.train.older}</p>}
    </section>
  );
}

/** Accuracy and loss only, for a phone. */
export function ShortCharts() {
  const session = useSession();
  const words = session.words.value;
  const { progress, curves, previousCurves } = session.training;
  const now = progress.value;
  const step = now?.at ?? now?.steps ?? 0;
  const right = valueAt(curves.value.right, step);
  return (
    <section class="charts short" aria-label={words.train.progress}>
      <h2 class="title">{right === undefined ? words.train.untrained : words.train.right(right)}</h2>
      <p class="how">{words.train.onUnseenShort}</p>
      <Chart
        step={step}
        end={now?.end ?? 1}
        marks={curves.value.loss}
        before={previousCurves.value?.loss}
        name={words.train.loss}
        bare
        text={(x) => `${words.train.lossShort} ${x.toFixed(2)}`}
        about={words.train.lossAbout}
      />
    </section>
  );
}
