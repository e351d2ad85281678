/** One SLO: budget, burn rates, forecast, error budget policy, reports, and OpenSLO export */
import { Lines } from '../../charts/lines.tsx';
import { shownValue } from '../../charts/values.ts';
import { toArea } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { writtenRange } from '../../frame/time-range.ts';
import { Unfolded } from '../../frame/unfolded.tsx';
import { useQuery } from '../../frame/use-query.ts';
import { Fields } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { burnRateCall, forecastCall, type Slo, type Status, statusCall } from './calls.ts';
import { Exported } from './exported.tsx';
import { share } from './figures.tsx';
import { PolicyPart } from './policy.tsx';
import { Report } from './report.tsx';

const BurnRate = ({ id }: { readonly id: string }) => {
  const { from, to } = writtenRange.value;
  const { answer, error } = useQuery(burnRateCall, {
    params: { id },
    query: { from, to },
  });
  const items = answer?.items ?? [];
  return (
    <>
      <h3>Burn rate over {answer?.window ?? '1h'}</h3>
      <Problem error={error} />
      {items.length === 0 ? (
        <p class="soft">No values in this range.</p>
      ) : (
        <Lines
          title="Burn rate"
          unit=""
          steps={items.map(({ at }) => Date.parse(at))}
          stepMs={items.length < 2 ? 60_000 : Date.parse(items[1]?.at ?? '') - Date.parse(items[0]?.at ?? '')}
          lines={[{ name: 'burn rate', values: items.map(({ rate }) => rate ?? undefined) }]}
        />
      )}
    </>
  );
};

const Forecast = ({ id }: { readonly id: string }) => {
  const { answer, error } = useQuery(forecastCall, {
    params: { id },
  });
  if (answer === undefined) return <Problem error={error} />;
  const { runsOutAt, interval, breachChance, reason } = answer;
  if (reason !== null) return <p class="soft">No estimate of budget exhaustion: {shownText(reason)}</p>;
  return (
    <p>
      {runsOutAt === null
        ? 'The budget is not expected to run out.'
        : `The budget runs out at ${shownMoment(runsOutAt)}.`}
      {interval === null
        ? ''
        : ` 80 % interval: ${shownMoment(interval.from) || 'later'} to ${shownMoment(interval.to) || 'later'}.`}
      {breachChance === null
        ? ''
        : ` Probability of exhaustion within the window: ${Math.round(100 * breachChance)} %.`}
    </p>
  );
};

const SloStatus = ({ of: answer, targetPct }: { readonly of: Status; readonly targetPct: number | undefined }) => (
  <>
    {answer.error === null ? null : <p class="problem">{shownText(answer.error)}</p>}
    <Fields
      values={{
        SLI: share(answer.sli),
        target: `${targetPct} %`,
        good: shownValue(answer.good, ''),
        total: shownValue(answer.total, ''),
        'budget remaining': `${shownValue(answer.budget.remaining, '')} of ${shownValue(answer.budget.total, '')}${answer.budget.remainingPct === null ? '' : ` (${answer.budget.remainingPct.toFixed(1)} %)`}`,
        'measured until': shownMoment(answer.measuredUpTo),
        coverage: share(answer.coverage),
        window: `${shownMoment(answer.window.from)} to ${shownMoment(answer.window.to)}`,
      }}
    />
    <h3>Burn rate</h3>
    <table class="figures">
      <TableHeader columns={['Over', 'Burn rate', 'Good', 'Total']} />
      <tbody>
        {answer.burnRates.map(({ window, rate, good, total }) => (
          <tr key={window}>
            <td>{window}</td>
            <td class={rate !== null && rate > 1 ? 'text-error' : ''}>{rate === null ? 'no data' : rate.toFixed(2)}</td>
            <td>{good}</td>
            <td>{total}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </>
);

export const Details = ({ item }: { readonly item: Slo }) => {
  const { id, service, description = '', targetPct, enabled } = item;
  const { answer, error } = useQuery(statusCall, { params: { id } });
  return (
    <>
      <Problem error={error} />
      {enabled === false ? <p class="text-warn">This SLO is disabled: it is not measured and has no alerts.</p> : null}
      <p>{shownText(description, { lines: true })}</p>
      {service === undefined || service === '' ? null : (
        <ul class="links">
          <li>
            <Link to={toArea('/services', { service })}>{shownText(service)}</Link>
          </li>
        </ul>
      )}
      {answer === undefined ? null : <SloStatus of={answer} targetPct={targetPct} />}
      <Forecast id={id} />
      <BurnRate id={id} />
      <PolicyPart id={id} status={answer} />
      <Unfolded title="Report by calendar period">{() => <Report id={id} />}</Unfolded>
      <Unfolded title="As OpenSLO">{() => <Exported id={id} />}</Unfolded>
    </>
  );
};
