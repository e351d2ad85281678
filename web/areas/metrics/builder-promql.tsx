/** PromQL of the query of the builder, and the way back from PromQL */
import { useEffect, useState } from 'preact/hooks';
import { ApiQuery } from '../../client/query.ts';
import { request } from '../../client/request.ts';
import { Button } from '../../components/button.tsx';
import { setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { listMetricsCall } from './calls.ts';
import { parsePromqlForms, toBuilderQuery, toPromql } from './promql-conversion.ts';
import { groupBy, labelFilter, selectedMetric, seriesAggregation, timeFunction } from './query.ts';

const emptyBuilder = { metric: '', filter: '', over: '', across: '', by: '' } as const;

/** Expression of the query of the builder, with a button that edits it */
export const BuilderPromql = () => {
  const [metrics] = useState(() => new ApiQuery(listMetricsCall));
  const metric = selectedMetric.value;
  const { from, to } = timeRange.value;
  const scope = projectScope.value;
  useEffect(() => {
    if (metric === '') metrics.clear();
    else metrics.run({ query: { ...scope, from, to, search: metric, limit: 100 } });
    return () => metrics.cancel();
  }, [metric, from, to, scope]);
  const named = metrics.state.value.response?.items.find(({ name }) => name === metric);
  if (named === undefined) return null;
  const conversion = toPromql(
    {
      metric,
      overTime: timeFunction.value,
      across: seriesAggregation.value,
      groupBy: groupBy.value,
      filter: labelFilter.value,
    },
    named,
  );
  if ('reason' in conversion) return <p class="builder-promql soft">No PromQL: {renderText(conversion.reason)}.</p>;
  return (
    <p class="builder-promql">
      <code>{renderText(conversion.value)}</code>
      <Button kind="quiet" onClick={() => setParams({ ...emptyBuilder, editor: '', promql: conversion.value })}>
        Edit as PromQL
      </Button>
    </p>
  );
};

/** Opens the builder with the query of an expression, or without a query if the builder has none. */
export const openBuilder = async (expression: string): Promise<void> => {
  const [form] = parsePromqlForms(expression) ?? [];
  const { from, to } = timeRange.peek();
  // Words of a name are in the same order in PromQL; a search needs all of its words to occur.
  const [word = ''] = form?.name.split(/[^A-Za-z0-9]+/) ?? [];
  const listed =
    form === undefined
      ? undefined
      : await request(listMetricsCall, {
          query: { ...projectScope.peek(), from, to, search: word, limit: 1000 },
        }).catch(() => undefined);
  const query = toBuilderQuery(expression, listed?.items ?? []);
  if (query === undefined) return setParams({ ...emptyBuilder, editor: 'builder', promql: '' });
  setParams({
    editor: 'builder',
    promql: '',
    metric: query.metric,
    filter: query.filter,
    over: query.overTime,
    across: query.across,
    by: query.groupBy.join(', '),
  });
};
