/** Incidents area: incidents with their timelines, on-call schedules, escalation policies, pages, insights and calendars */

import { Plus } from 'lucide';
import { useEffect } from 'preact/hooks';
import { PagedList } from '../../client/pages.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { readParam, setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { useEscape } from '../../frame/escape.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { createTabbedView } from '../../frame/parts.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { toSeverityLevel } from '../../frame/severity.ts';
import { SeverityBadge } from '../../frame/severity-badge.tsx';
import { TimeCell } from '../../frame/time-cell.tsx';
import { refreshCount } from '../../frame/time-range.ts';
import { ListResult } from '../../lists/list-result.tsx';
import { AssigneeFilter } from '../../lists/owner-select.tsx';
import { LoadedItem } from '../../lists/read-one.tsx';
import { SidePanel } from '../../lists/side-panel.tsx';
import {
  calendarFeedsCall,
  declareIncidentCall,
  escalationPoliciesCall,
  type Incident,
  incidentCall,
  incidentMetricsCall,
  incidentsCall,
  pagesCall,
  schedulesCall,
} from './calls.ts';
import { IncidentForm } from './incident-form.tsx';
import { IncidentPanel } from './incident-panel.tsx';

const pagedIncidents = new PagedList(incidentsCall, ({ items }) => items);

const openIncident = (incidentId: string): void =>
  setParams({ incident: incidentId }, { replace: readParam('incident') !== '' });

const closePanel = (): void => openIncident('');

const isActive = ({ status }: Incident): boolean => status === 'open' || status === 'acknowledged';

const statusTones: Readonly<Record<NonNullable<Incident['status']>, Tone>> = {
  open: 'critical',
  acknowledged: 'warning',
  resolved: 'ok',
  merged: 'neutral',
};

const renderCells = (incident: Incident) => [
  <Badge key="status" tone={statusTones[incident.status ?? 'open']}>
    {incident.status}
  </Badge>,
  <SeverityBadge key="severity" severity={incident.severity} />,
  <bdi key="title">{renderText(incident.title)}</bdi>,
  <bdi key="services">{renderText((incident.services ?? []).join(', '))}</bdi>,
  <TimeCell key="opened" ms={Date.parse(incident.openedAt)} />,
];

const NewIncidentPanel = () => (
  <SidePanel label="Incident" title="New incident" onClose={closePanel}>
    <IncidentForm onSaved={openIncident} onCancel={closePanel} />
  </SidePanel>
);

const OpenIncidentPanel = ({ id }: { readonly id: string }) => {
  const incident = pagedIncidents.items.value.find((listed) => listed.id === id);
  if (id === 'new') return isPermitted(declareIncidentCall) ? <NewIncidentPanel /> : null;
  if (pagedIncidents.first.state.value.response === undefined) return null;
  if (incident !== undefined) return <IncidentPanel key={id} incident={incident} onClose={closePanel} />;
  return (
    <LoadedItem key={`read ${id}`} call={incidentCall} id={id} label="Incident" onClose={closePanel}>
      {(loadedIncident) => <IncidentPanel incident={loadedIncident} onClose={closePanel} />}
    </LoadedItem>
  );
};

const statuses = ['open', 'acknowledged', 'resolved', 'merged'];

const IncidentTable = ({ openIncidentId }: { readonly openIncidentId: string }) => (
  <ListResult
    list={pagedIncidents}
    emptyText="No incidents found."
    label="Incidents"
    class="incidents"
    columns={['Status', 'Severity', 'Title', 'Services', 'Opened']}
    toKey={({ id }) => id}
    toClass={(incident) => (isActive(incident) ? `level-${toSeverityLevel(incident.severity ?? null)}` : '')}
    toCells={renderCells}
    openKey={openIncidentId}
    onOpen={openIncident}
  />
);

const IncidentList = () => {
  const status = readParam('status');
  const assigneeId = readParam('assigneeId');
  useEffect(() => {
    pagedIncidents.load({ query: { limit: 100, sort: '-openedAt', status, assigneeId } });
    return () => pagedIncidents.cancel();
  }, [status, assigneeId, refreshCount.value]);
  useEscape(() => {
    if (readParam('incident') !== '') openIncident('');
  });
  const openIncidentId = readParam('incident');
  return (
    <>
      <div class="toolbar">
        <label>
          Status{' '}
          <select
            value={status}
            onChange={({ currentTarget }) => setParams({ status: currentTarget.value, incident: '' })}
          >
            <option value="">all</option>
            {statuses.map((statusName) => (
              <option key={statusName} value={statusName}>
                {statusName}
              </option>
            ))}
          </select>
        </label>
        <AssigneeFilter />
        {isPermitted(declareIncidentCall) ? (
          <Button kind="primary" icon={Plus} onClick={() => openIncident('new')}>
            Declare incident
          </Button>
        ) : null}
      </div>
      <ErrorMessage error={pagedIncidents.first.state.value.error} />
      <div class={openIncidentId === '' ? 'list' : 'list with-record'}>
        <IncidentTable openIncidentId={openIncidentId} />
        {openIncidentId === '' ? null : <OpenIncidentPanel id={openIncidentId} />}
      </div>
      <ErrorMessage error={pagedIncidents.loadMoreError.value} />
      <Freshness queryState={pagedIncidents.first.state.value} />
    </>
  );
};

export const Incidents = createTabbedView('Incidents', [
  { name: '', title: 'Incidents', View: IncidentList, requiredCall: incidentsCall },
  {
    name: 'on-call',
    title: 'On call',
    requiredCall: schedulesCall,
    View: lazyLoad(async () => (await import('./on-call.tsx')).OnCall),
  },
  {
    name: 'escalation',
    title: 'Escalation',
    requiredCall: escalationPoliciesCall,
    View: lazyLoad(async () => (await import('./policies.tsx')).Policies),
  },
  {
    name: 'pages',
    title: 'Pages',
    requiredCall: pagesCall,
    View: lazyLoad(async () => (await import('./pages.tsx')).Pages),
  },
  {
    name: 'figures',
    title: 'Insights',
    requiredCall: incidentMetricsCall,
    View: lazyLoad(async () => (await import('./figures.tsx')).IncidentInsights),
  },
  {
    name: 'calendars',
    title: 'Calendar links',
    requiredCall: calendarFeedsCall,
    View: lazyLoad(async () => (await import('./calendars.tsx')).Calendars),
  },
]);
