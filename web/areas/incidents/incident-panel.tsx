/** Side panel of an incident: status, timeline, and actions */
import { useEffect, useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { PagedList } from '../../client/pages.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { toArea } from '../../frame/address.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { useNames } from '../../frame/people.ts';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { renderText } from '../../frame/shown-text.tsx';
import { formatIsoTime } from '../../frame/shown-time.ts';
import { refresh, refreshCount } from '../../frame/time-range.ts';
import { ShowMore } from '../../lists/show-more.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import {
  acknowledgeCall,
  addNoteCall,
  changeCall,
  type Incident,
  reopenCall,
  resolveCall,
  timelineCall,
} from './calls.ts';
import { IncidentForm } from './incident-form.tsx';
import { PossibleDuplicates } from './merges.tsx';
import { PostmortemSection } from './postmortem.tsx';

const Causes = lazyLoad(async () => (await import('../../lists/causes.tsx')).Causes);

const statusActions = {
  acknowledge: ['Acknowledge', acknowledgeCall],
  resolve: ['Resolve', resolveCall],
  reopen: ['Reopen', reopenCall],
} as const;

/** Possible actions by state */
const actionsByStatus: Readonly<Record<string, readonly (keyof typeof statusActions)[]>> = {
  open: ['acknowledge', 'resolve'],
  acknowledged: ['resolve'],
  resolved: ['reopen'],
};

const StatusButton = ({ id, step }: { readonly id: string; readonly step: keyof typeof statusActions }) => {
  const [title, call] = statusActions[step];
  const [action] = useState(() => new Action<NonNullable<(typeof call)['operation']>>(call));
  const run = async (): Promise<void> => {
    if ((await action.run({ params: { id } })) !== undefined) refresh();
  };
  return (
    <>
      <button type="button" disabled={action.isRunning.value} onClick={() => void run()}>
        {title}
      </button>
      <ErrorMessage error={action.error.value} />
    </>
  );
};

const NoteForm = ({ id }: { readonly id: string }) => {
  const [action] = useState(() => new Action(addNoteCall));
  const run = async (form: HTMLFormElement): Promise<void> => {
    const text = String(new FormData(form).get('text'));
    if ((await action.run({ params: { id }, body: { text } })) === undefined) return;
    form.reset();
    refresh();
  };
  return (
    <ActionForm action={action} label="Add" onSubmit={run}>
      <label>
        Note <input name="text" required={true} maxLength={16_384} autocomplete="off" />
      </label>
    </ActionForm>
  );
};

const Timeline = ({ id }: { readonly id: string }) => {
  const [timelinePages] = useState(() => new PagedList(timelineCall, ({ items }) => items));
  useEffect(() => {
    timelinePages.load({ params: { id }, query: { limit: 200 } });
    return () => timelinePages.cancel();
  }, [id, refreshCount.value]);
  const { response, error } = timelinePages.first.state.value;
  return (
    <>
      <PossibleDuplicates id={id} suggestions={response?.mergeSuggestions ?? []} />
      <h3>Timeline</h3>
      <ErrorMessage error={error} />
      {response?.missing.map((source) => (
        <p key={source} class="problem">
          The timeline could not be loaded: {renderText(source)}
        </p>
      ))}
      <ol class="around">
        {timelinePages.items.value.map(({ kind, id: entry, at, title, text, service }) => (
          <li key={`${kind} ${entry}`}>
            <time>{formatIsoTime(at)}</time> {kind}
            {service === '' ? '' : <bdi> {renderText(service)}</bdi>}: {kind === 'note' ? '' : renderText(title)}{' '}
            {renderText(text)}
          </li>
        ))}
      </ol>
      <ShowMore list={timelinePages} />
      <ErrorMessage error={timelinePages.loadMoreError.value} />
    </>
  );
};

const Services = ({ services }: { readonly services: readonly string[] }) => (
  <ul class="links">
    {services.map((service) => (
      <li key={service}>
        <Link url={toArea('/services', { service })}>{renderText(service)}</Link>
      </li>
    ))}
  </ul>
);

export const IncidentPanel = ({ incident, onClose }: { readonly incident: Incident; readonly onClose: () => void }) => {
  const { id, title, summary, status, severity, services = [], tags = [], roles = [] } = incident;
  const [isEditing, setEdited] = useState(false);
  const people = useNames();
  return (
    <SidePanel label="Incident" title={title} onClose={onClose}>
      <p>{renderText(summary ?? '', { lines: true })}</p>
      {isEditing ? <IncidentForm key={incident.version} of={incident} onDone={() => setEdited(false)} /> : null}
      {isPermitted(acknowledgeCall) ? (
        <div class="act">
          {(actionsByStatus[status ?? 'open'] ?? []).map((step) => (
            <StatusButton key={step} id={id} step={step} />
          ))}
          {isEditing || !isPermitted(changeCall) ? null : (
            <button type="button" class="plain" onClick={() => setEdited(true)}>
              Edit
            </button>
          )}
        </div>
      ) : (
        <p class="soft">{explainDenial(acknowledgeCall, 'Acknowledging incidents')}</p>
      )}
      <Services services={services} />
      <Fields
        values={{
          status,
          severity,
          opened: formatIsoTime(incident.openedAt),
          acknowledged: formatIsoTime(incident.acknowledgedAt),
          'acknowledged by': incident.acknowledgedBy,
          resolved: formatIsoTime(incident.resolvedAt),
          'resolved by': incident.resolvedBy,
          'merged into': incident.mergedInto,
          tags: tags.join(', '),
          ...Object.fromEntries(roles.map(({ role, userId }) => [role, people[userId] ?? userId])),
        }}
      />
      <Causes symptom={{ incidentId: id }} />
      {isPermitted(addNoteCall) ? <NoteForm id={id} /> : null}
      {status === 'resolved' ? <PostmortemSection id={id} /> : null}
      <Timeline id={id} />
    </SidePanel>
  );
};
