/** Queries of a panel in the editor */

import { QueryFormFields } from '../../../editors/query-fields.tsx';
import { recordKinds, toQuery, toQueryKind, toQueryParams } from '../../../editors/query-form.ts';
import type { Panel } from '../calls.ts';

type PanelQuery = Panel['queries'][number];

/** Returns a query with default settings. */
export const createPanelQuery = (name: string): PanelQuery =>
  ({
    name,
    answers: 'series',
    exemplars: false,
    hidden: false,
    legend: '',
    query: toQuery('count logs', toQueryParams(undefined)),
  }) as PanelQuery;

interface QueryProps {
  readonly query: PanelQuery;
  readonly onChange: (query: PanelQuery) => void;
  readonly onRemove: () => void;
}

const QueryFields = ({ query, onChange, onRemove }: QueryProps) => {
  const returnsRecords = recordKinds.includes(toQueryKind(query.query));
  const resultForm = returnsRecords ? 'table' : query.answers;
  return (
    <fieldset>
      <legend>Query {query.name}</legend>
      <QueryFormFields
        name={`Query ${query.name}`}
        query={query.query}
        defaultJson={{ savedQueryId: query.savedQueryId }}
        onChange={(changedQuery) => {
          const returnedRecords = recordKinds.includes(toQueryKind(query.query));
          const returnsRecordsNow = recordKinds.includes(toQueryKind(changedQuery));
          onChange({
            ...query,
            ...(returnedRecords === returnsRecordsNow ? {} : { answers: returnsRecordsNow ? 'table' : 'series' }),
            query: changedQuery,
          });
        }}
      />
      {returnsRecords ? null : (
        <>
          <label>
            Query type{' '}
            <select
              value={resultForm}
              onChange={({ currentTarget }) =>
                onChange({ ...query, answers: currentTarget.value === 'table' ? 'table' : 'series' })
              }
            >
              <option value="series">Range</option>
              <option value="table">Instant</option>
            </select>
          </label>
          <label>
            Legend{' '}
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

const findUnusedName = (queries: readonly PanelQuery[]): string => {
  const usedNames = new Set(queries.map(({ name }) => name));
  return [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].find((name) => !usedNames.has(name)) ?? `Q${queries.length}`;
};

export const Queries = ({
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
        onChange={(updatedQuery) =>
          onChange({
            queries: panel.queries.map((panelQuery) => (panelQuery.name === query.name ? updatedQuery : panelQuery)),
          })
        }
        onRemove={() => onChange({ queries: panel.queries.filter(({ name }) => name !== query.name) })}
      />
    ))}
    <button
      type="button"
      class="plain"
      onClick={() => onChange({ queries: [...panel.queries, createPanelQuery(findUnusedName(panel.queries))] })}
    >
      Add query
    </button>
  </>
);
