/** Results of an SLO by calendar period */
import { useState } from 'preact/hooks';
import { type Answered, addressOf } from '../../client/call.ts';
import { ChoiceInput } from '../../editors/inputs.tsx';
import { Problem } from '../../frame/freshness.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Scrolled } from '../../lists/scrolled.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { reportCall } from './calls.ts';
import { Left, share } from './figures.tsx';

type Period = Answered<NonNullable<typeof reportCall.of>>['items'][number];

const periods = { day: 'days', week: 'weeks', month: 'months', quarter: 'quarters', year: 'years' } as const;
type Length = keyof typeof periods;

/** Start of the report for each period length; slices are stored for 800 days */
const since: Readonly<Record<Length, string>> = {
  day: 'now-14d',
  week: 'now-90d',
  month: 'now-365d',
  quarter: 'now-730d',
  year: 'now-800d',
};

const metOf = ({ isMet, hasEnded }: Period): string => {
  if (isMet === null) return 'no data';
  return `${isMet ? 'yes' : 'no'}${hasEnded ? '' : ', so far'}`;
};

export const Report = ({ id }: { readonly id: string }) => {
  const [period, setPeriod] = useState<Length>('month');
  const sent = { params: { id }, query: { period, from: since[period] } };
  const { answer, error } = useQuery(reportCall, sent);
  return (
    <>
      <ChoiceInput label="Period" options={periods} value={period} problem={undefined} onChange={setPeriod} />
      <Problem error={error} />
      {answer === undefined ? null : (
        <>
          <p class="soft">Time zone: {answer.timeZone}. Completed periods are final.</p>
          <Scrolled class="scrolled" label="Report">
            <table class="figures texts">
              <TableHeader
                columns={['From', 'Until', 'Target', 'Met', 'SLI', 'Budget remaining', 'Incidents', 'Frozen']}
              />
              <tbody>
                {answer.items.map((one) => (
                  <tr key={one.from}>
                    <td>{shownMoment(one.from).slice(0, 10)}</td>
                    <td>{shownMoment(one.to).slice(0, 10)}</td>
                    <td>{one.targetPct} %</td>
                    <td class={one.isMet === false ? 'text-error' : ''}>{metOf(one)}</td>
                    <td>{share(one.sli)}</td>
                    <td>
                      <Left percent={one.budget.remainingPct} />
                    </td>
                    <td>{one.incidents.length}</td>
                    <td>{one.revision === null ? 'no' : `revision ${one.revision}`}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scrolled>
          <a href={addressOf(reportCall, { ...sent, query: { ...sent.query, format: 'csv' } })} download={true}>
            Download as CSV
          </a>
        </>
      )}
    </>
  );
};
