// The reading column of a circuit: how much of the prediction a number of edges keeps, the curve of that share, and the
// list of edges. If edges are cut, it shows how the prediction changed.

import { type Circuit, costOf, curveOf, FEW, isTooLarge } from '../../model/circuit/shownLines.ts';
import { signed, weightText } from '../../model/numbers.ts';
import type { CircuitCuts, CircuitWork } from '../../model/protocol/circuitProtocol.ts';
import { useSession } from '../../store/context.ts';
import { Track } from '../../ui/track.tsx';
import { CarriesMenu } from './carriesMenu.tsx';
import { change, nodeName, pointsText, settingsIn, textsIn, useCircuit } from './circuitState.ts';
import { Curve } from './curve.tsx';
import { LineList } from './lineList.tsx';

export function CircuitPanel() {
  const session = useSession();
  const own = textsIn(session);
  const shown = useCircuit();
  const cut = settingsIn(session).cut.length > 0;
  if (!shown || shown.circuit.begun.problem)
    return (
      <section class="reading circuit-panel">
        <CarriesMenu />
      </section>
    );
  const { circuit, lines, all, count } = shown;
  const { begun, cuts, work } = circuit;
  const { percent } = session.words.value;
  const points = own.points(begun.answers[0], percent(begun.whole.both[0]));
  return (
    <section class="reading circuit-panel" aria-label={own.list}>
      {cut && cuts ? <Cuts circuit={circuit} cuts={cuts} /> : <Kept circuit={circuit} count={count} />}
      <Curve circuit={circuit} count={count} />
      {work.stage !== 'done' && <Working work={work} />}
      <CarriesMenu />
      <LineList lines={lines} />
      {all.length > FEW && <HowMany few={lines.length < all.length} count={count} />}
      <p class="how">
        {points[0]}
        <i lang="en">{points[1]}</i>
        {points[2]}
        {circuit.needed.length > 0 && ` ${own.needed(circuit.needed.length)}`}
      </p>
    </section>
  );
}

/** Switches between the strongest lines (`few`) and all lines that are kept. */
function HowMany({ few, count }: { few: boolean; count: number }) {
  const session = useSession();
  const own = textsIn(session);
  return (
    <p class="circuit-how-many">
      <button
        type="button"
        class="word"
        data-name="how-many"
        onClick={() => change(session, { lines: few ? count : null }, 'lines')}
      >
        {few ? own.all(count) : own.strongest(FEW)}
      </button>
    </p>
  );
}

function Kept({ circuit, count }: { circuit: Circuit; count: number }) {
  const own = textsIn(useSession());
  const { begun } = circuit;
  const curve = curveOf(circuit);
  const point = curve.find((one) => one.count === count);
  if (isTooLarge(circuit)) {
    const last = curve[curve.length - 1];
    return <h2 class="title">{own.tooLarge(last.count, Math.round(100 * last.kept))}</h2>;
  }
  return (
    <>
      <h2 class="title" data-name="kept">
        {point ? own.keep(count, Math.round(100 * point.kept)) : own.title}
      </h2>
      {point && (
        <p class="circuit-about">
          {own.keepOf(begun.paired)}
          <i lang="en">{begun.answers[0]}</i>
          {own.others(begun.total - count)}
        </p>
      )}
    </>
  );
}

function Working({ work: { stage, done, total, left } }: { work: CircuitWork }) {
  const session = useSession();
  const own = textsIn(session);
  const running = session.circuit.running.value;
  const text = own.stages[stage](done, total);
  return (
    <p class="circuit-work">
      <span>{text}</span>
      {running && left !== null && <span>{own.left(Math.max(Math.ceil(left), 1))}</span>}
      <button
        type="button"
        class="word strong"
        onClick={() => (running ? session.circuit.stop() : session.circuit.again())}
      >
        {running ? own.stop : own.goOn}
      </button>
      <progress class="progress-line" max={total} value={done} aria-label={text} />
    </p>
  );
}

function Cuts({ circuit, cuts }: { circuit: Circuit; cuts: CircuitCuts }) {
  const session = useSession();
  const own = textsIn(session);
  const { begun, lines } = circuit;
  const last = lines.find(({ name }) => name === cuts.cut[cuts.cut.length - 1]);
  const { looks, sourceOff, now } = cuts;
  const lead = own.lead;
  const says = last && own.noLonger(nodeName(own, last.from), nodeName(own, last.to));
  return (
    <>
      <h2 class="title" data-name="cuts">
        {own.cuts(cuts.cut.length)}
      </h2>
      {says && (
        <p class="circuit-about">
          <b>{says[0]}</b>
          {says[1]}
          <span class={last.to.kind}>{says[2]}</span>
          {says[3]}
        </p>
      )}
      <Guesses circuit={circuit} cuts={cuts} />
      <dl class="circuit-facts">
        {begun.paired && (
          <div>
            <dt>
              {lead[0]}
              <i lang="en">{begun.answers[0]}</i>
              {lead[1]}
            </dt>
            <dd>
              {signed(begun.whole.value, 1)} → <b>{signed(now.value, 1)}</b>
            </dd>
          </div>
        )}
        {looks && (
          <div>
            <dt>
              {own.looks(own.head(looks.head.layer, looks.head.head))[0]}
              <i lang="en">{begun.pieces[looks.key].name}</i>
            </dt>
            <dd>
              {weightText(looks.before)} → <b>{weightText(looks.now)}</b>
            </dd>
          </div>
        )}
        {sourceOff && last && (
          <div>
            <dt>{own.off(nodeName(own, last.from))}</dt>
            <dd>{own.inPoints(pointsText(-costOf(sourceOff.both, begun.whole.both)).replace('+', ''))}</dd>
          </div>
        )}
      </dl>
      <p>
        <button type="button" class="word strong" onClick={() => change(session, { cut: [] })}>
          {own.reconnect}
        </button>
      </p>
    </>
  );
}

/** Shows the answers. A bar shows the probability with the cuts, a tick the probability without them. */
function Guesses({ circuit: { begun }, cuts }: { circuit: Circuit; cuts: CircuitCuts }) {
  const session = useSession();
  const own = textsIn(session);
  const { percent } = session.words.value;
  const list: { word: string; now: number; before: number | null }[] = begun.answers.map((word, i) => ({
    word,
    now: cuts.now.both[i],
    before: begun.whole.both[i],
  }));
  if (!begun.answers.includes(cuts.guess.text))
    list.push({ word: cuts.guess.text, now: cuts.guess.probability, before: null });
  return (
    <div class="circuit-guesses">
      <ul>
        {list.map(({ word, now, before }) => (
          <li key={word}>
            <span class="token" lang="en">
              {word}
            </span>
            <Track now={now} before={before} />
            <b>{percent(now)}</b>
          </li>
        ))}
      </ul>
      <p class="how">
        <span class="mark" />
        {own.before}
      </p>
    </div>
  );
}
