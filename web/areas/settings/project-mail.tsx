/** Email recipients of a project */
import { useState } from 'preact/hooks';
import type { setNotifications, showNotifications } from '../../../api/groups/projects/notifications.ts';
import { Action } from '../../client/action.ts';
import { type Answered, callOf } from '../../client/call.ts';
import { CheckInput, ChoiceInput, LinesInput, SomeInput } from '../../editors/inputs.tsx';
import { linesIn } from '../../editors/lines.ts';
import { Problem } from '../../frame/freshness.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Fields } from '../../lists/side-panel.tsx';

const readCall = callOf<typeof showNotifications>('GET', '/api/projects/{id}/notifications');
const setCall = callOf<typeof setNotifications>('PUT', '/api/projects/{id}/notifications');

type Mail = Answered<typeof showNotifications>;
type Event = Mail['events'][number];
type Severity = Mail['minimumSeverity'];

const events: Readonly<Record<Event, string>> = {
  'alert-firing': 'an alert fires',
  'alert-resolved': 'an alert is resolved',
  'incident-opened': 'an incident is opened',
  'incident-resolved': 'an incident is resolved',
  'slo-burning': 'the error budget of an SLO burns',
  'check-failing': 'a check fails',
  'check-recovered': 'a check recovers',
  'quota-near': 'a quota is nearly reached',
  'weekly-summary': 'weekly summary',
};
const severities: Readonly<Record<Severity, string>> = { info: 'info', warning: 'warning', critical: 'critical' };

const isEvent = (text: string): text is Event => text in events;

interface Project {
  readonly id: string;
  readonly version: number;
}

const Form = ({ project, before }: { readonly project: Project; readonly before: Mail }) => {
  const [action] = useState(() => new Action(setCall));
  const [written, setWritten] = useState(before);
  const [lines, setLines] = useState(before.recipients.join('\n'));
  const set = (fields: Partial<Mail>): void => setWritten((now) => ({ ...now, ...fields }));
  const { error } = action;
  const save = async (): Promise<void> => {
    const body = { ...written, recipients: linesIn(lines) };
    if ((await action.run({ params: { id: project.id }, body, ifMatch: project.version })) !== undefined) refresh();
  };
  return (
    <div class="form">
      <CheckInput label="Send email" value={written.enabled} onChange={(enabled) => set({ enabled })} />
      <LinesInput
        label="Recipients, one address per line"
        value={lines}
        problem={error.value?.at('recipients')}
        onChange={setLines}
      />
      <SomeInput
        label="When"
        value={written.events}
        problem={error.value?.at('events')}
        options={Object.entries(events)}
        onChange={(chosen) => set({ events: chosen.filter(isEvent) })}
      />
      <ChoiceInput
        label="Minimum severity of alerts and incidents"
        value={written.minimumSeverity}
        problem={error.value?.at('minimumSeverity')}
        options={severities}
        onChange={(minimumSeverity) => set({ minimumSeverity })}
      />
      <div class="act">
        <button type="button" disabled={action.isRunning.value} onClick={() => void save()}>
          Save recipients
        </button>
        <Problem error={error.value} />
      </div>
    </div>
  );
};

const MailDetails = ({ of: { enabled, recipients, events: chosen, minimumSeverity } }: { readonly of: Mail }) => (
  <Fields
    values={{
      'email enabled': enabled ? 'yes' : 'no',
      to: recipients.join(', ') || 'nobody',
      when: chosen.map((event) => events[event]).join(', '),
      'minimum severity': minimumSeverity,
    }}
  />
);

export const ProjectMail = ({ project }: { readonly project: Project }) => {
  const { answer, error } = useQuery(readCall, { params: { id: project.id } });
  return (
    <>
      <h3>Email</h3>
      <Problem error={error} />
      {answer === undefined ? null : isPermitted(setCall) ? (
        <Form key={JSON.stringify([answer, project.version])} project={project} before={answer} />
      ) : (
        <MailDetails of={answer} />
      )}
    </>
  );
};
