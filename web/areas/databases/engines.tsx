/** Database engines: coverage, headline metrics, and time series of one */
import type {
  getDatabaseEngines,
  showDatabaseEngine,
  showDatabaseSeries,
} from '../../../api/groups/databases/engines.ts';
import { LineChart } from '../../charts/lines.tsx';
import { renderKnownNumber } from '../../charts/render-number.tsx';
import { toLines } from '../../charts/values.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { SelectInput } from '../../editors/inputs.tsx';
import { readParam, setParams, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';

const enginesCall = declareCall<typeof getDatabaseEngines>('GET', '/api/databases/engines');
const engineCall = declareCall<typeof showDatabaseEngine>('GET', '/api/databases/{engine}');
const seriesCall = declareCall<typeof showDatabaseSeries>('GET', '/api/databases/{engine}/timeseries');

type Engine = ResponseBody<typeof getDatabaseEngines>['items'][number];

/** Metrics of calls, from spans of services */
const callMetrics = [
  ['requestRate', 'Call rate'],
  ['requests', 'Calls'],
  ['errors', 'Errors'],
  ['errorRate', 'Error rate'],
  ['p50', 'p50 latency'],
  ['p95', 'p95 latency'],
  ['p99', 'p99 latency'],
] as const;

const EngineChart = ({ engine, metricNames }: { readonly engine: string; readonly metricNames: readonly string[] }) => {
  const metric = readParam('figure') || 'requestRate';
  const { from, to } = timeRange.value;
  const queryState = useQuery(seriesCall, {
    params: { engine },
    query: { from, to, figure: metric, ...projectScope.value },
  });
  const { response, error } = queryState;
  const { steps, lines } = toLines(response ?? { series: [] });
  const metricOptions = [...callMetrics, ...metricNames.map((metricName) => [metricName, metricName] as const)];
  return (
    <>
      <SelectInput
        label="Metric"
        value={metric}
        problem={error?.of('figure')}
        options={metricOptions}
        onChange={(newMetric) => setParams({ figure: newMetric })}
      />
      {error?.of('figure') === undefined ? <ErrorMessage error={error} /> : null}
      {response === undefined ? null : steps.length === 0 ? (
        <p class="soft" role="status">
          {renderText(response.reason ?? 'No values in this range.')}
        </p>
      ) : (
        <LineChart
          title={`${engine}: ${metricOptions.find(([name]) => name === metric)?.[1] ?? metric}`}
          unit={response.unit}
          steps={steps}
          stepMs={response.stepMs}
          lines={lines}
        />
      )}
      <Freshness queryState={queryState} />
    </>
  );
};

const EnginePanel = ({
  id,
  item,
  onClose,
}: {
  readonly id: string;
  readonly item: Engine | undefined;
  readonly onClose: () => void;
}) => {
  const { from, to } = timeRange.value;
  const { response, error } = useQuery(engineCall, {
    params: { engine: id },
    query: { from, to, ...projectScope.value },
  });
  return (
    <SidePanel label="Engine" title={id} onClose={onClose}>
      <ErrorMessage error={error} />
      <EngineChart engine={id} metricNames={item?.figures ?? []} />
      {response === undefined ? null : (
        <>
          <h3>Metric summary</h3>
          {response.figures.length === 0 ? <p class="soft">The metrics of this engine are not supported.</p> : null}
          <table class="figures texts">
            <TableHeader columns={['Metric', 'Value', 'Source']} />
            <tbody>
              {response.figures.map(({ name, unit, summary, value, reason, metrics }) => (
                <tr key={name}>
                  <td>
                    <b>{renderText(name)}</b> <span class="soft">{renderText(summary)}</span>
                  </td>
                  <td class="number">{renderKnownNumber({ value, reason }, unit)}</td>
                  <td>{renderText(metrics.join(', '))}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <h3>Databases</h3>
          {response.databases.length === 0 ? <p class="soft">No databases in this range.</p> : null}
          <ul class="links column">
            {response.databases.map((database) => (
              <li key={database.id}>
                <Link url={toArea('/databases', { open: database.id })}>
                  {renderText(database.name || database.id)}
                </Link>
              </li>
            ))}
          </ul>
          {response.databaseCount > response.databases.length ? (
            <p class="soft">And {response.databaseCount - response.databases.length} more.</p>
          ) : null}
        </>
      )}
      {item === undefined ? null : <Fields values={{ 'metrics source': item.senders.join(', ') }} />}
    </SidePanel>
  );
};

export const Engines = createListView({
  title: 'Engines',
  call: enginesCall,
  isOfProject: true,
  hasTimeRange: true,
  fixedParams: { limit: '' },
  emptyText: 'No database engines.',
  toKey: ({ engine }) => engine,
  columns: {
    Engine: ({ engine }) => engine,
    Databases: ({ databases }) => databases,
    'Called by services': ({ calledDatabases }) => calledDatabases,
    'Reported by metrics': ({ watchedDatabases }) => watchedDatabases,
    'Metric summary': ({ figures }) => figures.length,
  },
  wideColumns: ['Called by services', 'Reported by metrics', 'Metric summary'],
  numericColumns: ['Databases', 'Called by services', 'Reported by metrics', 'Metric summary'],
  ItemPanel: EnginePanel,
});
