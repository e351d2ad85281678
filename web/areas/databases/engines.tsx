/** Database engines: coverage, headline metrics, and time series of one */
import type {
  getDatabaseEngines,
  showDatabaseEngine,
  showDatabaseSeries,
} from '../../../api/groups/databases/engines.ts';
import { knownNumber } from '../../charts/known.tsx';
import { Lines } from '../../charts/lines.tsx';
import { linesOf } from '../../charts/values.ts';
import { type Answered, callOf } from '../../client/call.ts';
import { SelectInput } from '../../editors/inputs.tsx';
import { change, inAddress, toArea } from '../../frame/address.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { writtenRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { listed } from '../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';

const enginesCall = callOf<typeof getDatabaseEngines>('GET', '/api/databases/engines');
const engineCall = callOf<typeof showDatabaseEngine>('GET', '/api/databases/{engine}');
const seriesCall = callOf<typeof showDatabaseSeries>('GET', '/api/databases/{engine}/timeseries');

type Engine = Answered<typeof getDatabaseEngines>['items'][number];

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

const EngineChart = ({ engine, figures }: { readonly engine: string; readonly figures: readonly string[] }) => {
  const metric = inAddress('figure') || 'requestRate';
  const { from, to } = writtenRange.value;
  const query = useQuery(seriesCall, {
    params: { engine },
    query: { from, to, figure: metric, ...projectScope.value },
  });
  const { answer, error } = query;
  const { steps, lines } = linesOf(answer ?? { series: [] });
  const metricOptions = [...callMetrics, ...figures.map((each) => [each, each] as const)];
  return (
    <>
      <SelectInput
        label="Metric"
        value={metric}
        problem={error?.of('figure')}
        options={metricOptions}
        onChange={(next) => change({ figure: next })}
      />
      {error?.of('figure') === undefined ? <Problem error={error} /> : null}
      {answer === undefined ? null : steps.length === 0 ? (
        <p class="soft" role="status">
          {shownText(answer.reason ?? 'No values in this range.')}
        </p>
      ) : (
        <Lines
          title={`${engine}: ${metricOptions.find(([name]) => name === metric)?.[1] ?? metric}`}
          unit={answer.unit}
          steps={steps}
          stepMs={answer.stepMs}
          lines={lines}
        />
      )}
      <Freshness of={query} />
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
  const { from, to } = writtenRange.value;
  const { answer, error } = useQuery(engineCall, {
    params: { engine: id },
    query: { from, to, ...projectScope.value },
  });
  return (
    <SidePanel label="Engine" title={id} onClose={onClose}>
      <Problem error={error} />
      <EngineChart engine={id} figures={item?.figures ?? []} />
      {answer === undefined ? null : (
        <>
          <h3>Metric summary</h3>
          {answer.figures.length === 0 ? <p class="soft">The metrics of this engine are not supported.</p> : null}
          <table class="figures texts">
            <TableHeader columns={['Metric', 'Value', 'Source']} />
            <tbody>
              {answer.figures.map(({ name, unit, summary, value, reason, metrics }) => (
                <tr key={name}>
                  <td>
                    <b>{shownText(name)}</b> <span class="soft">{shownText(summary)}</span>
                  </td>
                  <td class="number">{knownNumber({ value, reason }, unit)}</td>
                  <td>{shownText(metrics.join(', '))}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <h3>Databases</h3>
          {answer.databases.length === 0 ? <p class="soft">No databases in this range.</p> : null}
          <ul class="links column">
            {answer.databases.map((database) => (
              <li key={database.id}>
                <Link to={toArea('/databases', { open: database.id })}>{shownText(database.name || database.id)}</Link>
              </li>
            ))}
          </ul>
          {answer.databaseCount > answer.databases.length ? (
            <p class="soft">And {answer.databaseCount - answer.databases.length} more.</p>
          ) : null}
        </>
      )}
      {item === undefined ? null : <Fields values={{ 'metrics source': item.senders.join(', ') }} />}
    </SidePanel>
  );
};

export const Engines = listed({
  title: 'Engines',
  call: enginesCall,
  isOfProject: true,
  isRanged: true,
  sent: { limit: '' },
  nothing: 'No database engines.',
  keyOf: ({ engine }) => engine,
  columns: {
    Engine: ({ engine }) => engine,
    Databases: ({ databases }) => databases,
    'Called by services': ({ calledDatabases }) => calledDatabases,
    'Reported by metrics': ({ watchedDatabases }) => watchedDatabases,
    'Metric summary': ({ figures }) => figures.length,
  },
  numbers: ['Databases', 'Called by services', 'Reported by metrics', 'Metric summary'],
  Open: EnginePanel,
});
