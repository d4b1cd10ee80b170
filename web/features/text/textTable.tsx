// The numbers of the view Text as a table, with a row for each token.

import { percentText, plain } from '../../model/numbers.ts';
import { shown } from '../../model/tokens.ts';
import { useSession } from '../../store/context.ts';
import type { Measured } from '../../store/measured/surprise.ts';
import { bitsOf } from './measured.ts';
import { otherName, textsIn } from './textState.ts';

export function TextTable({ measured }: { measured: Measured }) {
  const session = useSession();
  const own = textsIn(session);
  const { pieces, now, other } = measured;
  const [token, probability, bits, guess] = own.columns;
  const hasOther = other.some(Boolean);
  return (
    <div class="strip-box" id="picture" role="group" aria-label={own.title} tabIndex={0}>
      <table class="text-table">
        <thead>
          <tr>
            <th scope="col">{token}</th>
            <th scope="col">{probability}</th>
            <th scope="col">{bits}</th>
            {hasOther && <th scope="col">{`${bits}, ${otherName(session, measured)}`}</th>}
            <th scope="col">{guess}</th>
          </tr>
        </thead>
        <tbody lang="en">
          {pieces.map(({ name }, t) => (
            <tr key={t}>
              <th scope="row">{name}</th>
              <td>{now[t] ? percentText(now[t].probability) : '–'}</td>
              <td>{now[t] ? plain(bitsOf(now[t])) : '–'}</td>
              {hasOther && <td>{other[t] ? plain(bitsOf(other[t])) : '–'}</td>}
              <td>{now[t] ? shown(now[t].guesses[0].text).trim() : '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
