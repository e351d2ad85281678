/** Usage over time by telemetry signal, project, key or service */
import { useMemo } from 'preact/hooks';
import type { getUsageTimeSeries } from '../../../api/groups/usage/timeseries.ts';
import { LineChart } from '../../charts/lines.tsx';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { Skeleton } from '../../components/skeleton.tsx';
import { readParam, setParams } from '../../frame/address.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { useQuery } from '../../frame/use-query.ts';

type UsageSeries = ResponseBody<typeof getUsageTimeSeries>;

const groupings = { signal: 'signal', project: 'project', key: 'key', service: 'service' } as const;
const intervals = { day: 'days', hour: 'hours' } as const;
const stepMs = { hour: 3_600_000, day: 86_400_000 } as const;

/** Returns accepted bytes. Lines of services have stored bytes, because only stored data has a service. */
const toChartLines = ({ series, from, to, step }: UsageSeries) => {
  const first = Math.floor(Date.parse(from) / stepMs[step]) * stepMs[step];
  const count = Math.ceil((Date.parse(to) - first) / stepMs[step]);
  return {
    times: Array.from({ length: count }, (_, index) => first + index * stepMs[step]),
    lines: series.map(({ id, name, points }) => {
      const bytes = new Map(points.map(({ at, accepted, landed }) => [Date.parse(at), (accepted ?? landed).bytes]));
      const values = Array.from({ length: count }, (_, index) => bytes.get(first + index * stepMs[step]) ?? 0);
      return { name: name ?? (id === '' ? '(none)' : id), values };
    }),
  };
};

const toKey = <Key extends string>(options: Readonly<Record<Key, string>>, text: string, defaultKey: Key): Key =>
  text in options ? (text as Key) : defaultKey;

const SelectParameter = ({
  label,
  name,
  options,
  value,
}: {
  readonly label: string;
  readonly name: string;
  readonly options: Readonly<Record<string, string>>;
  readonly value: string;
}) => (
  <label>
    {label}{' '}
    <select value={value} onChange={({ currentTarget }) => setParams({ [name]: currentTarget.value })}>
      {Object.entries(options).map(([key, title]) => (
        <option key={key} value={key}>
          {title}
        </option>
      ))}
    </select>
  </label>
);

export const UsageOverTime = () => {
  const by = toKey(groupings, readParam('by'), 'signal');
  const step = toKey(intervals, readParam('step'), 'day');
  const queryState = useQuery(declareCall<typeof getUsageTimeSeries>('GET', '/api/usage/timeseries'), {
    query: { by, step },
  });
  const { response, error } = queryState;
  const chart = useMemo(() => (response === undefined ? undefined : toChartLines(response)), [response]);
  return (
    <section aria-label="Usage over time">
      <h2>Over time</h2>
      <div class="toolbar">
        <SelectParameter label="Group by" name="by" options={groupings} value={by} />
        <SelectParameter label="Interval" name="step" options={intervals} value={step} />
      </div>
      <ErrorMessage error={error} />
      {response === undefined || chart === undefined ? (
        error === undefined ? (
          <Skeleton height={210} />
        ) : null
      ) : (
        <>
          <LineChart
            title={`Bytes by ${response.by}`}
            unit="By"
            steps={chart.times}
            stepMs={stepMs[response.step]}
            lines={chart.lines}
          />
          {response.excluded === 0 ? null : (
            <p class="soft">{response.excluded} groups with less data are not shown.</p>
          )}
        </>
      )}
      <Freshness queryState={queryState} />
    </section>
  );
};
