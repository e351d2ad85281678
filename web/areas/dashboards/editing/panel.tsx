/** Fields of one panel in the editor: title, queries and visualization */
import { recordKinds, toQuery, toQueryKind, toQueryParams } from '../../../editors/question.ts';
import { QueryFormFields } from '../../../editors/question-fields.tsx';
import { SidePanel } from '../../../lists/side-panel.tsx';
import type { Panel, Visual } from '../calls.ts';
import type { DashboardDraft } from './draft.ts';
import { Formulas } from './formulas.tsx';
import { ListFields } from './list-fields.tsx';
import { PanelSectionSelect } from './sections.tsx';

type PanelQuery = Panel['queries'][number];

/** Selectable visualizations; only an import creates placeholders */
const kinds: Readonly<Record<Exclude<Visual['kind'], 'placeholder'>, string>> = {
  'time-series': 'Time series',
  stat: 'Stat',
  gauge: 'Gauge',
  'bar-gauge': 'Bar gauge',
  heatmap: 'Heatmap',
  histogram: 'Histogram',
  'state-timeline': 'State timeline',
  'status-history': 'Status history',
  bars: 'Bar chart',
  pie: 'Pie chart',
  table: 'Table',
  logs: 'Logs',
  text: 'Text (Markdown)',
  traces: 'Traces',
  'node-graph': 'Node graph',
  alerts: 'Alert list',
  dashboards: 'Dashboard list',
};

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
  const answers = returnsRecords ? 'table' : query.answers;
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
              value={answers}
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

const parseNumber = (text: string): number | undefined =>
  text.trim() === '' || Number.isNaN(Number(text)) ? undefined : Number(text);

/** Settings of the value format that apply to all fields. */
const ValueFormatFields = ({
  panel,
  onChange,
}: {
  readonly panel: Panel;
  readonly onChange: (fields: Partial<Panel>) => void;
}) => {
  const updateFields = (settings: Readonly<Record<string, unknown>>): void => {
    const definedSettings = Object.entries({ ...panel.fields, ...settings }).filter(
      ([, value]) => value !== undefined && value !== '',
    );
    onChange({ fields: Object.fromEntries(definedSettings) as Panel['fields'] });
  };
  const { unit = '', decimals, min, max } = panel.fields;
  return (
    <fieldset>
      <legend>Value format</legend>
      <label>
        Unit{' '}
        <input
          defaultValue={unit}
          placeholder="By, ms, %, {request}/s"
          spellcheck={false}
          onChange={({ currentTarget }) => updateFields({ unit: currentTarget.value.trim() })}
        />
      </label>
      {(
        [
          ['Decimals', 'decimals', decimals],
          ['Min', 'min', min],
          ['Max', 'max', max],
        ] as const
      ).map(([label, name, value]) => (
        <label key={name}>
          {label}{' '}
          <input
            inputMode="decimal"
            defaultValue={value ?? ''}
            onChange={({ currentTarget }) => updateFields({ [name]: parseNumber(currentTarget.value) })}
          />
        </label>
      ))}
    </fieldset>
  );
};

export const PanelEditor = ({
  panel,
  dashboardDraft,
  onClose,
}: {
  readonly panel: Panel;
  readonly dashboardDraft: DashboardDraft;
  readonly onClose: () => void;
}) => {
  const updatePanel = (fields: Partial<Panel>): void => dashboardDraft.updatePanel(panel.id, fields);
  const { visual } = panel;
  const isImportedPlaceholder = !(visual.kind in kinds);
  return (
    <SidePanel label="Panel" title={panel.title === '' ? panel.id : panel.title} onClose={onClose}>
      <div class="form">
        <label>
          Title{' '}
          <input
            value={panel.title}
            maxLength={512}
            onInput={({ currentTarget }) => updatePanel({ title: currentTarget.value })}
          />
        </label>
        <label>
          Visualization{' '}
          <select
            value={visual.kind}
            onChange={({ currentTarget }) => updatePanel({ visual: { kind: currentTarget.value } as Panel['visual'] })}
          >
            {isImportedPlaceholder ? <option value={visual.kind}>{visual.kind}</option> : null}
            {Object.entries(kinds).map(([kind, title]) => (
              <option key={kind} value={kind}>
                {title}
              </option>
            ))}
          </select>
        </label>
        {visual.kind === 'alerts' || visual.kind === 'dashboards' ? (
          <ListFields visual={visual} onChange={(updatedVisual) => updatePanel({ visual: updatedVisual })} />
        ) : visual.kind === 'text' ? (
          <label>
            Text (Markdown){' '}
            <textarea
              rows={8}
              value={visual.content}
              onInput={({ currentTarget }) => updatePanel({ visual: { ...visual, content: currentTarget.value } })}
            />
          </label>
        ) : (
          <>
            <Queries panel={panel} onChange={updatePanel} />
            <Formulas panel={panel} onChange={updatePanel} />
            <ValueFormatFields panel={panel} onChange={updatePanel} />
          </>
        )}
        <PanelSectionSelect dashboardDraft={dashboardDraft} panelId={panel.id} />
        <div class="act">
          <button type="button" class="plain" onClick={() => dashboardDraft.addPanel(panel, { ...panel.place })}>
            Duplicate panel
          </button>
          <button
            type="button"
            class="plain"
            onClick={() => {
              onClose();
              dashboardDraft.removePanel(panel.id);
            }}
          >
            Remove panel
          </button>
        </div>
      </div>
    </SidePanel>
  );
};
