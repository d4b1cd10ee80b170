// The effect of a change on a run without predictions: the angle by which the hidden states turn, for the tokens that
// turn most.

import { isCompared } from '../../model/modelEdits.ts';
import { degrees } from '../../model/numbers.ts';
import { AblationButton } from '../../parts/ablation.tsx';
import { useSession, useTexts } from '../../store/context.ts';
import { Track } from '../../ui/track.tsx';
import { turned as en } from './turned.en.ts';
import { turned as zh } from './turned.zh.ts';

export { default as styles } from './turned.css';

export function Turned() {
  const session = useSession();
  const words = session.words.value;
  const texts = useTexts({ en, zh });
  const turned = session.turned.value;
  const { layer, head } = session.state.value;
  const isShown = turned && isCompared(turned, session.switchHover.value);
  const most = Math.max(...(turned?.most.map(({ angle }) => angle) ?? []), 1e-9);
  return (
    <section class="turned" aria-label={texts.title}>
      <h2>
        <b>{texts.title}</b>
        {isShown && ` ${texts.by(degrees(turned.mean))}`}
      </h2>
      {isShown ? (
        <>
          <p class="other">
            {turned.kind === 'without'
              ? words.other_without(words.headInText(layer, head))
              : words[`other_${turned.kind}`]}
          </p>
          <dl title={texts.about} aria-label={texts.most}>
            {turned.most.map(({ text, angle }, i) => (
              <div key={i}>
                <dt class="token">{text}</dt>
                <dd>
                  <Track now={angle} most={most} />
                  <b>{degrees(angle)}</b>
                </dd>
              </div>
            ))}
          </dl>
        </>
      ) : (
        <p>{texts.none}</p>
      )}
      <AblationButton />
    </section>
  );
}
