/** Form fields of a query */
import { useState } from 'preact/hooks';
import type { Query } from '../../queries/query.ts';
import { renderText } from '../frame/shown-text.tsx';
import { findSearchProblem } from '../search/problem.ts';
import { FieldProblem } from './field.tsx';
import {
  aggregationTitles,
  isAggregationFunction,
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
} from './question.ts';

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

interface QueryFieldsProps {
  readonly kind: QueryKind;
  readonly params: QueryParams;
  readonly changeParams: (changed: Partial<QueryParams>) => void;
}

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
        <label>
          Field{' '}
          <input
            value={params.field}
            maxLength={512}
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => changeParams({ field: currentTarget.value.trim() })}
          />
        </label>
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
    {kind === 'promql' || recordKinds.includes(kind) ? null : (
      <label>
        Group by{' '}
        <input
          defaultValue={params.groupBy.join(', ')}
          placeholder="service"
          autocomplete="off"
          spellcheck={false}
          onChange={({ currentTarget }) => changeParams({ groupBy: parseNames(currentTarget.value) })}
        />
      </label>
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
  return (
    <>
      <label>
        {label}{' '}
        <textarea
          key={kind}
          rows={2}
          maxLength={16_384}
          spellcheck={false}
          value={params.text}
          placeholder={placeholder}
          aria-invalid={displayedProblem !== undefined}
          aria-describedby={id}
          onInput={({ currentTarget }) => changeParams({ text: currentTarget.value })}
        />
      </label>
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
