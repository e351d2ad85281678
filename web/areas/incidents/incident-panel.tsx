/** Side panel of an incident: status, timeline, and actions */

import { useEffect, useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { PagedList } from '../../client/pages.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { type NamesById, useNames } from '../../frame/people.ts';
import { toServicePage } from '../../frame/resource-links.ts';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { SeverityBadge } from '../../frame/severity-badge.tsx';
import { refresh, refreshCount } from '../../frame/time-range.ts';
import { ShowMore } from '../../lists/show-more.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import {
  acknowledgeIncidentCall,
  addNoteCall,
  type Incident,
  reopenIncidentCall,
  resolveIncidentCall,
  type TimelineEntry,
  timelineCall,
  updateIncidentCall,
} from './calls.ts';
import { IncidentForm } from './incident-form.tsx';
import { PossibleDuplicates } from './merges.tsx';
import { PostmortemSection } from './postmortem.tsx';
import { getEntryText, getEntryTitle, kindTitles } from './timeline-texts.ts';

const ProbableCauses = lazyLoad(async () => (await import('../../lists/causes.tsx')).Causes);

const statusActions = {
  acknowledge: ['Acknowledge', acknowledgeIncidentCall],
  resolve: ['Resolve', resolveIncidentCall],
  reopen: ['Reopen', reopenIncidentCall],
} as const;

/** Possible actions by state */
const actionsByStatus: Readonly<Record<string, readonly (keyof typeof statusActions)[]>> = {
  open: ['acknowledge', 'resolve'],
  acknowledged: ['resolve'],
  resolved: ['reopen'],
};

const StatusButton = ({ id, actionName }: { readonly id: string; readonly actionName: keyof typeof statusActions }) => {
  const [title, call] = statusActions[actionName];
  const [action] = useState(() => new Action<NonNullable<(typeof call)['operation']>>(call));
  const runAction = async (): Promise<void> => {
    if ((await action.run({ params: { id } })) !== undefined) refresh();
  };
  return (
    <>
      <Button
        kind={actionName === 'acknowledge' ? 'primary' : 'secondary'}
        disabled={action.isRunning.value}
        onClick={() => void runAction()}
      >
        {title}
      </Button>
      <ErrorMessage error={action.error.value} />
    </>
  );
};

const NoteForm = ({ id }: { readonly id: string }) => {
  const [action] = useState(() => new Action(addNoteCall));
  const addNote = async (form: HTMLFormElement): Promise<void> => {
    const text = String(new FormData(form).get('text'));
    if ((await action.run({ params: { id }, body: { text } })) === undefined) return;
    form.reset();
    refresh();
  };
  return (
    <ActionForm action={action} label="Add" onSubmit={addNote}>
      <label>
        Note <input name="text" required={true} maxLength={16_384} autocomplete="off" />
      </label>
    </ActionForm>
  );
};

const kindTones: Readonly<Record<string, Tone>> = {
  alert: 'critical',
  acknowledgement: 'ok',
  deployment: 'info',
  page: 'warning',
};

const TimelineItem = ({ entry, people }: { readonly entry: TimelineEntry; readonly people: NamesById }) => {
  const { kind, at, service, actor } = entry;
  const title = getEntryTitle(entry);
  const text = getEntryText(entry);
  const name = actor === null ? undefined : people[actor.id];
  return (
    <li>
      <time>{formatIsoTime(at)}</time>
      <Badge tone={kindTones[kind] ?? 'neutral'}>{kindTitles[kind] ?? kind}</Badge>
      <span>
        {title === '' ? null : renderText(title)}
        {service === '' ? null : (
          <>
            {' '}
            <bdi class="soft">{renderText(service)}</bdi>
          </>
        )}
        {name === undefined ? null : <span class="soft"> by {renderText(name)}</span>}
        {text === '' ? null : <span class="timeline-text">{renderText(text, { lines: true })}</span>}
      </span>
    </li>
  );
};

