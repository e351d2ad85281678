/** Report of an SLO by calendar period */
import { useState } from 'preact/hooks';
import { type ResponseBody, toUrl } from '../../client/call.ts';
import { RecordSelectInput } from '../../editors/inputs.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { useQuery } from '../../frame/use-query.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { reportCall } from './calls.ts';
import { BudgetRemaining, formatRatio } from './figures.tsx';

type Period = ResponseBody<NonNullable<typeof reportCall.operation>>['items'][number];

const periodTitles = { day: 'days', week: 'weeks', month: 'months', quarter: 'quarters', year: 'years' } as const;
type PeriodLength = keyof typeof periodTitles;

/** Start of the report by period length; time slices are stored for 800 days */
const reportStarts: Readonly<Record<PeriodLength, string>> = {
  day: 'now-14d',
  week: 'now-90d',
  month: 'now-365d',
  quarter: 'now-730d',
  year: 'now-800d',
};

const formatIsMet = ({ isMet, hasEnded }: Period): string => {
  if (isMet === null) return 'no data';
  return `${isMet ? 'yes' : 'no'}${hasEnded ? '' : ', so far'}`;
};

export const Report = ({ id }: { readonly id: string }) => {
  const [period, setPeriod] = useState<PeriodLength>('month');
  const request = { params: { id }, query: { period, from: reportStarts[period] } };
  const { response, error } = useQuery(reportCall, request);
  return (
    <>
      <RecordSelectInput
        label="Period"
        options={periodTitles}
        value={period}
        problem={undefined}
        onChange={setPeriod}
      />
      <ErrorMessage error={error} />
      {response === undefined ? null : (
        <>
          <p class="soft">Time zone: {response.timeZone}. Completed periods are final.</p>
          <ScrollRegion class="scrolled" label="Report">
            <table class="figures texts">
              <TableHeader
                columns={['From', 'Until', 'Target', 'Met', 'SLI', 'Budget remaining', 'Incidents', 'Frozen']}
              />
              <tbody>
                {response.items.map((item) => (
                  <tr key={item.from}>
                    <td>{formatIsoTime(item.from).slice(0, 10)}</td>
                    <td>{formatIsoTime(item.to).slice(0, 10)}</td>
                    <td>{item.targetPct} %</td>
                    <td class={item.isMet === false ? 'text-error' : ''}>{formatIsMet(item)}</td>
                    <td>{formatRatio(item.sli)}</td>
                    <td>
                      <BudgetRemaining percent={item.budget.remainingPct} />
                    </td>
                    <td>{item.incidents.length}</td>
                    <td>{item.revision === null ? 'no' : `revision ${item.revision}`}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </ScrollRegion>
          <a href={toUrl(reportCall, { ...request, query: { ...request.query, format: 'csv' } })} download={true}>
            Download as CSV
          </a>
        </>
      )}
    </>
  );
};
