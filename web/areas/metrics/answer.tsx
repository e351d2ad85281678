/** Query input of the metrics explorer, with the chart of the result */
import { useEffect, useMemo } from 'preact/hooks';
import { Lines } from '../../charts/lines.tsx';
import { linesOf } from '../../charts/values.ts';
import { ApiQuery } from '../../client/query.ts';
import { QueryLinks } from '../../editors/put-on-dashboard.tsx';
import { overTimes } from '../../editors/question.ts';
import { change } from '../../frame/address.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { later } from '../../frame/lazy-load.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { refreshes, writtenRange } from '../../frame/time-range.ts';
import { forecastCall, queryMetricsCall } from './calls.ts';
import { Exemplars } from './exemplars.tsx';
import { PromqlInput } from './promql.tsx';
import { groupBy, metricQuery, promql, selectedMetric, timeFunction } from './query.ts';

const Forecast = later(async () => (await import('./forecast.tsx')).Forecast);

const metricsQuery = new ApiQuery(queryMetricsCall);

const QueryBuilder = () => (
  <form
    class="toolbar"
    onSubmit={(event) => {
      event.preventDefault();
      change({ by: String(new FormData(event.currentTarget).get('by')).trim() });
    }}
  >
    <b>{shownText(selectedMetric.value)}</b>
    <label>
      Over time{' '}
      <select value={timeFunction.value} onChange={({ currentTarget }) => change({ over: currentTarget.value })}>
        {Object.entries(overTimes).map(([key, title]) => (
          <option key={key} value={key}>
            {title}
          </option>
        ))}
      </select>
    </label>
    <label>
      Group by{' '}
      <input
        key={groupBy.value.join()}
        name="by"
        defaultValue={groupBy.value.join(', ')}
        autocomplete="off"
        spellcheck={false}
        placeholder="service, host.name"
      />
    </label>
    <button type="submit">Run query</button>
  </form>
);

const MetricChart = () => {
  const { answer } = metricsQuery.state.value;
  const result = answer?.results['a'];
  const { steps, lines } = useMemo(() => linesOf(result ?? { series: [] }), [result]);
  if (result === undefined) return null;
  if (steps.length === 0)
    return (
      <p class="said" role="status">
        No values in this range. {shownText(result.hint ?? '')}
      </p>
    );
  return (
    <Lines
      title={promql.value || `${selectedMetric.value}, ${overTimes[timeFunction.value]}`}
      unit={result.series[0]?.unit ?? ''}
      steps={steps}
      stepMs={result.stepMs ?? 0}
      lines={lines}
    />
  );
};

export const MetricQuery = () => {
  const { from, to } = writtenRange.value;
  const query = metricQuery.value;
  useEffect(() => {
    if (query === undefined) metricsQuery.clear();
    else metricsQuery.run({ body: { from, to, queries: { a: query } } });
    return () => metricsQuery.cancel();
  }, [from, to, query, refreshes.value]);
  const { error } = metricsQuery.state.value;
  const expressionProblem = error?.details.find(({ path }) => path.endsWith('expression'))?.message;
  return (
    <>
      <PromqlInput
        key={promql.value}
        value={promql.value}
        problem={expressionProblem}
        onRun={(expression) => change({ promql: expression, metric: '', over: '', by: '' })}
      />
      {selectedMetric.value === '' || promql.value !== '' ? null : <QueryBuilder />}
      {expressionProblem === undefined ? <Problem error={error} /> : null}
      {query === undefined ? null : (
        <>
          <p class="links">
            <QueryLinks query={query} title={selectedMetric.value || promql.value} />
          </p>
          <MetricChart />
          {selectedMetric.value === '' || promql.value !== '' ? null : (
            <Exemplars
              metric={selectedMetric.value}
              unit={metricsQuery.state.value.answer?.results['a']?.series[0]?.unit ?? ''}
            />
          )}
          {isPermitted(forecastCall) ? <Forecast question={query} /> : null}
          <Freshness of={{ ...metricsQuery.state.value, answer: metricsQuery.state.value.answer?.results['a'] }} />
        </>
      )}
    </>
  );
};
