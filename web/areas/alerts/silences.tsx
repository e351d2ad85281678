/** Active and future silences, and a form for a new one with the alerts that it would mute */
import { useEffect, useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { Paged } from '../../client/pages.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownTime } from '../../frame/shown-time.ts';
import { refresh, refreshes } from '../../frame/time-range.ts';
import { Scrolled } from '../../lists/scrolled.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { changeSilenceCall, expireCall, type Silence, silenceCall, silencesCall } from './calls.ts';
import { Muted } from './muted.tsx';
import { matchersIn, shownMatchers } from './shown.ts';
import { SilenceSpan } from './silence-span.tsx';

const list = new Paged(silencesCall, ({ items }) => items);

/** Extends a silence from now on. */
const Longer = ({ silence }: { readonly silence: Silence }) => {
  const [action] = useState(() => new Action(changeSilenceCall));
  const { id, version, matchers, startsAt, comment } = silence;
  const run = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const endsAt = new Date(Date.now() + Number(formData.get('hours')) * 3_600_000).toISOString();
    const body = { matchers, startsAt, endsAt, comment: String(formData.get('comment')) || (comment ?? '') };
    if ((await action.run({ params: { id }, body, ifMatch: version })) !== undefined) refresh();
  };
  return (
    <details>
      <summary>Change end</summary>
      <ActionForm action={action} label="Save" onSubmit={run}>
        <SilenceSpan />
      </ActionForm>
    </details>
  );
};

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
      {isPermitted(expireCall) ? (
        <td>
          <button type="button" class="plain" disabled={action.isRunning.value} onClick={() => void end()}>
            End now
          </button>
          <Problem error={action.error.value} />
          <Longer silence={silence} />
        </td>
      ) : null}
    </tr>
  );
};

const columns = ['Matchers', 'State', 'From', 'Until', 'Comment'];

const Found = () => {
  const { answer, isLoading } = list.first.state.value;
  if (answer === undefined) return <p class="said">{isLoading ? 'Loading…' : ''}</p>;
  const silences = list.items.value.filter(({ state }) => state !== 'expired');
  if (silences.length === 0)
    return (
      <p class="said" role="status">
        No active or scheduled silences.
      </p>
    );
  return (
    <table class="figures">
      <TableHeader columns={[...columns, ...(isPermitted(expireCall) ? ['Actions'] : [])]} />
      <tbody>
        {silences.map((silence) => (
          <Line key={silence.id} silence={silence} />
        ))}
      </tbody>
    </table>
  );
};

const Write = () => {
  const [action] = useState(() => new Action(silenceCall));
  const [written, setWritten] = useState('');
  const matchers = matchersIn(written);
  const run = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const endsAt = new Date(Date.now() + Number(formData.get('hours')) * 3_600_000).toISOString();
    const made = await action.run({ body: { matchers, endsAt, comment: String(formData.get('comment')) } });
    if (made === undefined) return;
    form.reset();
    setWritten('');
    refresh();
  };
  return (
    <>
      <ActionForm action={action} label="Create silence" onSubmit={run}>
        <label>
          Matchers{' '}
          <input
            name="matchers"
            required={true}
            placeholder="team=shop, service=~ca.*"
            maxLength={4096}
            spellcheck={false}
            autocomplete="off"
            onChange={({ currentTarget }) => setWritten(currentTarget.value)}
          />
        </label>
        <SilenceSpan />
      </ActionForm>
      {matchers.length === 0 ? null : <Muted matchers={matchers} />}
    </>
  );
};

export const Silences = () => {
  useEffect(() => {
    list.load({ query: { limit: 100, sort: '-endsAt' } });
    return () => list.cancel();
  }, [refreshes.value]);
  return (
    <>
      {isPermitted(silenceCall) ? <Write /> : null}
      <Problem error={list.first.state.value.error} />
      <Scrolled class="scrolled" label="Silences">
        <Found />
      </Scrolled>
      <Freshness of={list.first.state.value} />
    </>
  );
};
