/** Service level objectives: how each stands, and one with its budget, burn rates and forecast. */
import type { getSloBurnRate, getSloForecast } from '../../../api/groups/slos/over-time.ts';
import type { sloResource } from '../../../api/groups/slos/slo.ts';
import type { getSloStatus } from '../../../api/groups/slos/status.ts';
import { Lines } from '../../charts/lines.tsx';
import { shownValue } from '../../charts/values.ts';
import { callOf, listOf, type ViewOf } from '../../client/call.ts';
import { toArea } from '../../frame/address.ts';
import { useAsked } from '../../frame/asked.ts';
import { Link } from '../../frame/link.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { Problem } from '../../frame/standing.tsx';
import { writtenRange } from '../../frame/time-range.ts';
import { Beside, Fields } from '../../lists/beside.tsx';
import { Heads } from '../../lists/heads.tsx';
import { listed } from '../../lists/listed.tsx';

type Slo = ViewOf<typeof sloResource>;

const share = (value: number | null): string => (value === null ? 'not known' : `${(100 * value).toFixed(3)} %`);

/** Below 0 the budget is overspent. */
const Left = ({ percent }: { readonly percent: number | null }) =>
  percent === null ? (
    <span class="soft">not known</span>
  ) : (
    <span class={percent < 0 ? 'text-error' : percent < 25 ? 'text-warn' : ''}>
      {percent.toFixed(1)} %{percent < 0 ? ' overspent' : ''}
    </span>
  );

const BurnRate = ({ id }: { readonly id: string }) => {
  const { from, to } = writtenRange.value;
  const { answer, error } = useAsked(callOf<typeof getSloBurnRate>('GET', '/api/slos/{id}/burn-rate'), {
    params: { id },
    query: { from, to },
  });
  const items = answer?.items ?? [];
  return (
    <>
      <h3>Burn rate over {answer?.window ?? '1h'}</h3>
      <Problem error={error} />
      {items.length === 0 ? (
        <p class="soft">There are no values in this range.</p>
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
  const { answer, error } = useAsked(callOf<typeof getSloForecast>('GET', '/api/slos/{id}/forecast'), {
    params: { id },
  });
  if (answer === undefined) return <Problem error={error} />;
  const { runsOutAt, interval, breachChance, reason } = answer;
  if (reason !== null) return <p class="soft">When the budget runs out is not known: {shownText(reason)}</p>;
  return (
    <p>
      {runsOutAt === null ? 'The budget lasts.' : `The budget runs out at ${shownMoment(runsOutAt)}.`}
      {interval === null
        ? ''
        : ` In 80 of 100 cases between ${shownMoment(interval.from) || 'later'} and ${shownMoment(interval.to) || 'later'}.`}
      {breachChance === null ? '' : ` That it runs out within the window: ${Math.round(100 * breachChance)} of 100.`}
    </p>
  );
};

const OpenSlo = ({
  id,
  item,
  onClose,
}: {
  readonly id: string;
  readonly item: Slo | undefined;
  readonly onClose: () => void;
}) => {
  const { answer, error } = useAsked(callOf<typeof getSloStatus>('GET', '/api/slos/{id}/status'), { params: { id } });
  const service = item?.service;
  return (
    <Beside label="Objective" title={item?.name ?? id} onClose={onClose}>
      <Problem error={error} />
      {item === undefined ? null : <p>{shownText(item.description ?? '', { lines: true })}</p>}
      {service === undefined || service === null || service === '' ? null : (
        <ul class="links">
          <li>
            <Link to={toArea('/services', { service })}>{shownText(service)}</Link>
          </li>
        </ul>
      )}
      {answer === undefined ? null : (
        <>
          {answer.error === null ? null : <p class="problem">{shownText(answer.error)}</p>}
          <Fields
            values={{
              ...{ indicator: share(answer.sli), target: item === undefined ? '' : `${item.targetPct} %` },
              ...{ good: shownValue(answer.good, ''), 'of all': shownValue(answer.total, '') },
              'budget left': `${shownValue(answer.budget.left, '')} of ${shownValue(answer.budget.total, '')}${answer.budget.leftPct === null ? '' : ` (${answer.budget.leftPct.toFixed(1)} %)`}`,
              ...{ 'measured up to': shownMoment(answer.measuredUpTo), coverage: share(answer.coverage) },
              window: `${shownMoment(answer.window.from)} to ${shownMoment(answer.window.to)}`,
            }}
          />
          <h3>How fast the budget is spent</h3>
          <table class="figures">
            <Heads columns={['Over', 'Times faster than it may', 'Good', 'Of all']} />
            <tbody>
              {answer.burnRates.map(({ window, rate, good, total }) => (
                <tr key={window}>
                  <td>{window}</td>
                  <td class={rate !== null && rate > 1 ? 'text-error' : ''}>
                    {rate === null ? 'not known' : rate.toFixed(2)}
                  </td>
                  <td>{good}</td>
                  <td>{total}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
      <Forecast id={id} />
      <BurnRate id={id} />
    </Beside>
  );
};

const List = listed({
  title: 'Objectives',
  call: listOf<typeof sloResource>('/api/slos'),
  search: 'words of a name',
  sent: { sort: 'name' },
  nothing: 'There are no objectives.',
  keyOf: ({ id }) => id,
  columns: {
    Objective: ({ name }) => name,
    Service: ({ service }) => service,
    Target: ({ targetPct }) => `${targetPct} %`,
    'Over days': ({ windowDays }) => windowDays,
    Indicator: ({ standing }) => share(standing?.sli ?? null),
    'Budget left': ({ standing }) => <Left percent={standing?.budget.leftPct ?? null} />,
  },
  numbers: ['Target', 'Over days', 'Indicator', 'Budget left'],
  Open: OpenSlo,
});

export const Slos = () => (
  <div class="logs">
    <h1 class="sr-only">Objectives</h1>
    <List />
  </div>
);
