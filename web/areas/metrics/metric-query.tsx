/** Query input of the metrics explorer, with the chart of the result */
import { useEffect, useMemo } from 'preact/hooks';
import { LineChart } from '../../charts/lines.tsx';
import { toLines } from '../../charts/values.ts';
import { ApiQuery } from '../../client/query.ts';
import { Button, ButtonGroup } from '../../components/button.tsx';
import { QueryLinks } from '../../editors/put-on-dashboard.tsx';
import { timeAggregationTitles } from '../../editors/query-form.ts';
import { readParam, setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { refreshCount, timeRange } from '../../frame/time-range.ts';
import { recordQuery } from '../../search/query-history.ts';
import { forecastCall, queryMetricsCall } from './calls.ts';
import { PromqlInput } from './promql.tsx';
import {
  formatBuilderQuery,
  groupBy,
  labelFilter,
  metricQuery,
  promql,
  queryEditor,
  selectedMetric,
  timeFunction,
} from './query.ts';

const QueryBuilder = lazyLoad(async () => (await import('./builder.tsx')).QueryBuilder);
const Exemplars = lazyLoad(async () => (await import('./exemplars.tsx')).Exemplars);
const ForecastSection = lazyLoad(async () => (await import('./forecast.tsx')).Forecast);

const metricsQuery = new ApiQuery(queryMetricsCall);

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

const editorTitles = { builder: 'Builder', promql: 'PromQL' } as const;

/** Opens an editor. The builder has the query of the expression, if it is one of the forms of the builder. */
const selectEditor = (editor: keyof typeof editorTitles): void => {
  if (editor === queryEditor.peek()) return;
  if (editor === 'promql') setParams({ editor });
  else void import('./builder-promql.tsx').then(({ openBuilder }) => openBuilder(promql.peek()));
};

const runPromql = (expression: string): void =>
  setParams({ promql: expression, editor: '', metric: '', filter: '', over: '', across: '', by: '' });

/** Adds the query to the history once it has a result. */
const useQueryHistory = (hasResult: boolean): void =>
  useEffect(() => {
    if (!hasResult) return;
    const parameters = {
      promql: promql.value,
      metric: selectedMetric.value,
      filter: labelFilter.value,
      over: readParam('over'),
      across: readParam('across'),
      by: readParam('by'),
      editor: '',
    };
    recordQuery('metrics', { title: promql.value || formatBuilderQuery(), parameters });
  }, [hasResult, metricQuery.value]);

export const MetricQuery = () => {
  const { from, to } = timeRange.value;
  const metricQueryBody = metricQuery.value;
  useEffect(() => {
    if (metricQueryBody === undefined) metricsQuery.clear();
    else metricsQuery.run({ body: { from, to, queries: { a: metricQueryBody } } });
    return () => metricsQuery.cancel();
  }, [from, to, metricQueryBody, refreshCount.value]);
  const { error, response } = metricsQuery.state.value;
  useQueryHistory(response !== undefined && error === undefined);
  const expressionProblem = error?.details.find(({ path }) => path.endsWith('expression'))?.message;
  return (
    <>
      <div class="query-editor">
        <ButtonGroup label="Query editor">
          {(['builder', 'promql'] as const).map((name) => (
            <Button key={name} aria-pressed={queryEditor.value === name} onClick={() => selectEditor(name)}>
              {editorTitles[name]}
            </Button>
          ))}
        </ButtonGroup>
        {queryEditor.value === 'promql' ? (
          <PromqlInput value={promql.value} problem={expressionProblem} onRun={runPromql} />
        ) : (
          <QueryBuilder key={JSON.stringify([selectedMetric.value, labelFilter.value, groupBy.value])} />
        )}
      </div>
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
