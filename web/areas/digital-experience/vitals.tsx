/** Web vitals: percentile, rating and distribution, over time with the thresholds, and by group */
import { useMemo } from 'preact/hooks';
import { type TimeSeries, TimeSeriesChart } from '../../charts/time-series.tsx';
import { formatNumber } from '../../charts/values.ts';
import { Card } from '../../components/card.tsx';
import { SkeletonRows } from '../../components/skeleton.tsx';
import { readParam, setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Filters, SelectFilters } from '../../lists/declared-list.tsx';
import { EmptyView } from '../../lists/empty-view.tsx';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { type Vital, type VitalTrend, vitalsCall } from './calls.ts';
import { formatVital, Rating } from './session-format.tsx';

const titles: Readonly<Record<Vital['name'], string>> = {
  LCP: 'Largest Contentful Paint',
  INP: 'Interaction to Next Paint',
  CLS: 'Cumulative Layout Shift',
  FCP: 'First Contentful Paint',
  TTFB: 'Time to First Byte',
};

const groups = {
  page: 'Page',
  device: 'Device',
  country: 'Country',
  browser: 'Browser',
  os: 'Operating system',
  release: 'Release',
  application: 'Application',
} as const;
type Group = keyof typeof groups;

const filterNames = ['application', 'page', 'device', 'browser', 'country', 'release'] as const;

/** Scale from zero past the threshold of poor values, with the percentile and its interval. */
const VitalScale = ({ vital: { p75, interval, thresholds, unit, name } }: { readonly vital: Vital }) => {
  const end = Math.max(thresholds.poor * 1.5, p75 * 1.1, (interval?.high ?? 0) * 1.05);
  const toPercent = (value: number): string => `${((100 * value) / end).toFixed(2)}%`;
  const range =
    interval === null
      ? ''
      : `, 95 % interval ${formatVital(interval.low, unit)} to ${formatVital(interval.high, unit)}`;
  return (
    <div
      class="vital-scale"
      role="img"
      aria-label={`${name}: ${formatVital(p75, unit)}${range}. Good up to ${formatVital(thresholds.good, unit)}, poor above ${formatVital(thresholds.poor, unit)}.`}
    >
      <i class="ok" style={{ left: '0', width: toPercent(thresholds.good) }} />
      <i
        class="warning"
        style={{ left: toPercent(thresholds.good), width: toPercent(thresholds.poor - thresholds.good) }}
      />
      <i class="critical" style={{ left: toPercent(thresholds.poor), right: '0' }} />
      {interval === null ? null : (
        <b class="interval" style={{ left: toPercent(interval.low), width: toPercent(interval.high - interval.low) }} />
      )}
      <b class="marker" style={{ left: toPercent(p75) }} />
      <small style={{ left: toPercent(thresholds.good) }}>{formatVital(thresholds.good, unit)}</small>
      <small style={{ left: toPercent(thresholds.poor) }}>{formatVital(thresholds.poor, unit)}</small>
    </div>
  );
};

const Distribution = ({ vital: { distribution, samples } }: { readonly vital: Vital }) => (
  <ul class="vital-shares">
    {(
      [
        ['ok', 'Good', distribution.good],
        ['warning', 'Needs improvement', distribution.needsImprovement],
        ['critical', 'Poor', distribution.poor],
      ] as const
    ).map(([tone, title, count]) => (
      <li key={tone} class={tone}>
        {title} <b>{formatNumber((100 * count) / Math.max(1, samples))} %</b>
      </li>
    ))}
  </ul>
);

const VitalCard = ({ vital, isSelected }: { readonly vital: Vital; readonly isSelected: boolean }) => (
  <section class="card vital-card" aria-label={vital.name}>
    <div class="vital-head">
      <button
        type="button"
        class="value"
        aria-pressed={isSelected}
        title="Show over time"
        onClick={() => setParams({ vital: vital.name })}
      >
        {vital.name}
      </button>
      <small>{titles[vital.name]}</small>
    </div>
    <p class="vital-value">
      <strong>{formatVital(vital.p75, vital.unit)}</strong> <Rating rating={vital.rating} />
    </p>
    <VitalScale vital={vital} />
    <Distribution vital={vital} />
    <small>p75 of {formatNumber(vital.samples)} samples</small>
  </section>
);

