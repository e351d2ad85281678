/** Events: deployments, configuration changes, alerts, anomalies, incidents, security signals, and custom events */
import { change, toArea } from '../../frame/address.ts';
import { later } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { listed } from '../../lists/declared-list.tsx';
import { JsonTree } from '../../lists/json-tree.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { addEventCall, type Event, eventsCall } from './calls.ts';

const Counters = later(async () => (await import('./counters.tsx')).Counters);
const EventForm = later(async () => (await import('./event-form.tsx')).EventForm);

const kinds: Readonly<Record<Event['kind'], string>> = {
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

const eventKey = ({ kind, id }: Event): string => `${kind} ${id}`;

const EventDetails = ({ of }: { readonly of: Event }) => {
  const { kind, time, severity, text, service, environment, projectId, tags, link, actor, details } = of;
  return (
    <>
      <p>{shownText(text, { lines: true })}</p>
      <Fields
        values={{
          time: shownMoment(time),
          type: kinds[kind],
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
            <Link to={toArea('/services', { service })}>{shownText(service)}</Link>
          </li>
        )}
        {/^https?:\/\//i.test(link) ? (
          <li>
            <a href={link} rel="noreferrer">
              {shownText(link)}
            </a>
          </li>
        ) : null}
      </ul>
      {Object.keys(details).length === 0 ? null : (
        <>
          <h3>More details</h3>
          <JsonTree of={details} />
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
  readonly item: Event | undefined;
  readonly onClose: () => void;
}) => (
  <SidePanel label="Event" title={id === 'new' ? 'New event' : (item?.title ?? 'Event')} onClose={onClose}>
    {id === 'new' && isPermitted(addEventCall) ? (
      <EventForm />
    ) : item === undefined ? (
      <p>This event is not on the loaded pages.</p>
    ) : (
      <EventDetails of={item} />
    )}
  </SidePanel>
);

const EventList = listed({
  title: 'Events',
  call: eventsCall,
  isOfProject: true,
  isRanged: true,
  choices: [{ name: 'kinds', label: 'Type', options: [['', 'all'], ...Object.entries(kinds)] }],
  filters: ['service'],
  nothing: 'No events in this range.',
  keyOf: eventKey,
  Tools: () =>
    isPermitted(addEventCall) ? (
      <button type="button" class="plain" onClick={() => change({ open: 'new' })}>
        Add event
      </button>
    ) : null,
  columns: {
    Event: ({ title }) => title,
    Time: ({ time }) => shownMoment(time).slice(0, 19),
    Type: ({ kind }) => kinds[kind],
    Severity: ({ severity }) => (
      <span class={severity === 'error' || severity === 'critical' ? 'text-error' : ''}>{severity}</span>
    ),
    Service: ({ service }) => service,
  },
  Open: EventPanel,
});

export const Events = () => (
  <div class="logs">
    <h1 class="sr-only">Events</h1>
    <Counters />
    <EventList />
  </div>
);
