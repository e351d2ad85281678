/** The fields of one panel while it is edited: what it is called, asks and draws. */
import { useState } from 'preact/hooks';
import { shownText } from '../../../frame/shown-text.tsx';
import { Beside } from '../../../lists/beside.tsx';
import type { Panel } from '../calls.ts';
import type { Drafting } from './draft.ts';

type PanelQuery = Panel['queries'][number];
type Query = NonNullable<PanelQuery['query']>;

const kinds = {
  ...{ 'time-series': 'series over time', stat: 'large figures', gauge: 'gauges', 'bar-gauge': 'bars of figures' },
  ...{ bars: 'bars by a column', pie: 'shares', table: 'a table', logs: 'log records', text: 'text (Markdown)' },
} as const;

/** What can be asked by fields of its own; everything else as JSON. */
const questions = {
  promql: 'PromQL',
  'count logs': 'number of log records',
  'count traces': 'number of spans',
  'rows logs': 'log records',
  json: 'any query, as JSON',
} as const;
type QuestionKind = keyof typeof questions;

const kindOf = (query: Query | undefined): QuestionKind => {
  if (query?.kind === 'promql') return 'promql';
  if (query?.kind === 'rows' && query.signal === 'logs') return 'rows logs';
  if (query?.kind !== 'aggregate') return 'json';
  const [measure, ...others] = query.measures;
  if (others.length > 0 || measure?.function !== 'count') return 'json';
  if (query.signal === 'logs') return 'count logs';
  return query.signal === 'traces' ? 'count traces' : 'json';
};

/** The API fills in what is left out of a query. */
const queryOf = (kind: QuestionKind, text: string, groupBy: readonly string[]): Query | undefined => {
  const search = text === '' ? {} : { search: text };
  const asked = {
    promql: { kind: 'promql', expression: text },
    'count logs': { kind: 'aggregate', signal: 'logs', ...search, measures: [{ function: 'count' }], groupBy },
    'count traces': { kind: 'aggregate', signal: 'traces', ...search, measures: [{ function: 'count' }], groupBy },
    'rows logs': { kind: 'rows', signal: 'logs', ...search },
    json: undefined,
  }[kind];
  return asked as Query | undefined;
};

/** A query that asks something at once. */
export const bareQuery = (name: string): PanelQuery =>
  ({
    ...{ name, answers: 'series', exemplars: false, hidden: false, legend: '' },
    query: queryOf('count logs', '', []),
  }) as PanelQuery;

const textOf = (query: Query | undefined): string =>
  query?.kind === 'promql' ? query.expression : query !== undefined && 'search' in query ? (query.search ?? '') : '';
const groupsOf = (query: Query | undefined): readonly string[] =>
  query?.kind === 'aggregate' ? (query.groupBy ?? []) : [];

const split = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

interface QueryProps {
  readonly query: PanelQuery;
  readonly onChange: (query: PanelQuery) => void;
  readonly onRemove: () => void;
}

const AsJson = ({ query, onChange }: QueryProps) => {
  const [problem, setProblem] = useState('');
  const take = (text: string): void => {
    try {
      onChange({ ...query, query: JSON.parse(text) });
      setProblem('');
    } catch (error) {
      setProblem(String(error));
    }
  };
  return (
    <>
      <label>
        Query {query.name} as JSON{' '}
        <textarea
          rows={8}
          spellcheck={false}
          defaultValue={JSON.stringify(query.query ?? { savedQueryId: query.savedQueryId }, null, 2)}
          onChange={({ currentTarget }) => take(currentTarget.value)}
        />
      </label>
      <p class="problem-text" role="alert">
        {shownText(problem)}
      </p>
    </>
  );
};

