/** Databases: instances as observed by their callers, normalized statements, and engines */
import type { listDatabases } from '../../../api/groups/databases/list.ts';
import type { listDatabaseQueries } from '../../../api/groups/databases/queries.ts';
import { renderKnownText } from '../../charts/render-number.tsx';
import { formatNumber } from '../../charts/values.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatDuration } from '../../frame/durations.ts';
import { formatIsoTime } from '../../frame/format-time.ts';
import { Link } from '../../frame/link.tsx';
import { createTabbedView } from '../../frame/parts.tsx';
import { createListView } from '../../lists/declared-list.tsx';
import { RawText } from '../../lists/raw.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { Engines } from './engines.tsx';

type Instance = ResponseBody<typeof listDatabases>['items'][number];
type Statement = ResponseBody<typeof listDatabaseQueries>['items'][number];

/** Returns the calls of an instance, or why they are unknown. */
const formatCalls = (
  { calls }: Instance,
  formatKnownCalls: (calls: Extract<Instance['calls'], { requests: number }>) => string,
) => ('requests' in calls ? formatKnownCalls(calls) : renderKnownText(calls));

const ServiceLinks = ({ names }: { readonly names: readonly string[] }) => (
  <ul class="links">
    {names.map((service) => (
      <li key={service}>
        <Link url={toArea('/services', { service })}>{renderText(service)}</Link>
      </li>
    ))}
  </ul>
);

const Instances = createListView({
  title: 'Databases',
  call: declareCall<typeof listDatabases>('GET', '/api/databases'),
  isOfProject: true,
  hasTimeRange: true,
  emptyText: 'No databases in this range. No database client spans or database metrics were received.',
  toKey: ({ id }) => id,
  columns: {
    Database: ({ name, engine }) => name || engine,
    Engine: ({ engine }) => engine,
    Calls: (instance) => formatCalls(instance, ({ requests }) => formatNumber(requests)),
    Errors: (instance) => formatCalls(instance, ({ errors }) => formatNumber(errors)),
    p95: (instance) => formatCalls(instance, ({ duration }) => (duration === null ? '' : formatDuration(duration.p95))),
    Callers: (instance) => formatCalls(instance, ({ callers }) => callers.join(', ')),
    'Last seen': ({ lastSeen }) => formatIsoTime(lastSeen),
  },
  wideColumns: ['Engine', 'Errors', 'Callers', 'Last seen'],
  numericColumns: ['Calls', 'Errors', 'p95'],
  ItemPanel: ({
    id,
    item,
    onClose,
  }: {
    readonly id: string;
    readonly item: Instance | undefined;
    readonly onClose: () => void;
  }) => (
    <SidePanel label="Database" title={item?.name || id} onClose={onClose}>
      {item === undefined ? null : (
        <>
          <Fields
            values={{ engine: item.engine, addresses: item.addresses.join(', '), source: item.seenBy.join(', ') }}
          />
          <h3>Callers</h3>
          {'callers' in item.calls ? (
            <ServiceLinks names={item.calls.callers} />
          ) : (
            <p class="soft">{renderText(item.calls.reason)}</p>
          )}
        </>
      )}
    </SidePanel>
  ),
});

const Statements = createListView({
  title: 'Statements',
  call: declareCall<typeof listDatabaseQueries>('GET', '/api/databases/queries'),
  isOfProject: true,
  hasTimeRange: true,
  search: 'Search statements',
  choices: [
    {
      name: 'sort',
      label: 'Sort by',
      options: [
        ['-time', 'Total time'],
        ['-calls', 'Calls'],
        ['-errors', 'Errors'],
        ['-mean', 'Average duration'],
        ['-max', 'Maximum duration'],
      ],
    },
  ],
  emptyText: 'No statements in this range.',
  toKey: ({ digest, engine }) => `${engine} ${digest}`,
  columns: {
    Statement: ({ statement, isTruncated }) => `${statement}${isTruncated ? ' …' : ''}`,
    Engine: ({ engine }) => engine,
    Calls: ({ calls }) => formatNumber(calls),
    Errors: ({ errors }) => errors,
    'Share of time': ({ duration }) => `${(100 * duration.share).toFixed(1)} %`,
    Mean: ({ duration }) => formatDuration(duration.mean),
    p95: ({ duration }) => formatDuration(duration.p95),
    Services: ({ services }) => services.join(', '),
  },
  wideColumns: ['Engine', 'Errors', 'Mean', 'p95', 'Services'],
  numericColumns: ['Calls', 'Errors', 'Share of time', 'Mean', 'p95'],
  ItemPanel: ({
    id,
    item,
    onClose,
  }: {
    readonly id: string;
    readonly item: Statement | undefined;
    readonly onClose: () => void;
  }) => (
    <SidePanel label="Statement" title={item?.engine || id} onClose={onClose}>
      {item === undefined ? null : (
        <>
          <RawText label="Statement text" text={item.statement} />
          <ul class="links">
            <li>
              <Link url={toArea(`/traces/${item.slowest.traceId}`, { span: item.slowest.spanId })}>Slowest call</Link>
            </li>
          </ul>
          <Fields
            values={{ databases: item.databases.join(', '), tables: item.collections.join(', '), calls: item.calls }}
          />
          <h3>Callers</h3>
          <ServiceLinks names={item.services} />
        </>
      )}
    </SidePanel>
  ),
});

export const Databases = createTabbedView('Databases', [
  { name: '', title: 'Instances', View: Instances },
  { name: 'statements', title: 'Statements', View: Statements },
  { name: 'engines', title: 'Engines', View: Engines },
]);
