/** Input fields of a query */
import { useState } from 'preact/hooks';
import type { Query } from '../../queries/query.ts';
import { shownText } from '../frame/shown-text.tsx';
import { searchProblem } from '../search/problem.ts';
import { Wrong } from './field.tsx';
import {
  figures,
  isFigure,
  isOverTime,
  kindOf,
  namesIn,
  ofRecords,
  overTimes,
  type QuestionKind,
  queryOf,
  questions,
  type Written,
  writtenOf,
} from './question.ts';

const texts: Readonly<Partial<Record<QuestionKind, readonly [label: string, placeholder: string]>>> = {
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

const AsJson = ({
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
      setProblem(isQuery ? '' : 'A query must be an object: {"kind": …}');
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
      <Wrong message={problem} />
    </>
  );
};

interface Fields {
  readonly kind: QuestionKind;
  readonly written: Written;
  readonly set: (changed: Partial<Written>) => void;
}

const Figures = ({ kind, written, set }: Fields) => (
  <>
    {kind.startsWith('figure') ? (
      <>
        <label>
          Aggregation{' '}
          <select
            value={written.figure}
            onChange={({ currentTarget }) => isFigure(currentTarget.value) && set({ figure: currentTarget.value })}
          >
            <Options of={figures} />
          </select>
        </label>
        <label>
          Field{' '}
          <input
            value={written.field}
            maxLength={512}
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => set({ field: currentTarget.value.trim() })}
          />
        </label>
      </>
    ) : null}
    {kind === 'metric' ? (
      <label>
        Over time{' '}
        <select
          value={written.overTime}
          onChange={({ currentTarget }) => isOverTime(currentTarget.value) && set({ overTime: currentTarget.value })}
        >
          <Options of={overTimes} />
        </select>
      </label>
    ) : null}
    {kind === 'promql' || ofRecords.includes(kind) ? null : (
      <label>
        Group by{' '}
        <input
          defaultValue={written.groupBy.join(', ')}
          placeholder="service"
          autocomplete="off"
          spellcheck={false}
          onChange={({ currentTarget }) => set({ groupBy: namesIn(currentTarget.value) })}
        />
      </label>
    )}
  </>
);

const localProblem = (kind: QuestionKind, text: string): string | undefined => {
  if (kind.endsWith('logs')) return searchProblem(text, 'logs');
  return kind.endsWith('traces') ? searchProblem(text, 'traces') : undefined;
};

const Field = ({
  kind,
  written,
  set,
  problem,
  id,
}: Fields & { readonly problem: string | undefined; readonly id: string }) => {
  const [label, placeholder] = texts[kind] ?? ['Search', 'service:cart severity:error'];
  const shownProblem = localProblem(kind, written.text) ?? problem;
  return (
    <>
      <label>
        {label}{' '}
        <textarea
          key={kind}
          rows={2}
          maxLength={16_384}
          spellcheck={false}
          value={written.text}
          placeholder={placeholder}
          aria-invalid={shownProblem !== undefined}
          aria-describedby={id}
          onInput={({ currentTarget }) => set({ text: currentTarget.value })}
        />
      </label>
      <p class="problem-text" id={id} role="alert">
        {shownProblem === undefined ? '' : shownText(shownProblem)}
      </p>
    </>
  );
};

/** Returns the initial input after a change of the query kind. */
const begun = (kind: QuestionKind, before: QuestionKind, written: Written): Written => {
  const isSearch = (each: QuestionKind): boolean => each !== 'promql' && each !== 'metric' && each !== 'json';
  if (isSearch(kind) === isSearch(before)) return written;
  return { ...written, text: kind === 'promql' ? 'up' : '' };
};

export const QuestionFields = ({
  name,
  query,
  otherwise,
  without = [],
  problem,
  onChange,
}: {
  /** Label of the JSON input, such as `Query A` */
  readonly name: string;
  readonly query: Query | undefined;
  /** Initial JSON without a query */
  readonly otherwise?: unknown;
  readonly without?: readonly QuestionKind[];
  /** Error of the API */
  readonly problem?: string | undefined;
  readonly onChange: (query: Query, kind: QuestionKind) => void;
}) => {
  const [kind, setKind] = useState<QuestionKind>(() => kindOf(query));
  const written = writtenOf(query);
  const changeQuery = (next: QuestionKind, changed: Written): void => {
    const changedQuery = queryOf(next, changed, query);
    if (changedQuery !== undefined) onChange(changedQuery, next);
  };
  const fields = { kind, written, set: (changed: Partial<Written>) => changeQuery(kind, { ...written, ...changed }) };
  const kinds = Object.entries(questions).filter(([each]) => !without.includes(each as QuestionKind));
  return (
    <>
      <label>
        Data source{' '}
        <select
          value={kind}
          onChange={({ currentTarget }) => {
            const next = currentTarget.value as QuestionKind;
            setKind(next);
            changeQuery(next, begun(next, kind, written));
          }}
        >
          <Options of={Object.fromEntries(kinds)} />
        </select>
      </label>
      {kind === 'json' ? (
        <>
          <AsJson name={name} value={query ?? otherwise} onChange={(value) => onChange(value as Query, 'json')} />
          <Wrong message={problem} />
        </>
      ) : (
        <>
          <Figures {...fields} />
          <Field {...fields} problem={problem} id={`${name.replaceAll(' ', '-')}-problem`} />
        </>
      )}
    </>
  );
};
