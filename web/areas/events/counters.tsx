/** What the overview counts, over time: one counter, all services together. */
import { useMemo } from 'preact/hooks';
import type { listOverviewSeries } from '../../../api/groups/overview/overview.ts';
import { Lines } from '../../charts/lines.tsx';
import { linesOf } from '../../charts/values.ts';
import { callOf } from '../../client/call.ts';
import { change, inAddress } from '../../frame/address.ts';
import { useAsked } from '../../frame/asked.ts';
import { projectScope } from '../../frame/project.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { Problem } from '../../frame/standing.tsx';
import { writtenRange } from '../../frame/time-range.ts';

const seriesCall = callOf<typeof listOverviewSeries>('GET', '/api/overview/timeseries');

/** Titles by the names of series. */
const counters = {
  requests: 'requests',
  errors: 'requests that fail',
  errorRate: 'share of requests that fail',
  p95: 'p95 of requests',
  spans: 'spans',
  logs: 'log records',
  errorLogs: 'log records of errors',
} as const;
type Counter = keyof typeof counters;
const isCounter = (text: string): text is Counter => text in counters;

export const Counters = () => {
  const written = inAddress('counter');
  const counter: Counter = isCounter(written) ? written : 'requests';
  const { answer, error } = useAsked(seriesCall, { query: { ...writtenRange.value, ...projectScope.value } });
  const found = answer?.series.find(({ name }) => name === counter);
  const { steps, lines } = useMemo(() => linesOf({ series: found === undefined ? [] : [found] }), [found]);
  return (
    <section aria-label="Over time">
      <label>
        Over time{' '}
        <select value={counter} onChange={({ currentTarget }) => change({ counter: currentTarget.value })}>
          {Object.entries(counters).map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <Problem error={error} />
      {answer !== undefined && found === undefined ? (
        <p class="soft">
          It is not known: {shownText(answer.partial.map(({ message }) => message).join('; ') || 'nothing was counted')}
          .
        </p>
      ) : null}
      <Lines
        title={counters[counter]}
        unit={found?.unit ?? ''}
        steps={steps}
        stepMs={answer?.stepMs ?? 0}
        lines={lines}
      />
    </section>
  );
};