const IncidentTimeline = ({ id, people }: { readonly id: string; readonly people: NamesById }) => {
  const [pagedTimeline] = useState(() => new PagedList(timelineCall, ({ items }) => items));
  useEffect(() => {
    pagedTimeline.load({ params: { id }, query: { limit: 200 } });
    return () => pagedTimeline.cancel();
  }, [id, refreshCount.value]);
  const { response, error } = pagedTimeline.first.state.value;
  return (
    <>
      <PossibleDuplicates id={id} suggestions={response?.mergeSuggestions ?? []} />
      <h3>Timeline</h3>
      <ErrorMessage error={error} />
      {response?.missing.map((source) => (
        <p key={source} class="problem">
          Missing from the timeline: {renderText(source)}
        </p>
      ))}
      <ol class="timeline">
        {pagedTimeline.items.value.map((entry) => (
          <TimelineItem key={`${entry.kind} ${entry.id}`} entry={entry} people={people} />
        ))}
      </ol>
      <ShowMore list={pagedTimeline} />
      <ErrorMessage error={pagedTimeline.loadMoreError.value} />
    </>
  );
};

const ServiceLinks = ({ services }: { readonly services: readonly string[] }) => (
  <ul class="links">
    {services.map((service) => (
      <li key={service}>
        <Link url={toServicePage(service)}>{renderText(service)}</Link>
      </li>
    ))}
  </ul>
);

const statusTitles = { open: 'Open', acknowledged: 'Acknowledged', resolved: 'Resolved', merged: 'Merged' } as const;
const statusTones: Readonly<Record<string, Tone>> = { open: 'critical', acknowledged: 'warning', resolved: 'ok' };

export const IncidentPanel = ({ incident, onClose }: { readonly incident: Incident; readonly onClose: () => void }) => {
  const { id, title, summary, status, severity, services = [], tags = [], roles = [] } = incident;
  const [isEditing, setIsEditing] = useState(false);
  const people = useNames();
  const toName = (userId: string | null): string | null => (userId === null ? null : (people[userId] ?? userId));
  return (
    <SidePanel label="Incident" title={title} onClose={onClose}>
      <p class="alert-state">
        <Badge tone={statusTones[status ?? 'open'] ?? 'neutral'}>{statusTitles[status ?? 'open']}</Badge>
        <SeverityBadge severity={severity} />
        <span class="soft">opened {formatIsoTime(incident.openedAt)}</span>
      </p>
      <p>{renderText(summary ?? '', { lines: true })}</p>
      {isEditing ? (
        <IncidentForm
          key={incident.version}
          incident={incident}
          onSaved={() => setIsEditing(false)}
          onCancel={() => setIsEditing(false)}
        />
      ) : null}
      {isPermitted(acknowledgeIncidentCall) ? (
        <div class="act">
          {(actionsByStatus[status ?? 'open'] ?? []).map((actionName) => (
            <StatusButton key={actionName} id={id} actionName={actionName} />
          ))}
          {isEditing || !isPermitted(updateIncidentCall) ? null : (
            <button type="button" class="plain" onClick={() => setIsEditing(true)}>
              Edit
            </button>
          )}
        </div>
      ) : (
        <p class="soft">{explainDenial(acknowledgeIncidentCall, 'Acknowledging incidents')}</p>
      )}
      <ServiceLinks services={services} />
      <Fields
        values={{
          acknowledged: formatIsoTime(incident.acknowledgedAt),
          'acknowledged by': toName(incident.acknowledgedBy),
          resolved: formatIsoTime(incident.resolvedAt),
          'resolved by': toName(incident.resolvedBy),
          'merged into': incident.mergedInto,
          tags: tags.join(', '),
          ...Object.fromEntries(roles.map(({ role, userId }) => [role, people[userId] ?? userId])),
        }}
      />
      <ProbableCauses symptom={{ incidentId: id }} />
      {isPermitted(addNoteCall) ? <NoteForm id={id} /> : null}
      {status === 'resolved' ? <PostmortemSection id={id} /> : null}
      <IncidentTimeline id={id} people={people} />
    </SidePanel>
  );
};
