/** Builder of a metric query: metric, label filter, function over time and grouping */
import { useState } from 'preact/hooks';
import { FieldProblem } from '../../editors/field.tsx';
import { isTimeAggregation, timeAggregationTitles } from '../../editors/query-form.ts';
import { setParams } from '../../frame/address.ts';
import { nameFormat, nameListFormat, searchFormat } from '../../search/completion.ts';
import { findSearchProblem } from '../../search/problem.ts';
import { QueryHistoryMenu } from '../../search/query-history-menu.tsx';
import { createLabelSuggest, suggestMetricNames } from '../../search/suggest-metrics.ts';
import { SuggestedField } from '../../search/suggested-input.tsx';
import { seriesAggregationTitles } from './aggregations.ts';
import { BuilderPromql } from './builder-promql.tsx';
import { groupBy, labelFilter, selectedMetric, seriesAggregation, timeFunction } from './query.ts';

/** Runs the query on Enter or by the button; a change of the function applies at once. */
export const QueryBuilder = () => {
  const [draft, setDraft] = useState({
    metric: selectedMetric.value,
    filter: labelFilter.value,
    by: groupBy.value.join(', '),
  });
  const filterProblem = findSearchProblem(draft.filter, 'metrics');
  const run = (): void => {
    if (draft.metric.trim() === '' || filterProblem !== undefined) return;
    setParams({
      metric: draft.metric.trim(),
      filter: draft.filter.trim(),
      by: draft.by.trim(),
      over: timeFunction.value,
    });
  };
  return (
    <form
      class="builder"
      onSubmit={(event) => {
        event.preventDefault();
        run();
      }}
    >
      <SuggestedField
        label="Metric"
        value={draft.metric}
        format={nameFormat}
        suggest={suggestMetricNames}
        placeholder="http.server.request.duration"
        onChange={(metric) => setDraft({ ...draft, metric })}
      />
      <SuggestedField
        label="Filter"
        value={draft.filter}
        format={searchFormat}
        suggest={createLabelSuggest(draft.metric.trim())}
        placeholder="service:cart"
        isInvalid={filterProblem !== undefined}
        onChange={(filter) => setDraft({ ...draft, filter })}
      />
      <label>
        Over time{' '}
        <select
          value={timeFunction.value}
          onChange={({ currentTarget: { value } }) => isTimeAggregation(value) && setParams({ over: value })}
        >
          {Object.entries(timeAggregationTitles).map(([key, title]) => (
            <option key={key} value={key}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label>
        Across series{' '}
        <select
          value={seriesAggregation.value}
          onChange={({ currentTarget: { value } }) => setParams({ across: value })}
        >
          {Object.entries(seriesAggregationTitles).map(([key, title]) => (
            <option key={key} value={key}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <SuggestedField
        label="Group by"
        value={draft.by}
        format={nameListFormat}
        suggest={createLabelSuggest(draft.metric.trim())}
        placeholder="service, host.name"
        onChange={(by) => setDraft({ ...draft, by })}
      />
      <button type="submit">Run query</button>
      <QueryHistoryMenu explorer="metrics" />
      <FieldProblem message={filterProblem} />
      <BuilderPromql />
    </form>
  );
};
