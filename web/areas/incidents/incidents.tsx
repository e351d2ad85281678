/** Incidents: open and resolved ones, the timeline of one, and who is on call */
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
  declareCall,
  feedsCall,
  type Incident,
  incidentCall,
  incidentsCall,
  metricsCall,
  pagesCall,
  policiesCall,
  schedulesCall,
} from './calls.ts';
import { OpenIncident } from './incident-panel.tsx';

const list = new Paged(incidentsCall, ({ items }) => items);

const setOpen = (incident: string): void => change({ incident }, { replace: inAddress('incident') !== '' });

const close = (): void => setOpen('');

const goesOn = ({ status }: Incident): boolean => status === 'open' || status === 'acknowledged';

const cellsOf = (incident: Incident) => [
  <span key="status" class={incident.status === 'open' ? 'text-error' : ''}>
    {incident.status}
  </span>,
  incident.severity,
  <bdi key="title">{shownText(incident.title)}</bdi>,
  <bdi key="services">{shownText((incident.services ?? []).join(', '))}</bdi>,
  shownTime(Date.parse(incident.openedAt)),
];

const Declare = () => {
  const [action] = useState(() => new Action(declareCall));
  const run = async (form: HTMLFormElement): Promise<void> => {
    const made = await action.run({ body: { title: String(new FormData(form).get('title')).trim() } });
    if (made === undefined) return;
    form.reset();
    refresh();
    setOpen(made.id);
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

const Listed = ({ open }: { readonly open: string }) => (
  <Found
    of={list}
    nothing="No incidents found."
    label="Incidents"
    class="incidents"
    columns={['Status', 'Severity', 'Title', 'Services', 'Opened']}
    keyOf={({ id }) => id}
    classOf={(incident) => (goesOn(incident) ? `level-${levelOf(incident.severity ?? null)}` : '')}
    cellsOf={cellsOf}
    open={open}
    onOpen={setOpen}
  />
);

const IncidentsPart = () => {
  const status = inAddress('status');
  const assigneeId = inAddress('assigneeId');
  useEffect(() => {
    list.load({ query: { limit: 100, sort: '-openedAt', status, assigneeId } });
    return () => list.cancel();
  }, [status, assigneeId, refreshes.value]);
  useEscape(() => {
    if (inAddress('incident') !== '') setOpen('');
  });
  const open = inAddress('incident');
  const incident = list.items.value.find(({ id }) => id === open);
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
        {isPermitted(declareCall) ? <Declare /> : null}
      </div>
      <Problem error={list.first.state.value.error} />
      <div class={open === '' ? 'list' : 'list with-record'}>
        <Listed open={open} />
        {open === '' || list.first.state.value.answer === undefined ? null : incident === undefined ? (
          <ReadOne key={`read ${open}`} call={incidentCall} id={open} label="Incident" onClose={close}>
            {(found) => <OpenIncident incident={found} onClose={close} />}
          </ReadOne>
        ) : (
          <OpenIncident key={incident.id} incident={incident} onClose={close} />
        )}
      </div>
      <Problem error={list.furtherError.value} />
      <Freshness of={list.first.state.value} />
    </>
  );
};

export const Incidents = partsOf('Incidents', [
  { name: '', title: 'Incidents', View: IncidentsPart, requiredCall: incidentsCall },
  {
    name: 'on-call',
    title: 'On call',
    requiredCall: schedulesCall,
    View: later(async () => (await import('./on-call.tsx')).OnCall),
  },
  {
    name: 'escalation',
    title: 'Escalation',
    requiredCall: policiesCall,
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
    View: later(async () => (await import('./figures.tsx')).IncidentFigures),
  },
  {
    name: 'calendars',
    title: 'Calendars',
    requiredCall: feedsCall,
    View: later(async () => (await import('./calendars.tsx')).Calendars),
  },
]);
