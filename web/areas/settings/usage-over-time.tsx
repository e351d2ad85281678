/** Usage over time by telemetry signal, project, key or service */
import { useMemo } from 'preact/hooks';
import type { getUsageTimeSeries } from '../../../api/groups/usage/timeseries.ts';
import { Lines } from '../../charts/lines.tsx';
import { type Answered, callOf } from '../../client/call.ts';
import { change, inAddress } from '../../frame/address.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { useQuery } from '../../frame/use-query.ts';

type Volumes = Answered<typeof getUsageTimeSeries>;

const groups = { signal: 'signal', project: 'project', key: 'key', service: 'service' } as const;
const steps = { day: 'days', hour: 'hours' } as const;
const stepMs = { hour: 3_600_000, day: 86_400_000 } as const;

/** Accepted bytes; for services the stored bytes, because only stored data has a service. */
const linesOf = ({ series, from, to, step }: Volumes) => {
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

const oneOf = <Key extends string>(of: Readonly<Record<Key, string>>, written: string, defaultKey: Key): Key =>
  written in of ? (written as Key) : defaultKey;

const Choice = ({
  label,
  name,
  of,
  value,
}: {
  readonly label: string;
  readonly name: string;
  readonly of: Readonly<Record<string, string>>;
  readonly value: string;
}) => (
  <label>
    {label}{' '}
    <select value={value} onChange={({ currentTarget }) => change({ [name]: currentTarget.value })}>
      {Object.entries(of).map(([key, title]) => (
        <option key={key} value={key}>
          {title}
        </option>
      ))}
    </select>
  </label>
);

export const UsageOverTime = () => {
  const by = oneOf(groups, inAddress('by'), 'signal');
  const step = oneOf(steps, inAddress('step'), 'day');
  const queryState = useQuery(callOf<typeof getUsageTimeSeries>('GET', '/api/usage/timeseries'), {
    query: { by, step },
  });
  const { answer, error } = queryState;
  const drawn = useMemo(() => (answer === undefined ? undefined : linesOf(answer)), [answer]);
  return (
    <section aria-label="Usage over time">
      <h2>Over time</h2>
      <div class="toolbar">
        <Choice label="Group by" name="by" of={groups} value={by} />
        <Choice label="Interval" name="step" of={steps} value={step} />
      </div>
      <Problem error={error} />
      {answer === undefined || drawn === undefined ? null : (
        <>
          <Lines
            title={`Bytes by ${answer.by}`}
            unit="By"
            steps={drawn.times}
            stepMs={stepMs[answer.step]}
            lines={drawn.lines}
          />
          {answer.excluded === 0 ? null : <p class="soft">Not shown: {answer.excluded} with less data.</p>}
        </>
      )}
      <Freshness of={queryState} />
    </section>
  );
};
