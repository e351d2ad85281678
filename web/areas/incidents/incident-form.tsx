/** Form to edit an incident: title, severity, services, roles, and escalation policy */
import { useState } from 'preact/hooks';
import type { alertSeverities } from '../../../schemas/alerts.ts';
import { Action } from '../../client/action.ts';
import { Field } from '../../editors/field.tsx';
import { createProblemFinder } from '../../editors/form-state.tsx';
import { ListInput, RecordSelectInput, TextInput } from '../../editors/inputs.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { useNames } from '../../frame/people.ts';
import { renderText } from '../../frame/shown-text.tsx';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { changeCall, escalationPoliciesCall, type Incident } from './calls.ts';

type Severity = (typeof alertSeverities)[number];

const severities: Readonly<Record<Severity, string>> = {
  info: 'info',
  warning: 'warning',
  error: 'error',
  critical: 'critical',
};

const identity = (text: string): string => text;

const RoleFields = ({
  of: { role, userId },
  onChange,
  onRemove,
}: {
  readonly of: IncidentRoles[number];
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

export const IncidentForm = ({ of, onDone }: { readonly of: Incident; readonly onDone: () => void }) => {
  const [action] = useState(() => new Action(changeCall));
  const {
    title,
    summary = '',
    severity = 'error',
    services = [],
    tags = [],
    roles = [],
    escalationPolicyId = null,
  } = of;
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
  const set = (fields: Partial<typeof draftIncident>): void => setDraftIncident((now) => ({ ...now, ...fields }));
  const error = action.error.value;
  const findProblem = createProblemFinder(error);
  const save = async (): Promise<void> => {
    if ((await action.run({ params: { id: of.id }, body: draftIncident, ifMatch: of.version })) === undefined) return;
    onDone();
    refresh();
  };
  return (
    <div class="form">
      <TextInput
        label="Title"
        value={draftIncident.title}
        problem={findProblem('title')}
        onChange={(text) => set({ title: text })}
      />
      <Field label="Summary" problem={findProblem('summary')}>
        <textarea
          rows={3}
          maxLength={16_384}
          value={draftIncident.summary}
          onInput={({ currentTarget }) => set({ summary: currentTarget.value })}
        />
      </Field>
      <RecordSelectInput
        label="Severity"
        options={severities}
        value={draftIncident.severity}
        problem={findProblem('severity')}
        onChange={(chosen) => set({ severity: chosen })}
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
          onChange={(texts) => set({ [name]: [...texts] })}
        />
      ))}
      <RecordSelectInput
        label="Responders"
        options={{ '': 'nobody', ...Object.fromEntries(policies.map(({ id, name }) => [id, name])) }}
        value={draftIncident.escalationPolicyId ?? ''}
        problem={findProblem('escalationPolicyId')}
        onChange={(id) => set({ escalationPolicyId: id || null })}
      />
      <fieldset>
        <legend>Roles</legend>
        {draftIncident.roles.map((role, index) => (
          <RoleFields
            key={index}
            of={role}
            onChange={(changed) => set({ roles: draftIncident.roles.with(index, changed) })}
            onRemove={() => set({ roles: draftIncident.roles.toSpliced(index, 1) })}
          />
        ))}
        <button
          type="button"
          class="plain"
          onClick={() => set({ roles: [...draftIncident.roles, { role: 'commander', userId: people[0] ?? '' }] })}
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
