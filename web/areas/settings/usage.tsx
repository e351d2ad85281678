/** Usage in the period of the plan, and quotas */
import { useState } from 'preact/hooks';
import type { getQuotas, setQuotas } from '../../../api/groups/usage/quotas.ts';
import type { getUsage } from '../../../api/groups/usage/show.ts';
import { knownNumber } from '../../charts/known.tsx';
import { shownValue } from '../../charts/values.ts';
import { Action } from '../../client/action.ts';
import { type Answered, callOf } from '../../client/call.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Scrolled } from '../../lists/scrolled.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { UsageOverTime } from './usage-over-time.tsx';

type Quotas = Answered<typeof getQuotas>;
const gibibyte = 1024 ** 3;

const inBytes = (text: FormDataEntryValue | null): number | null =>
  text === null || String(text).trim() === '' ? null : Math.round(Number(text) * gibibyte);
const inGibibytes = (bytes: number | null): string => (bytes === null ? '' : String(bytes / gibibyte));

const windows = ['day', 'month'] as const;
const thresholds = { warnBytes: 'warn above', rejectBytes: 'reject above' } as const;

const setCall = callOf<typeof setQuotas>('PUT', '/api/usage/quotas');

/** Thresholds of the total; those of single telemetry signals remain unchanged. */
const SetQuotas = ({ quotas }: { readonly quotas: Quotas }) => {
  const [action] = useState(() => new Action(setCall));
  const run = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const of = (window: (typeof windows)[number]) => ({
      ...quotas[window],
      total: {
        ...quotas[window].total,
        warnBytes: inBytes(formData.get(`${window} warnBytes`)),
        rejectBytes: inBytes(formData.get(`${window} rejectBytes`)),
      },
    });
    if ((await action.run({ body: { day: of('day'), month: of('month') } })) !== undefined) refresh();
  };
  return (
    <ActionForm action={action} label="Set quotas" onSubmit={run}>
      {windows.flatMap((window) =>
        Object.entries(thresholds).map(([name, title]) => (
          <label key={`${window} ${name}`}>
            A {window}: {title} (GiB){' '}
            <input
              name={`${window} ${name}`}
              inputMode="decimal"
              defaultValue={inGibibytes(quotas[window].total[name as keyof typeof thresholds] ?? null)}
              autocomplete="off"
            />
          </label>
        )),
      )}
    </ActionForm>
  );
};

const bytes = (value: number | null): string => (value === null ? 'no limit' : shownValue(value, 'By'));

const QuotaStates = ({ quotas }: { readonly quotas: Quotas }) => (
  <table class="figures">
    <TableHeader columns={['Quota', 'Used', 'Warns above', 'Rejects above', 'Set by', 'State', 'Resets at']} />
    <tbody>
      {quotas.states.map(({ window, scope, usedBytes, warnBytes, rejectBytes, setBy, state, resetsAt }) => (
        <tr key={`${window} ${scope}`}>
          <td>
            {scope} a {window}
          </td>
          <td>{bytes(usedBytes)}</td>
          <td>{bytes(warnBytes)}</td>
          <td>{bytes(rejectBytes)}</td>
          <td>{setBy}</td>
          <td class={state === 'ok' ? '' : 'text-error'}>{state}</td>
          <td>{shownMoment(resetsAt).slice(0, 16)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

export const Usage = () => {
  const queryState = useQuery(callOf<typeof getUsage>('GET', '/api/usage'), { query: {} });
  const { answer, error } = queryState;
  const known = useQuery(callOf<typeof getQuotas>('GET', '/api/usage/quotas'), {});
  return (
    <>
      <Scrolled class="scrolled" label="Usage">
        <Problem error={error} />
        {answer === undefined ? null : (
          <>
            <p>
              Plan <b>{shownText(answer.plan.name)}</b>, from {shownMoment(answer.period.from).slice(0, 10)} to{' '}
              {shownMoment(answer.period.to).slice(0, 10)}. Today {bytes(answer.today.bytes)} of{' '}
              {bytes(answer.today.limitBytes)}.
            </p>
            <table class="figures">
              <TableHeader
                columns={['Signal', 'Records', 'Bytes', 'Stored records', 'Dead letters', 'Projected bytes']}
              />
              <tbody>
                {Object.entries({ ...answer.signals, total: answer.total }).map(([name, volume]) => (
                  <tr key={name}>
                    <td>{name}</td>
                    <td>{shownValue(volume.accepted.records, '')}</td>
                    <td>{shownValue(volume.accepted.bytes, 'By')}</td>
                    <td>{shownValue(volume.landed.records, '')}</td>
                    <td>{shownValue(volume.deadLettered.records, '')}</td>
                    <td>{knownNumber(volume.forecast.bytes, 'By')}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </>
        )}
        <UsageOverTime />
        <h2>Quotas</h2>
        <Problem error={known.error} />
        {known.answer === undefined ? null : (
          <>
            {known.answer.states.length === 0 ? <p class="soft">No quotas.</p> : <QuotaStates quotas={known.answer} />}
            {isPermitted(setCall) ? <SetQuotas key={JSON.stringify(known.answer.day)} quotas={known.answer} /> : null}
          </>
        )}
      </Scrolled>
      <Freshness of={queryState} />
    </>
  );
};
