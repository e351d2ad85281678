/** Query input of the metrics explorer, with the chart of the result */
import { useEffect, useMemo } from 'preact/hooks';
import { LineChart } from '../../charts/lines.tsx';
import { toLines } from '../../charts/values.ts';
import { ApiQuery } from '../../client/query.ts';
import { QueryLinks } from '../../editors/put-on-dashboard.tsx';
import { timeAggregationTitles } from '../../editors/question.ts';
import { setParams } from '../../frame/address.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { renderText } from '../../frame/shown-text.tsx';
import { refreshCount, timeRange } from '../../frame/time-range.ts';
import { forecastCall, queryMetricsCall } from './calls.ts';
import { Exemplars } from './exemplars.tsx';
import { PromqlInput } from './promql.tsx';
import { groupBy, metricQuery, promql, selectedMetric, timeFunction } from './query.ts';

const ForecastSection = lazyLoad(async () => (await import('./forecast.tsx')).Forecast);

const metricsQuery = new ApiQuery(queryMetricsCall);

const QueryBuilder = () => (
  <form
    class="toolbar"
    onSubmit={(event) => {
      event.preventDefault();
      setParams({ by: String(new FormData(event.currentTarget).get('by')).trim() });
    }}
  >
    <b>{renderText(selectedMetric.value)}</b>
    <label>
      Over time{' '}
      <select value={timeFunction.value} onChange={({ currentTarget }) => setParams({ over: currentTarget.value })}>
        {Object.entries(timeAggregationTitles).map(([key, title]) => (
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
  const { response } = metricsQuery.state.value;
  const result = response?.results['a'];
  const { steps, lines } = useMemo(() => toLines(result ?? { series: [] }), [result]);
  if (result === undefined) return null;
  if (steps.length === 0)
    return (
      <p class="said" role="status">
        No values in this range. {renderText(result.hint ?? '')}
      </p>
    );
  return (
    <LineChart
      title={promql.value || `${selectedMetric.value}, ${timeAggregationTitles[timeFunction.value]}`}
      unit={result.series[0]?.unit ?? ''}
      steps={steps}
      stepMs={result.stepMs ?? 0}
      partialSteps={result.partialSteps}
      height={280}
      lines={lines}
    />
  );
};

export const MetricQuery = () => {
  const { from, to } = timeRange.value;
  const metricQueryBody = metricQuery.value;
  useEffect(() => {
    if (metricQueryBody === undefined) metricsQuery.clear();
    else metricsQuery.run({ body: { from, to, queries: { a: metricQueryBody } } });
    return () => metricsQuery.cancel();
  }, [from, to, metricQueryBody, refreshCount.value]);
  const { error } = metricsQuery.state.value;
  const expressionProblem = error?.details.find(({ path }) => path.endsWith('expression'))?.message;
  return (
    <>
      <PromqlInput
        key={promql.value}
        value={promql.value}
        problem={expressionProblem}
        onRun={(expression) => setParams({ promql: expression, metric: '', over: '', by: '' })}
      />
      {selectedMetric.value === '' || promql.value !== '' ? null : <QueryBuilder />}
      {expressionProblem === undefined ? <ErrorMessage error={error} /> : null}
      {metricQueryBody === undefined ? null : (
        <>
          <p class="links">
            <QueryLinks query={metricQueryBody} title={selectedMetric.value || promql.value} />
          </p>
          <MetricChart />
          {selectedMetric.value === '' || promql.value !== '' ? null : (
            <Exemplars
              metric={selectedMetric.value}
              unit={metricsQuery.state.value.response?.results['a']?.series[0]?.unit ?? ''}
            />
          )}
          {isPermitted(forecastCall) ? <ForecastSection metricQuery={metricQueryBody} /> : null}
          <Freshness
            queryState={{ ...metricsQuery.state.value, response: metricsQuery.state.value.response?.results['a'] }}
          />
        </>
      )}
    </>
  );
};
