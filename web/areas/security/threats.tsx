/** Runtime threats: groups of events of sensors, and the panel of one group */

import { useEffect, useState } from 'preact/hooks';
import type { triageThreat } from '../../../api/groups/security/threats.ts';
import { Action } from '../../client/action.ts';
import type { ResponseBody } from '../../client/call.ts';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute, formatIsoSecond } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { toServicePage } from '../../frame/resource-links.ts';
import { SeverityBadge } from '../../frame/severity-badge.tsx';
import { createListView } from '../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { type Threat, threatsCall, triageThreatCall } from './calls.ts';
import { describeState, stateFilter, TriageForm } from './triage.tsx';

type ThreatPreview = ResponseBody<typeof triageThreat>['preview'];

const formatCount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Number of recent events that a decision about a group hides */
const HiddenEvents = ({ id }: { readonly id: string }) => {
  const [dryRun] = useState(() => new Action(triageThreatCall));
  const [preview, setPreview] = useState<ThreatPreview>(null);
  useEffect(() => {
    void dryRun
      .run({ params: { id }, query: { dryRun: 'true' }, body: { state: 'ignored' } })
      .then((response) => setPreview(response?.preview ?? null));
  }, [id]);
  return (
    <div class="soft" role="status">
      {preview === null
        ? ''
        : `A decision would have hidden ${formatCount(preview.events, 'event')} of ${formatCount(preview.hosts, 'host')} since ${formatIsoMinute(preview.from)}.`}
      <ErrorMessage error={dryRun.error.value} />
    </div>
  );
};

/** Deployments around the first and the latest event */
const Deployments = ({ items }: { readonly items: Threat['deployments'] }) =>
  items.length === 0 ? null : (
    <>
      <h3>Deployments nearby</h3>
      <ul>
        {items.map(({ id, service, version, time, isRollback }) => (
          <li key={id}>
            <Link url={toServicePage(service)}>{service}</Link>{' '}
            {renderText(
              [version, isRollback === true ? 'rollback' : '', formatIsoSecond(time)].filter(Boolean).join(' · '),
            )}
          </li>
        ))}
      </ul>
    </>
  );

const ThreatPanel = ({ item, onClose }: { readonly item: Threat | undefined; readonly onClose: () => void }) =>
  item === undefined ? (
    <SidePanel label="Threat" title="Not in this list" onClose={onClose}>
      <p class="soft">The group has no events in this range, or the filters exclude it.</p>
    </SidePanel>
  ) : (
    <SidePanel label="Threat" title={item.rule} onClose={onClose}>
      <Fields
        values={{
          Severity: item.severity,
          Sensor: item.source,
          Workload: item.workload,
          Program: item.program,
          Target: item.target,
          Image: item.image,
          Hosts: item.hosts.join(', '),
          Pods: item.pods.join(', '),
          Services: item.services.join(', '),
          Techniques: item.techniques.join(', '),
          Events: item.count,
          First: formatIsoSecond(item.firstTime),
          Last: formatIsoSecond(item.lastTime),
        }}
      />
      <Deployments items={item.deployments} />
      <h3>Latest events</h3>
      <ul>
        {item.events.map((event) => (
          <li key={event.recordId}>
            <Link url={toArea('/logs', { record: event.recordId })}>{formatIsoSecond(event.time)}</Link>{' '}
            {renderText([event.host, event.user, event.commandLine || event.message].filter(Boolean).join(' · '))}
          </li>
        ))}
      </ul>
      <TriageForm item={item} call={triageThreatCall} preview={<HiddenEvents key={item.id} id={item.id} />} />
    </SidePanel>
  );

export const Threats = createListView({
  title: 'Runtime threats',
  call: threatsCall,
  isOfProject: true,
  hasTimeRange: true,
  choices: [
    stateFilter,
    {
      name: 'severity',
      label: 'Severity',
      options: [
        ['', 'all'],
        ...['critical', 'high', 'medium', 'low', 'informational'].map((name) => [name, name] as const),
      ],
    },
  ],
  filters: ['rule', 'workload', 'host'],
  emptyText: 'No events of Falco, Tetragon, Tracee, KubeArmor, ECS or OCSF in this range. Send their output as logs.',
  toKey: ({ id }) => id,
  columns: {
    Rule: ({ rule }) => rule,
    Severity: ({ severity }) => <SeverityBadge severity={severity} />,
    State: (item) => describeState(item),
    Workload: ({ workload }) => workload,
    Program: ({ program }) => program,
    Target: ({ target }) => target,
    Events: ({ count }) => count,
    Hosts: ({ hostCount }) => hostCount,
    Last: ({ lastTime }) => formatIsoSecond(lastTime),
  },
  numericColumns: ['Events', 'Hosts'],
  wideColumns: ['State', 'Workload', 'Program', 'Target', 'Events', 'Hosts'],
  ItemPanel: ThreatPanel,
});
