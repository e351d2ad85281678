/** Events: deployments, configuration changes, alerts, anomalies, incidents, security signals, and custom events */

import { formatChangeTitle } from '../../frame/action-titles.ts';
import { setParams, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond, formatIsoTime } from '../../frame/format-time.ts';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { SeverityBadge } from '../../frame/severity-badge.tsx';
import { createListView } from '../../lists/declared-list.tsx';
import { JsonTree } from '../../lists/json-tree.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { addEventCall, eventsCall, type TimelineEvent } from './calls.ts';

const Counters = lazyLoad(async () => (await import('./counters.tsx')).Counters);
const EventForm = lazyLoad(async () => (await import('./event-form.tsx')).EventForm);

const kindTitles: Readonly<Record<TimelineEvent['kind'], string>> = {
  deployment: 'deployment',
  alert: 'alert',
  anomaly: 'anomaly',
  incident: 'incident',
  check: 'check',
  signal: 'signal',
  config: 'configuration change',
  file: 'file change',
  custom: 'custom event',
};

const buildEventKey = ({ kind, id }: TimelineEvent): string => `${kind} ${id}`;

const EventDetails = ({ event }: { readonly event: TimelineEvent }) => {
  const { kind, time, severity, text, service, environment, projectId, tags, link, actor, details } = event;
  return (
    <>
      <p>{renderText(text, { lines: true })}</p>
      <Fields
        values={{
          time: formatIsoTime(time),
          type: kindTitles[kind],
          severity,
          service,
          environment,
          project: projectId,
          by: `${actor.type} ${actor.id}`,
          ...tags,
        }}
      />
      <ul class="links">
        {service === '' ? null : (
          <li>
            <Link url={toArea('/services', { service })}>{renderText(service)}</Link>
          </li>
        )}
        {/^https?:\/\//i.test(link) ? (
          <li>
            <a href={link} rel="noreferrer">
              {renderText(link)}
            </a>
          </li>
        ) : null}
      </ul>
      {Object.keys(details).length === 0 ? null : (
        <>
          <h3>More details</h3>
          <JsonTree tree={details} />
        </>
      )}
    </>
  );
};

const EventPanel = ({
  id,
  item,
  onClose,
}: {
  readonly id: string;
  readonly item: TimelineEvent | undefined;
  readonly onClose: () => void;
}) => (
  <SidePanel
    label="Event"
    title={id === 'new' ? 'New event' : formatChangeTitle(item?.title ?? 'Event')}
    onClose={onClose}
  >
    {id === 'new' && isPermitted(addEventCall) ? (
      <EventForm />
    ) : item === undefined ? (
      <p>This event is not on the loaded pages.</p>
    ) : (
      <EventDetails event={item} />
    )}
  </SidePanel>
);

const EventList = createListView({
  title: 'Events',
  call: eventsCall,
  isOfProject: true,
  hasTimeRange: true,
  choices: [{ name: 'kinds', label: 'Type', options: [['', 'all'], ...Object.entries(kindTitles)] }],
  filters: ['service'],
  emptyText: 'No events in this range.',
  toKey: buildEventKey,
  Tools: () =>
    isPermitted(addEventCall) ? (
      <button type="button" class="plain" onClick={() => setParams({ open: 'new' })}>
        Add event
      </button>
    ) : null,
  columns: {
    Event: ({ title }) => formatChangeTitle(title),
    Time: ({ time }) => formatIsoSecond(time),
    Type: ({ kind }) => kindTitles[kind],
    Severity: ({ severity }) => <SeverityBadge severity={severity} />,
    Service: ({ service }) => service,
  },
  wideColumns: ['Type', 'Service'],
  ItemPanel: EventPanel,
});

export const Events = () => (
  <div class="logs">
    <h1 class="sr-only">Events</h1>
    <div class="chart-space">
      <Counters />
    </div>
    <EventList />
  </div>
);
