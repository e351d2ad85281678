/** Silences that hold or are to come. */
import { useEffect, useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { Paged } from '../../client/paged.ts';
import { may } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownTime } from '../../frame/shown-time.ts';
import { Freshness, Problem } from '../../frame/standing.tsx';
import { refresh, refreshes } from '../../frame/time-range.ts';
import { Heads } from '../../lists/heads.tsx';
import { Scrolled } from '../../lists/scrolled.tsx';
import { expireCall, type Silence, silencesCall } from './calls.ts';
import { shownMatchers } from './shown.ts';

const list = new Paged(silencesCall, ({ items }) => items);

const Line = ({ silence }: { readonly silence: Silence }) => {
  const [action] = useState(() => new Action(expireCall));
  const { id, state, startsAt, endsAt, comment } = silence;
  const end = async (): Promise<void> => {
    if ((await action.run({ params: { id } })) !== undefined) refresh();
  };
  return (
    <tr>
      <td>
        <bdi>{shownText(shownMatchers(silence))}</bdi>
      </td>
      <td>{state}</td>
      <td>{shownTime(Date.parse(startsAt))}</td>
      <td>{shownTime(Date.parse(endsAt))}</td>
      <td>{shownText(comment ?? '')}</td>
      {may(expireCall) ? (
        <td>
          <button type="button" class="plain" disabled={action.isRunning.value} onClick={() => void end()}>
            End now
          </button>
          <Problem error={action.error.value} />
        </td>
      ) : null}
    </tr>
  );
};

const columns = ['Mutes alerts with', 'State', 'From', 'Until', 'Because'];

const Found = () => {
  const { answer, isAsking } = list.first.standing.value;
  if (answer === undefined) return <p class="said">{isAsking ? 'Asking …' : ''}</p>;
  const silences = list.items.value.filter(({ state }) => state !== 'expired');
  if (silences.length === 0)
    return (
      <p class="said" role="status">
        No silence holds, and none is to come.
      </p>
    );
  return (
    <table class="figures">
      <Heads columns={[...columns, ...(may(expireCall) ? ['Change'] : [])]} />
      <tbody>
        {silences.map((silence) => (
          <Line key={silence.id} silence={silence} />
        ))}
      </tbody>
    </table>
  );
};

export const Silences = () => {
  useEffect(() => {
    list.ask({ query: { limit: 100, sort: '-endsAt' } });
    return () => list.cancel();
  }, [refreshes.value]);
  return (
    <>
      <Problem error={list.first.standing.value.error} />
      <Scrolled class="scrolled" label="Silences">
        <Found />
      </Scrolled>
      <Freshness of={list.first.standing.value} />
    </>
  );
};
