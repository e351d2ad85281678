/** Form to edit an incident: title, severity, services, roles, and escalation policy */
import { useState } from 'preact/hooks';
import type { alertSeverities } from '../../../schemas/alerts.ts';
import { Action } from '../../client/action.ts';
import { Field } from '../../editors/field.tsx';
import { createProblemFinder } from '../../editors/form-state.tsx';
import { ListInput, RecordSelectInput, TextInput } from '../../editors/inputs.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { useNames } from '../../frame/people.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { escalationPoliciesCall, type Incident, updateIncidentCall } from './calls.ts';

type Severity = (typeof alertSeverities)[number];

const severityOptions: Readonly<Record<Severity, string>> = {
  info: 'info',
  warning: 'warning',
  error: 'error',
  critical: 'critical',
};

const identity = (text: string): string => text;

const RoleFields = ({
  role: { role, userId },
  onChange,
  onRemove,
}: {
  readonly role: IncidentRoles[number];
  readonly onChange: (role: IncidentRoles[number]) => void;
  readonly onRemove: () => void;
}) => {
  const people = useNames();
  return (
    <div class="act">
      <label>
        Role{' '}
        <input
          value={role}
          maxLength={64}
          autocomplete="off"
          onInput={({ currentTarget }) => onChange({ role: currentTarget.value, userId })}
        />
      </label>
      <label>
        User{' '}
        <select value={userId} onChange={({ currentTarget }) => onChange({ role, userId: currentTarget.value })}>
          {userId in people ? null : <option value={userId}>{renderText(userId)}</option>}
          {Object.entries(people).map(([id, name]) => (
            <option key={id} value={id}>
              {renderText(name)}
            </option>
          ))}
        </select>
      </label>
      <button type="button" class="plain" onClick={onRemove}>
        Remove<span class="sr-only"> {renderText(role)}</span>
      </button>
    </div>
  );
};

type IncidentRoles = NonNullable<Incident['roles']>;

export const IncidentForm = ({ incident, onDone }: { readonly incident: Incident; readonly onDone: () => void }) => {
  const [action] = useState(() => new Action(updateIncidentCall));
  const {
    title,
    summary = '',
    severity = 'error',
    services = [],
    tags = [],
    roles = [],
    escalationPolicyId = null,
  } = incident;
  const [draftIncident, setDraftIncident] = useState({
    title,
    summary,
    severity,
    services,
    tags,
    roles,
    escalationPolicyId,
  });
  const policies = useQuery(escalationPoliciesCall, { query: { limit: 1000 } }).response?.items ?? [];
  const people = Object.keys(useNames());
  const updateDraft = (fields: Partial<typeof draftIncident>): void =>
    setDraftIncident((currentDraft) => ({ ...currentDraft, ...fields }));
  const error = action.error.value;
  const findProblem = createProblemFinder(error);
  const save = async (): Promise<void> => {
    if (
      (await action.run({ params: { id: incident.id }, body: draftIncident, ifMatch: incident.version })) === undefined
    )
      return;
    onDone();
    refresh();
  };
  return (
    <div class="form">
      <TextInput
        label="Title"
        value={draftIncident.title}
        problem={findProblem('title')}
        onChange={(text) => updateDraft({ title: text })}
      />
      <Field label="Summary" problem={findProblem('summary')}>
        <textarea
          rows={3}
          maxLength={16_384}
          value={draftIncident.summary}
          onInput={({ currentTarget }) => updateDraft({ summary: currentTarget.value })}
        />
      </Field>
      <RecordSelectInput
        label="Severity"
        options={severityOptions}
        value={draftIncident.severity}
        problem={findProblem('severity')}
        onChange={(newSeverity) => updateDraft({ severity: newSeverity })}
      />
      {(
        [
          ['Services, comma-separated', 'services'],
          ['Tags, comma-separated', 'tags'],
        ] as const
      ).map(([label, name]) => (
        <ListInput
          key={name}
          label={label}
          value={draftIncident[name]}
          problem={findProblem(name)}
          parseItem={identity}
          formatItem={identity}
          onChange={(texts) => updateDraft({ [name]: [...texts] })}
        />
      ))}
      <RecordSelectInput
        label="Responders"
        options={{ '': 'nobody', ...Object.fromEntries(policies.map(({ id, name }) => [id, name])) }}
        value={draftIncident.escalationPolicyId ?? ''}
        problem={findProblem('escalationPolicyId')}
        onChange={(id) => updateDraft({ escalationPolicyId: id || null })}
      />
      <fieldset>
        <legend>Roles</legend>
        {draftIncident.roles.map((role, index) => (
          <RoleFields
            key={index}
            role={role}
            onChange={(updatedRole) => updateDraft({ roles: draftIncident.roles.with(index, updatedRole) })}
            onRemove={() => updateDraft({ roles: draftIncident.roles.toSpliced(index, 1) })}
          />
        ))}
        <button
          type="button"
          class="plain"
          onClick={() =>
            updateDraft({ roles: [...draftIncident.roles, { role: 'commander', userId: people[0] ?? '' }] })
          }
        >
          Assign role
        </button>
        <p class="problem-text" role="alert">
          {findProblem('roles') ?? ''}
        </p>
      </fieldset>
      <div class="act">
        <button type="button" disabled={action.isRunning.value} onClick={() => void save()}>
          Save incident
        </button>
        <button type="button" class="plain" onClick={onDone}>
          Cancel
        </button>
        <ErrorMessage error={error} />
      </div>
    </div>
  );
};
