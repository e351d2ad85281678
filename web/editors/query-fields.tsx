/** Form fields of a query */
import { useState } from 'preact/hooks';
import type { Query } from '../../queries/query.ts';
import { renderText } from '../frame/display-text.tsx';
import { nameFormat, nameListFormat, searchFormat } from '../search/completion.ts';
import { findSearchProblem } from '../search/problem.ts';
import { suggestLogFields } from '../search/suggest-log-fields.ts';
import { createLabelSuggest, suggestMetricNames } from '../search/suggest-metrics.ts';
import { suggestSpanFields } from '../search/suggest-span-fields.ts';
import { SuggestedField } from '../search/suggested-input.tsx';
import type { Suggest } from '../search/suggestions.ts';
import { Field, FieldProblem } from './field.tsx';
import { PromqlField } from './promql-field.tsx';
import {
  aggregationTitles,
  havingTitles,
  isAggregationFunction,
  isHavingOperator,
  isTimeAggregation,
  parseNames,
  type QueryKind,
  type QueryParams,
  queryKindTitles,
  recordKinds,
  timeAggregationTitles,
  toQuery,
  toQueryKind,
  toQueryParams,
} from './query-form.ts';

const textFieldLabels: Readonly<Partial<Record<QueryKind, readonly [label: string, placeholder: string]>>> = {
  promql: ['Expression', 'sum by (job) (rate(http_requests_total[5m]))'],
  metric: ['Metric', 'http.server.request.duration'],
};

const Options = ({ of }: { readonly of: Readonly<Record<string, string>> }) => (
  <>
    {Object.entries(of).map(([value, title]) => (
      <option key={value} value={value}>
        {title}
      </option>
    ))}
  </>
);

const JsonQueryField = ({
  name,
  value,
  onChange,
}: {
  readonly name: string;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}) => {
  const [problem, setProblem] = useState('');
  const parseQuery = (text: string): void => {
    try {
      const value: unknown = JSON.parse(text);
      const isQuery = typeof value === 'object' && value !== null;
      if (isQuery) onChange(value);
      setProblem(isQuery ? '' : 'A query must be a JSON object: {"kind": …}');
    } catch (error) {
      setProblem(String(error));
    }
  };
  return (
    <>
      <label>
        {name} Edit as JSON{' '}
        <textarea
          rows={8}
          spellcheck={false}
          defaultValue={JSON.stringify(value, null, 2)}
          onChange={({ currentTarget }) => parseQuery(currentTarget.value)}
        />
      </label>
      <FieldProblem message={problem} />
    </>
  );
};

/** Returns the suggestions for names and values of the data that a kind of query reads. */
const suggestByKind = (kind: QueryKind, { text }: QueryParams): Suggest => {
  if (kind === 'metric') return createLabelSuggest(text);
  return kind.endsWith('traces') ? suggestSpanFields : suggestLogFields;
};

interface QueryFieldsProps {
  readonly kind: QueryKind;
  readonly params: QueryParams;
  readonly changeParams: (changed: Partial<QueryParams>) => void;
}

const HavingFields = ({ kind, params: { having, field }, changeParams }: QueryFieldsProps) => (
  <>
    <label>
      Having{' '}
      <select
        value={having?.operator ?? ''}
        onChange={({ currentTarget: { value: operator } }) =>
          changeParams({ having: isHavingOperator(operator) ? { operator, value: having?.value ?? 0 } : undefined })
        }
      >
        <option value="">any value</option>
        <Options of={havingTitles} />
      </select>
    </label>
    {having === undefined ? null : (
      <label>
        {kind.startsWith('figure') && field === 'duration' ? 'Value (ns)' : 'Value'}{' '}
        <input
          type="number"
          step="any"
          required
          value={having.value}
          onChange={({ currentTarget: { valueAsNumber: value } }) =>
            Number.isFinite(value) && changeParams({ having: { operator: having.operator, value } })
          }
        />
      </label>
    )}
  </>
);

