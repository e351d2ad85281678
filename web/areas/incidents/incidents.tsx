/** Incidents area: incidents with their timelines, on-call schedules, escalation policies, pages, insights and calendars */
import { useEffect, useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { Paged } from '../../client/pages.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { change, inAddress } from '../../frame/address.ts';
import { useEscape } from '../../frame/escape.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { later } from '../../frame/lazy-load.tsx';
import { partsOf } from '../../frame/parts.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { levelOf } from '../../frame/severity.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownTime } from '../../frame/shown-time.ts';
import { refresh, refreshes } from '../../frame/time-range.ts';
import { Found } from '../../lists/empty-state.tsx';
import { Whose } from '../../lists/owner-select.tsx';
import { ReadOne } from '../../lists/read-one.tsx';
import {
  calendarFeedsCall,
  declareIncidentCall,
  escalationPoliciesCall,
  type Incident,
  incidentCall,
  incidentsCall,
  metricsCall,
  pagesCall,
  schedulesCall,
} from './calls.ts';
import { IncidentPanel } from './incident-panel.tsx';

const incidentPages = new Paged(incidentsCall, ({ items }) => items);

const openIncident = (incident: string): void => change({ incident }, { replace: inAddress('incident') !== '' });

const close = (): void => openIncident('');

const isActive = ({ status }: Incident): boolean => status === 'open' || status === 'acknowledged';

const renderCells = (incident: Incident) => [
  <span key="status" class={incident.status === 'open' ? 'text-error' : ''}>
    {incident.status}
  </span>,
  incident.severity,
  <bdi key="title">{shownText(incident.title)}</bdi>,
  <bdi key="services">{shownText((incident.services ?? []).join(', '))}</bdi>,
  shownTime(Date.parse(incident.openedAt)),
];

const DeclareForm = () => {
  const [action] = useState(() => new Action(declareIncidentCall));
  const run = async (form: HTMLFormElement): Promise<void> => {
    const declaredIncident = await action.run({ body: { title: String(new FormData(form).get('title')).trim() } });
    if (declaredIncident === undefined) return;
    form.reset();
    refresh();
    openIncident(declaredIncident.id);
  };
  return (
    <ActionForm action={action} label="Declare incident" onSubmit={run}>
      <label>
        Title <input name="title" required={true} maxLength={256} autocomplete="off" />
      </label>
    </ActionForm>
  );
};

const states = ['open', 'acknowledged', 'resolved', 'merged'];

const IncidentTable = ({ open }: { readonly open: string }) => (
  <Found
    of={incidentPages}
    nothing="No incidents found."
    label="Incidents"
    class="incidents"
    columns={['Status', 'Severity', 'Title', 'Services', 'Opened']}
    keyOf={({ id }) => id}
    classOf={(incident) => (isActive(incident) ? `level-${levelOf(incident.severity ?? null)}` : '')}
    cellsOf={renderCells}
    open={open}
    onOpen={openIncident}
  />
);

const IncidentList = () => {
  const status = inAddress('status');
  const assigneeId = inAddress('assigneeId');
  useEffect(() => {
    incidentPages.load({ query: { limit: 100, sort: '-openedAt', status, assigneeId } });
    return () => incidentPages.cancel();
  }, [status, assigneeId, refreshes.value]);
  useEscape(() => {
    if (inAddress('incident') !== '') openIncident('');
  });
  const open = inAddress('incident');
  const incident = incidentPages.items.value.find(({ id }) => id === open);
  return (
    <>
      <div class="toolbar">
        <label>
          Status{' '}
          <select
            value={status}
            onChange={({ currentTarget }) => change({ status: currentTarget.value, incident: '' })}
          >
            <option value="">all</option>
            {states.map((state) => (
              <option key={state} value={state}>
                {state}
              </option>
            ))}
          </select>
        </label>
        <Whose />
        {isPermitted(declareIncidentCall) ? <DeclareForm /> : null}
      </div>
      <Problem error={incidentPages.first.state.value.error} />
      <div class={open === '' ? 'list' : 'list with-record'}>
        <IncidentTable open={open} />
        {open === '' || incidentPages.first.state.value.answer === undefined ? null : incident === undefined ? (
          <ReadOne key={`read ${open}`} call={incidentCall} id={open} label="Incident" onClose={close}>
            {(found) => <IncidentPanel incident={found} onClose={close} />}
          </ReadOne>
        ) : (
          <IncidentPanel key={incident.id} incident={incident} onClose={close} />
        )}
      </div>
      <Problem error={incidentPages.furtherError.value} />
      <Freshness of={incidentPages.first.state.value} />
    </>
  );
};

export const Incidents = partsOf('Incidents', [
  { name: '', title: 'Incidents', View: IncidentList, requiredCall: incidentsCall },
  {
    name: 'on-call',
    title: 'On call',
    requiredCall: schedulesCall,
    View: later(async () => (await import('./on-call.tsx')).OnCall),
  },
  {
    name: 'escalation',
    title: 'Escalation',
    requiredCall: escalationPoliciesCall,
    View: later(async () => (await import('./policies.tsx')).Policies),
  },
  {
    name: 'pages',
    title: 'Pages',
    requiredCall: pagesCall,
    View: later(async () => (await import('./pages.tsx')).Pages),
  },
  {
    name: 'figures',
    title: 'Insights',
    requiredCall: metricsCall,
    View: later(async () => (await import('./figures.tsx')).IncidentInsights),
  },
  {
    name: 'calendars',
    title: 'Calendars',
    requiredCall: calendarFeedsCall,
    View: later(async () => (await import('./calendars.tsx')).Calendars),
  },
]);
