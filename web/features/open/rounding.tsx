// The sentence on how much the weights in few bits change the attention of an opened model.

import type { About, Summary } from '../../model/protocol/protocol.ts';
import { useSession } from '../../store/context.ts';
import { texts as inEnglish } from './openPanel.en.ts';
import { texts as inChinese } from './openPanel.zh.ts';

export const canCompare = ({ about, summary }: { about: About; summary: Summary }) =>
  summary.kind === 'transformer' && summary.weights !== 'float32' && about.reads === 'text';

export function Rounding() {
  const { rounding, language, compareWeights, stopComparing } = useSession();
  const texts = (language.value === 'zh' ? inChinese : inEnglish).rounding;
  const shown = rounding.value;
  if (!shown)
    return (
      <button type="button" class="word" data-name="compare-weights" onClick={compareWeights}>
        {texts.compare}
      </button>
    );
  if (shown.is === 'reading')
    return (
      <p>
        <span role="status">{texts.reading}</span> {Math.round((100 * shown.read) / shown.total)}%{' '}
        <button type="button" class="word" onClick={stopComparing}>
          {texts.cancel}
        </button>
      </p>
    );
  return (
    <p role="status" data-name="rounding">
      {shown.is === 'measured' &&
        texts.measured(shown.tokens, (100 * shown.same).toFixed(1), changeText(shown.largest))}
      {shown.is === 'tooLarge' && texts.tooLarge}
      {shown.is === 'failed' && texts.failed(shown.message)}
    </p>
  );
}

/** 0.017, 8e-5, 0 */
const changeText = (x: number) => (x === 0 ? '0' : x < 0.001 ? x.toExponential(0) : x.toFixed(3));