const AggregationFields = ({ kind, params, changeParams }: QueryFieldsProps) => (
  <>
    {kind.startsWith('figure') ? (
      <>
        <label>
          Aggregation{' '}
          <select
            value={params.aggregation}
            onChange={({ currentTarget }) =>
              isAggregationFunction(currentTarget.value) && changeParams({ aggregation: currentTarget.value })
            }
          >
            <Options of={aggregationTitles} />
          </select>
        </label>
        <SuggestedField
          label="Field"
          value={params.field}
          format={nameFormat}
          suggest={suggestByKind(kind, params)}
          maxLength={512}
          onChange={(field) => changeParams({ field: field.trim() })}
        />
      </>
    ) : null}
    {kind === 'metric' ? (
      <label>
        Over time{' '}
        <select
          value={params.overTime}
          onChange={({ currentTarget }) =>
            isTimeAggregation(currentTarget.value) && changeParams({ overTime: currentTarget.value })
          }
        >
          <Options of={timeAggregationTitles} />
        </select>
      </label>
    ) : null}
    {kind === 'metric' ? (
      <>
        <SuggestedField
          label="Filter"
          value={params.filter}
          format={searchFormat}
          suggest={createLabelSuggest(params.text)}
          placeholder="service:cart"
          isInvalid={findSearchProblem(params.filter, 'metrics') !== undefined}
          onChange={(filter) => changeParams({ filter })}
        />
        <FieldProblem message={findSearchProblem(params.filter, 'metrics')} />
      </>
    ) : null}
    {kind === 'promql' || recordKinds.includes(kind) ? null : (
      <SuggestedField
        label="Group by"
        value={params.groupBy.join(', ')}
        format={nameListFormat}
        suggest={suggestByKind(kind, params)}
        placeholder="service"
        maxLength={4096}
        onCommit={(text) => changeParams({ groupBy: parseNames(text) })}
      />
    )}
    {kind === 'promql' || recordKinds.includes(kind) || params.groupBy.length === 0 ? null : (
      <HavingFields kind={kind} params={params} changeParams={changeParams} />
    )}
  </>
);

const localProblem = (kind: QueryKind, text: string): string | undefined => {
  if (kind.endsWith('logs')) return findSearchProblem(text, 'logs');
  return kind.endsWith('traces') ? findSearchProblem(text, 'traces') : undefined;
};

const TextField = ({
  kind,
  params,
  changeParams,
  problem,
  id,
}: QueryFieldsProps & { readonly problem: string | undefined; readonly id: string }) => {
  const [label, placeholder] = textFieldLabels[kind] ?? ['Search', 'service:cart severity:error'];
  const displayedProblem = localProblem(kind, params.text) ?? problem;
  if (kind === 'promql')
    return (
      <Field label={label} problem={problem}>
        <PromqlField
          label={label}
          value={params.text}
          isInvalid={problem !== undefined}
          placeholder={placeholder}
          onChange={(text) => changeParams({ text })}
        />
      </Field>
    );
  return (
    <>
      <SuggestedField
        key={kind}
        label={label}
        maxLength={16_384}
        value={params.text.replaceAll('\n', ' ')}
        format={kind === 'metric' ? nameFormat : searchFormat}
        suggest={kind === 'metric' ? suggestMetricNames : suggestByKind(kind, params)}
        placeholder={placeholder}
        isInvalid={displayedProblem !== undefined}
        describedBy={id}
        onChange={(text) => changeParams({ text })}
      />
      <p class="problem-text" id={id} role="alert">
        {displayedProblem === undefined ? '' : renderText(displayedProblem)}
      </p>
    </>
  );
};

/** Returns the parameters after a change of the query kind. A search remains only for kinds that have one. */
const convertParams = (kind: QueryKind, previousKind: QueryKind, written: QueryParams): QueryParams => {
  const isSearchKind = (each: QueryKind): boolean => each !== 'promql' && each !== 'metric' && each !== 'json';
  if (isSearchKind(kind) === isSearchKind(previousKind)) return written;
  return { ...written, text: kind === 'promql' ? 'up' : '' };
};

export const QueryFormFields = ({
  name,
  query,
  defaultJson,
  excludedKinds = [],
  problem,
  onChange,
}: {
  /** Label of the JSON input, for example `Query A` */
  readonly name: string;
  readonly query: Query | undefined;
  /** Initial value of the JSON input if there is no query */
  readonly defaultJson?: unknown;
  readonly excludedKinds?: readonly QueryKind[];
  /** Error of the API */
  readonly problem?: string | undefined;
  readonly onChange: (query: Query, kind: QueryKind) => void;
}) => {
  const [kind, setKind] = useState<QueryKind>(() => toQueryKind(query));
  const params = toQueryParams(query);
  const changeQuery = (newKind: QueryKind, changed: QueryParams): void => {
    const changedQuery = toQuery(newKind, changed, query);
    if (changedQuery !== undefined) onChange(changedQuery, newKind);
  };
  const fields = {
    kind,
    params,
    changeParams: (changed: Partial<QueryParams>) => changeQuery(kind, { ...params, ...changed }),
  };
  const kinds = Object.entries(queryKindTitles).filter(([each]) => !excludedKinds.includes(each as QueryKind));
  return (
    <>
      <label>
        Data source{' '}
        <select
          value={kind}
          onChange={({ currentTarget }) => {
            const next = currentTarget.value as QueryKind;
            setKind(next);
            changeQuery(next, convertParams(next, kind, params));
          }}
        >
          <Options of={Object.fromEntries(kinds)} />
        </select>
      </label>
      {kind === 'json' ? (
        <>
          <JsonQueryField
            name={name}
            value={query ?? defaultJson}
            onChange={(value) => onChange(value as Query, 'json')}
          />
          <FieldProblem message={problem} />
        </>
      ) : (
        <>
          <AggregationFields {...fields} />
          <TextField {...fields} problem={problem} id={`${name.replaceAll(' ', '-')}-problem`} />
        </>
      )}
    </>
  );
};
