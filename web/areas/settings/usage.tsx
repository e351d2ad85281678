/** Usage in the billing period, and quotas */
import { useState } from 'preact/hooks';
import type { getQuotas, setQuotas } from '../../../api/groups/usage/quotas.ts';
import type { getUsage } from '../../../api/groups/usage/show.ts';
import { renderKnownNumber } from '../../charts/render-number.tsx';
import { formatQuantity } from '../../charts/values.ts';
import { Action } from '../../client/action.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { Skeleton } from '../../components/skeleton.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute, formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { UsageOverTime } from './usage-over-time.tsx';

type Quotas = ResponseBody<typeof getQuotas>;
const gibibyte = 1024 ** 3;

const parseGibibytes = (text: FormDataEntryValue | null): number | null =>
  text === null || String(text).trim() === '' ? null : Math.round(Number(text) * gibibyte);
const formatGibibytes = (bytes: number | null): string => (bytes === null ? '' : String(bytes / gibibyte));

const windows = { day: 'Daily', month: 'Monthly' } as const;
const thresholds = { warnBytes: 'warning', rejectBytes: 'limit' } as const;

const setCall = declareCall<typeof setQuotas>('PUT', '/api/usage/quotas');

/** Form for the total quotas; quotas of single telemetry signals remain unchanged */
const QuotaForm = ({ quotas }: { readonly quotas: Quotas }) => {
  const [action] = useState(() => new Action(setCall));
  const save = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const readWindow = (window: keyof typeof windows) => ({
      ...quotas[window],
      total: {
        ...quotas[window].total,
        warnBytes: parseGibibytes(formData.get(`${window} warnBytes`)),
        rejectBytes: parseGibibytes(formData.get(`${window} rejectBytes`)),
      },
    });
    if ((await action.run({ body: { day: readWindow('day'), month: readWindow('month') } })) !== undefined) refresh();
  };
  return (
    <ActionForm action={action} label="Set quotas" onSubmit={save}>
      {(['day', 'month'] as const).flatMap((window) =>
        Object.entries(thresholds).map(([name, title]) => (
          <label key={`${window} ${name}`}>
            {windows[window]} {title} (GiB){' '}
            <input
              name={`${window} ${name}`}
              inputMode="decimal"
              defaultValue={formatGibibytes(quotas[window].total[name as keyof typeof thresholds] ?? null)}
              autocomplete="off"
            />
          </label>
        )),
      )}
    </ActionForm>
  );
};

const formatLimit = (value: number | null): string => (value === null ? 'no limit' : formatQuantity(value, 'By'));

const QuotaTable = ({ quotas }: { readonly quotas: Quotas }) => (
  <table class="figures">
    <TableHeader columns={['Quota', 'Used', 'Warns above', 'Rejects above', 'Set by', 'State', 'Resets at']} />
    <tbody>
      {quotas.states.map(({ window, scope, usedBytes, warnBytes, rejectBytes, setBy, state, resetsAt }) => (
        <tr key={`${window} ${scope}`}>
          <td>
            {scope} per {window}
          </td>
          <td>{formatLimit(usedBytes)}</td>
          <td>{formatLimit(warnBytes)}</td>
          <td>{formatLimit(rejectBytes)}</td>
          <td>{setBy}</td>
          <td class={state === 'ok' ? '' : 'text-error'}>{state}</td>
          <td>{formatIsoMinute(resetsAt)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

export const Usage = () => {
  const queryState = useQuery(declareCall<typeof getUsage>('GET', '/api/usage'), { query: {} });
  const { response, error } = queryState;
  const quotasQuery = useQuery(declareCall<typeof getQuotas>('GET', '/api/usage/quotas'), {});
  return (
    <>
      <ScrollRegion class="scrolled" label="Usage">
        <ErrorMessage error={error} />
        {response === undefined ? (
          error === undefined ? (
            <Skeleton height={222} />
          ) : null
        ) : (
          <>
            <p>
              Plan <b>{renderText(response.plan.name)}</b>, from {formatIsoTime(response.period.from).slice(0, 10)} to{' '}
              {formatIsoTime(response.period.to).slice(0, 10)}. {formatQuantity(response.today.bytes, 'By')} today,{' '}
              {response.today.limitBytes === null
                ? 'unlimited'
                : `limit ${formatQuantity(response.today.limitBytes, 'By')}`}
              .
            </p>
            <table class="figures">
              <TableHeader
                columns={['Signal', 'Records', 'Bytes', 'Stored records', 'Dead letters', 'Projected bytes']}
              />
              <tbody>
                {Object.entries({ ...response.signals, total: response.total }).map(([name, volume]) => (
                  <tr key={name}>
                    <td>{name}</td>
                    <td>{formatQuantity(volume.accepted.records, '')}</td>
                    <td>{formatQuantity(volume.accepted.bytes, 'By')}</td>
                    <td>{formatQuantity(volume.landed.records, '')}</td>
                    <td>{formatQuantity(volume.deadLettered.records, '')}</td>
                    <td>{renderKnownNumber(volume.forecast.bytes, 'By')}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </>
        )}
        <UsageOverTime />
        <h2>Quotas</h2>
        <ErrorMessage error={quotasQuery.error} />
        {quotasQuery.response === undefined ? null : (
          <>
            {quotasQuery.response.states.length === 0 ? (
              <p class="soft">No quotas.</p>
            ) : (
              <QuotaTable quotas={quotasQuery.response} />
            )}
            {isPermitted(setCall) ? (
              <QuotaForm key={JSON.stringify(quotasQuery.response.day)} quotas={quotasQuery.response} />
            ) : null}
          </>
        )}
      </ScrollRegion>
      <Freshness queryState={queryState} />
    </>
  );
};