const TrendChart = ({ vital, trend }: { readonly vital: Vital; readonly trend: VitalTrend }) => {
  const values = trend.vitals.find(({ name }) => name === vital.name)?.p75;
  const steps = useMemo(
    () => (values ?? []).map((_, index) => Date.parse(trend.from) + index * trend.stepSeconds * 1000),
    [values, trend],
  );
  const series = useMemo(
    (): TimeSeries[] => [
      {
        name: `${vital.name} p75`,
        unit: vital.unit === '1' ? '' : 'ms',
        values: (values ?? []).map((value) => value ?? undefined),
        drawStyle: 'lines',
        area: 0,
        isStacked: false,
        connectsGaps: true,
        formatValue: (value) => formatVital(value, vital.unit),
      },
    ],
    [values, vital.name, vital.unit],
  );
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined) return null;
  const max = Math.max(...(values ?? []).map((value) => value ?? 0), vital.thresholds.poor);
  return (
    <TimeSeriesChart
      title={`${vital.name}, 75th percentile, good up to ${formatVital(vital.thresholds.good, vital.unit)}, poor above ${formatVital(vital.thresholds.poor, vital.unit)}`}
      steps={steps}
      series={series}
      from={first}
      to={last + trend.stepSeconds * 1000}
      height={220}
      group="page"
      limits={[
        [vital.thresholds.good, 'yellow'],
        [vital.thresholds.poor, 'red'],
      ]}
      limitStyle="lines-and-areas"
      low={0}
      high={max * 1.1}
      legend={true}
    />
  );
};

const ratingClasses: Readonly<Record<string, string>> = {
  good: 'text-ok',
  'needs-improvement': 'text-warn',
  poor: 'text-error',
};

const vitalNames = Object.keys(titles) as Vital['name'][];

const GroupTable = ({
  group,
  items,
}: {
  readonly group: Group;
  readonly items: readonly { readonly value: string; readonly vitals: readonly Vital[] }[];
}) => (
  <table class="figures texts">
    <thead>
      <tr>
        <th scope="col">{groups[group]}</th>
        {vitalNames.map((name) => (
          <th key={name} scope="col" class="number">
            {name}
          </th>
        ))}
        <th scope="col" class="number">
          Samples
        </th>
      </tr>
    </thead>
    <tbody>
      {items.map(({ value, vitals }) => (
        <tr key={value}>
          <td>
            <bdi>{renderText(value === '' ? 'unknown' : value)}</bdi>
          </td>
          {vitalNames.map((name) => {
            const vital = vitals.find((candidate) => candidate.name === name);
            return (
              <td key={name} class="number">
                {vital === undefined ? (
                  '–'
                ) : (
                  <span class={ratingClasses[vital.rating ?? ''] ?? 'soft'} title={vital.rating ?? 'too few samples'}>
                    {formatVital(vital.p75, vital.unit)}
                  </span>
                )}
              </td>
            );
          })}
          <td class="number">{formatNumber(vitals.reduce((sum, { samples }) => sum + samples, 0))}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

const WebVitalsView = () => {
  const group = (readParam('groupBy') in groups ? readParam('groupBy') : 'page') as Group;
  const filters = Object.fromEntries(
    filterNames.map((name) => [name, readParam(name)] as const).filter(([, value]) => value !== ''),
  );
  const state = useQuery(vitalsCall, {
    query: { ...timeRange.value, ...projectScope.value, ...filters, groupBy: group, trend: 'true', limit: 100 },
  });
  const { response, error } = state;
  const vitals = response?.vitals ?? [];
  const selected = vitals.find(({ name }) => name === readParam('vital')) ?? vitals[0];
  return (
    <>
      <div class="toolbar">
        <SelectFilters selectFilters={[{ name: 'groupBy', label: 'Group by', options: Object.entries(groups) }]} />
        <Filters filterNames={filterNames} />
      </div>
      <ErrorMessage error={error} />
      {response === undefined ? (
        <SkeletonRows />
      ) : selected === undefined ? (
        <EmptyView title="No web vitals in this range." />
      ) : (
        <ScrollRegion class="scrolled session-page" label="Web vitals">
          <div class="columns vitals">
            {vitals.map((vital) => (
              <VitalCard key={vital.name} vital={vital} isSelected={vital === selected} />
            ))}
          </div>
          {response.trend === null ? null : (
            <Card title={`${selected.name} over time`} note="75th percentile">
              <TrendChart vital={selected} trend={response.trend} />
            </Card>
          )}
          <Card title={`By ${groups[group].toLowerCase()}`} note="75th percentile" isFlush>
            <GroupTable group={group} items={response.items} />
          </Card>
        </ScrollRegion>
      )}
      <Freshness queryState={state} />
    </>
  );
};

export const WebVitals = Object.assign(WebVitalsView, { requiredCall: vitalsCall });
