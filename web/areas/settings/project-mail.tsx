/** Email recipients of a project */
import { useState } from 'preact/hooks';
import type { setNotifications, showNotifications } from '../../../api/groups/projects/notifications.ts';
import { Action } from '../../client/action.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { CheckboxGroup, CheckInput, MultilineInput, RecordSelectInput } from '../../editors/inputs.tsx';
import { parseLines } from '../../editors/lines.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Fields } from '../../lists/side-panel.tsx';

const readCall = declareCall<typeof showNotifications>('GET', '/api/projects/{id}/notifications');
const setCall = declareCall<typeof setNotifications>('PUT', '/api/projects/{id}/notifications');

type EmailSettings = ResponseBody<typeof showNotifications>;
type EmailEvent = EmailSettings['events'][number];
type Severity = EmailSettings['minimumSeverity'];

const eventTitles: Readonly<Record<EmailEvent, string>> = {
  'alert-firing': 'an alert fires',
  'alert-resolved': 'an alert is resolved',
  'incident-opened': 'an incident is opened',
  'incident-resolved': 'an incident is resolved',
  'slo-burning': 'an SLO burns its error budget too fast',
  'check-failing': 'a check fails',
  'check-recovered': 'a check recovers',
  'quota-near': 'a quota is nearly reached',
  'weekly-summary': 'the weekly summary is ready',
};
const severities: Readonly<Record<Severity, string>> = { info: 'info', warning: 'warning', critical: 'critical' };

const isEmailEvent = (text: string): text is EmailEvent => text in eventTitles;

interface Project {
  readonly id: string;
  readonly version: number;
}

const EmailForm = ({
  project,
  savedSettings,
}: {
  readonly project: Project;
  readonly savedSettings: EmailSettings;
}) => {
  const [action] = useState(() => new Action(setCall));
  const [draft, setDraft] = useState(savedSettings);
  const [recipientLines, setRecipientLines] = useState(savedSettings.recipients.join('\n'));
  const updateDraft = (fields: Partial<EmailSettings>): void =>
    setDraft((currentDraft) => ({ ...currentDraft, ...fields }));
  const { error } = action;
  const save = async (): Promise<void> => {
    const body = { ...draft, recipients: parseLines(recipientLines) };
    if ((await action.run({ params: { id: project.id }, body, ifMatch: project.version })) !== undefined) refresh();
  };
  return (
    <div class="form">
      <CheckInput label="Send email" value={draft.enabled} onChange={(enabled) => updateDraft({ enabled })} />
      <MultilineInput
        label="Recipients, one address per line"
        value={recipientLines}
        problem={error.value?.at('recipients')}
        onChange={setRecipientLines}
      />
      <CheckboxGroup
        label="Send when"
        value={draft.events}
        problem={error.value?.at('events')}
        options={Object.entries(eventTitles)}
        onChange={(newEvents) => updateDraft({ events: newEvents.filter(isEmailEvent) })}
      />
      <RecordSelectInput
        label="Minimum severity of alerts and incidents"
        value={draft.minimumSeverity}
        problem={error.value?.at('minimumSeverity')}
        options={severities}
        onChange={(minimumSeverity) => updateDraft({ minimumSeverity })}
      />
      <div class="act">
        <button type="button" disabled={action.isRunning.value} onClick={() => void save()}>
          Save recipients
        </button>
        <ErrorMessage error={error.value} />
      </div>
    </div>
  );
};

const EmailDetails = ({
  settings: { enabled, recipients, events: selectedEvents, minimumSeverity },
}: {
  readonly settings: EmailSettings;
}) => (
  <Fields
    values={{
      'email enabled': enabled ? 'yes' : 'no',
      to: recipients.join(', ') || 'nobody',
      when: selectedEvents.map((event) => eventTitles[event]).join(', '),
      'minimum severity': minimumSeverity,
    }}
  />
);

export const ProjectMail = ({ project }: { readonly project: Project }) => {
  const { response, error } = useQuery(readCall, { params: { id: project.id } });
  return (
    <>
      <h3>Email</h3>
      <ErrorMessage error={error} />
      {response === undefined ? null : isPermitted(setCall) ? (
        <EmailForm key={JSON.stringify([response, project.version])} project={project} savedSettings={response} />
      ) : (
        <EmailDetails settings={response} />
      )}
    </>
  );
};