const QueryFields = (props: QueryProps) => {
  const { query, onChange, onRemove } = props;
  const [kind, setKind] = useState<QuestionKind>(() => kindOf(query.query));
  const [text, groupBy] = [textOf(query.query), groupsOf(query.query)];
  const set = (asked: Query | undefined): void => {
    if (asked !== undefined) onChange({ ...query, query: asked });
  };
  const answers = kind === 'rows logs' ? 'table' : query.answers;
  return (
    <fieldset>
      <legend>Query {query.name}</legend>
      <label>
        Asks for{' '}
        <select
          value={kind}
          onChange={({ currentTarget }) => {
            const next = currentTarget.value as QuestionKind;
            setKind(next);
            const asked = queryOf(next, next === 'promql' ? text || 'up' : kind === 'promql' ? '' : text, groupBy);
            if (asked !== undefined)
              onChange({ ...query, answers: next === 'rows logs' ? 'table' : 'series', query: asked });
          }}
        >
          {Object.entries(questions).map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {kind === 'json' ? (
        <AsJson {...props} />
      ) : (
        <label>
          {kind === 'promql' ? 'Expression' : 'Search'}{' '}
          <textarea
            key={kind}
            rows={2}
            spellcheck={false}
            value={text}
            placeholder={
              kind === 'promql' ? 'sum by (job) (rate(http_requests_total[5m]))' : 'service:cart severity:error'
            }
            onInput={({ currentTarget }) => set(queryOf(kind, currentTarget.value, groupBy))}
          />
        </label>
      )}
      {kind.startsWith('count') ? (
        <label>
          One for each{' '}
          <input
            defaultValue={groupBy.join(', ')}
            placeholder="service"
            spellcheck={false}
            onChange={({ currentTarget }) => set(queryOf(kind, text, split(currentTarget.value)))}
          />
        </label>
      ) : null}
      {kind === 'rows logs' ? null : (
        <>
          <label>
            Answers{' '}
            <select
              value={answers}
              onChange={({ currentTarget }) =>
                onChange({ ...query, answers: currentTarget.value === 'table' ? 'table' : 'series' })
              }
            >
              <option value="series">over time</option>
              <option value="table">one value for the range</option>
            </select>
          </label>
          <label>
            Names of series{' '}
            <input
              value={query.legend}
              placeholder="{{service}}"
              spellcheck={false}
              onInput={({ currentTarget }) => onChange({ ...query, legend: currentTarget.value })}
            />
          </label>
        </>
      )}
      <button type="button" class="plain" onClick={onRemove}>
        Remove query {query.name}
      </button>
    </fieldset>
  );
};

const nextName = (queries: readonly PanelQuery[]): string => {
  const taken = new Set(queries.map(({ name }) => name));
  return [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].find((name) => !taken.has(name)) ?? `Q${queries.length}`;
};

const Queries = ({
  panel,
  onChange,
}: {
  readonly panel: Panel;
  readonly onChange: (fields: Partial<Panel>) => void;
}) => (
  <>
    {panel.queries.map((query) => (
      <QueryFields
        key={query.name}
        query={query}
        onChange={(changed) =>
          onChange({ queries: panel.queries.map((one) => (one.name === query.name ? changed : one)) })
        }
        onRemove={() => onChange({ queries: panel.queries.filter(({ name }) => name !== query.name) })}
      />
    ))}
    <button
      type="button"
      class="plain"
      onClick={() => onChange({ queries: [...panel.queries, bareQuery(nextName(panel.queries))] })}
    >
      Add a query
    </button>
  </>
);

const numberIn = (text: string): number | undefined =>
  text.trim() === '' || Number.isNaN(Number(text)) ? undefined : Number(text);

/** Settings of all fields that are changed most. */
const Look = ({ panel, onChange }: { readonly panel: Panel; readonly onChange: (fields: Partial<Panel>) => void }) => {
  const set = (settings: Readonly<Record<string, unknown>>): void => {
    const known = Object.entries({ ...panel.fields, ...settings }).filter(
      ([, value]) => value !== undefined && value !== '',
    );
    onChange({ fields: Object.fromEntries(known) as Panel['fields'] });
  };
  const { unit = '', decimals, min, max } = panel.fields;
  return (
    <fieldset>
      <legend>How values are shown</legend>
      <label>
        Unit{' '}
        <input
          defaultValue={unit}
          placeholder="By, ms, %, {request}/s"
          spellcheck={false}
          onChange={({ currentTarget }) => set({ unit: currentTarget.value.trim() })}
        />
      </label>
      {(
        [
          ['Decimals', 'decimals', decimals],
          ['Lower limit', 'min', min],
          ['Upper limit', 'max', max],
        ] as const
      ).map(([label, name, value]) => (
        <label key={name}>
          {label}{' '}
          <input
            inputMode="decimal"
            defaultValue={value ?? ''}
            onChange={({ currentTarget }) => set({ [name]: numberIn(currentTarget.value) })}
          />
        </label>
      ))}
    </fieldset>
  );
};

export const EditPanel = ({
  panel,
  drafting,
  onClose,
}: {
  readonly panel: Panel;
  readonly drafting: Drafting;
  readonly onClose: () => void;
}) => {
  const set = (fields: Partial<Panel>): void => drafting.changePanel(panel.id, fields);
  const { visual } = panel;
  const isOther = !(visual.kind in kinds);
  return (
    <Beside label="Panel" title={panel.title === '' ? panel.id : panel.title} onClose={onClose}>
      <div class="form">
        <label>
          Title{' '}
          <input
            value={panel.title}
            maxLength={512}
            onInput={({ currentTarget }) => set({ title: currentTarget.value })}
          />
        </label>
        <label>
          Shows{' '}
          <select
            value={visual.kind}
            onChange={({ currentTarget }) => set({ visual: { kind: currentTarget.value } as Panel['visual'] })}
          >
            {isOther ? <option value={visual.kind}>{visual.kind}</option> : null}
            {Object.entries(kinds).map(([kind, title]) => (
              <option key={kind} value={kind}>
                {title}
              </option>
            ))}
          </select>
        </label>
        {visual.kind === 'text' ? (
          <label>
            Text, in Markdown{' '}
            <textarea
              rows={8}
              value={visual.content}
              onInput={({ currentTarget }) => set({ visual: { ...visual, content: currentTarget.value } })}
            />
          </label>
        ) : (
          <>
            <Queries panel={panel} onChange={set} />
            <Look panel={panel} onChange={set} />
          </>
        )}
        <div class="act">
          <button type="button" class="plain" onClick={() => drafting.add(panel, { ...panel.place })}>
            Copy this panel
          </button>
          <button
            type="button"
            class="plain"
            onClick={() => {
              onClose();
              drafting.remove(panel.id);
            }}
          >
            Remove this panel
          </button>
        </div>
      </div>
    </Beside>
  );
};
