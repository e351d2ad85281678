/** Details of an SLO: status, burn rate, forecast, error budget policy, report and OpenSLO export */
import { LineChart } from '../../charts/lines.tsx';
import { formatQuantity } from '../../charts/values.ts';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { LazyDetails } from '../../frame/lazy-details.tsx';
import { Link } from '../../frame/link.tsx';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Fields } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { burnRateCall, forecastCall, type Slo, type Status, statusCall } from './calls.ts';
import { formatRatio } from './figures.tsx';
import { OpenSloExport } from './openslo-export.tsx';
import { ErrorBudgetPolicy } from './policy.tsx';
import { Report } from './report.tsx';

const BurnRate = ({ id }: { readonly id: string }) => {
  const { from, to } = timeRange.value;
  const { response, error } = useQuery(burnRateCall, {
    params: { id },
    query: { from, to },
  });
  const items = response?.items ?? [];
  return (
    <>
      <h3>Burn rate over {response?.window ?? '1h'}</h3>
      <ErrorMessage error={error} />
      {items.length === 0 ? (
        <p class="soft">No values in this range.</p>
      ) : (
        <LineChart
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
  const { response, error } = useQuery(forecastCall, {
    params: { id },
  });
  if (response === undefined) return <ErrorMessage error={error} />;
  const { runsOutAt, interval, breachChance, reason } = response;
  if (reason !== null) return <p class="soft">No forecast of the error budget: {renderText(reason)}</p>;
  return (
    <p>
      {runsOutAt === null
        ? 'The budget is not expected to run out.'
        : `The budget is expected to run out at ${formatIsoTime(runsOutAt)}.`}
      {interval === null
        ? ''
        : ` 80 % interval: ${formatIsoTime(interval.from) || 'later'} to ${formatIsoTime(interval.to) || 'later'}.`}
      {breachChance === null
        ? ''
        : ` Probability of exhaustion within the window: ${Math.round(100 * breachChance)} %.`}
    </p>
  );
};

const SloStatusSummary = ({
  status: answer,
  targetPct,
}: {
  readonly status: Status;
  readonly targetPct: number | undefined;
}) => (
  <>
    {answer.error === null ? null : <p class="problem">{renderText(answer.error)}</p>}
    {answer.hasNoData ? (
      <p class="problem">No slice of the window has data, so alerts cannot fire. Check the indicator and the slice.</p>
    ) : null}
    {answer.warnings.map((warning) => (
      <p key={warning} class="text-warn">
        {renderText(warning)}
      </p>
    ))}
    <Fields
      values={{
        SLI: formatRatio(answer.sli),
        target: `${targetPct} %`,
        good: formatQuantity(answer.good, ''),
        total: formatQuantity(answer.total, ''),
        'budget remaining': `${formatQuantity(answer.budget.remaining, '')} of ${formatQuantity(answer.budget.total, '')}${answer.budget.remainingPct === null ? '' : ` (${answer.budget.remainingPct.toFixed(1)} %)`}`,
        'measured until': formatIsoTime(answer.measuredUpTo),
        coverage: formatRatio(answer.coverage),
        window: `${formatIsoTime(answer.window.from)} to ${formatIsoTime(answer.window.to)}`,
      }}
    />
    <h3>Burn rate</h3>
    <table class="figures">
      <TableHeader columns={['Window', 'Burn rate', 'Good', 'Total']} />
      <tbody>
        {answer.burnRates.map(({ window, rate, good, total }) => (
          <tr key={window}>
            <td>{window}</td>
            <td class={rate !== null && rate > 1 ? 'text-error' : ''}>{rate === null ? 'no data' : rate.toFixed(2)}</td>
            <td>{formatQuantity(good, '')}</td>
            <td>{formatQuantity(total, '')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </>
);

export const SloDetails = ({ item }: { readonly item: Slo }) => {
  const { id, service, description = '', targetPct, enabled } = item;
  const { response, error } = useQuery(statusCall, { params: { id } });
  return (
    <>
      <ErrorMessage error={error} />
      {enabled === false ? <p class="text-warn">This SLO is disabled: it is not measured and has no alerts.</p> : null}
      <p>{renderText(description, { lines: true })}</p>
      {service === undefined || service === '' ? null : (
        <ul class="links">
          <li>
            <Link url={toArea('/services', { service })}>{renderText(service)}</Link>
          </li>
        </ul>
      )}
      {response === undefined ? null : <SloStatusSummary status={response} targetPct={targetPct} />}
      <Forecast id={id} />
      <BurnRate id={id} />
      <ErrorBudgetPolicy id={id} status={response} />
      <LazyDetails title="Report by calendar period">{() => <Report id={id} />}</LazyDetails>
      <LazyDetails title="As OpenSLO">{() => <OpenSloExport id={id} />}</LazyDetails>
    </>
  );
};
