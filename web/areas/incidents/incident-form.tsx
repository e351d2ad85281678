/** Form to declare or edit an incident: title, severity, services, summary, escalation policy, roles, and tags */
import { useState } from 'preact/hooks';
import type { alertSeverities } from '../../../schemas/alerts.ts';
import { Action } from '../../client/action.ts';
import { Button } from '../../components/button.tsx';
import { Field, FieldProblem } from '../../editors/field.tsx';
import { createProblemFinder } from '../../editors/form-state.tsx';
import { ListInput, RecordSelectInput, TextInput } from '../../editors/inputs.tsx';
import { parseNames } from '../../editors/query-form.ts';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { useNames } from '../../frame/people.ts';
import { session } from '../../frame/session.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { nameListFormat } from '../../search/completion.ts';
import { suggestServices } from '../../search/suggest-span-fields.ts';
import { SuggestedField } from '../../search/suggested-input.tsx';
import { declareIncidentCall, escalationPoliciesCall, type Incident, updateIncidentCall } from './calls.ts';

type Severity = (typeof alertSeverities)[number];
type IncidentRoles = NonNullable<Incident['roles']>;
type DraftFields = 'title' | 'summary' | 'severity' | 'services' | 'tags' | 'roles' | 'escalationPolicyId';
type DraftIncident = { readonly [Name in DraftFields]-?: Exclude<Incident[Name], undefined> };

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

const RoleListFields = ({
  roles,
  problem,
  onChange,
}: {
  readonly roles: IncidentRoles;
  readonly problem: string | undefined;
  readonly onChange: (roles: IncidentRoles) => void;
}) => {
  const [firstUser = ''] = Object.keys(useNames());
  return (
    <fieldset>
      <legend>Roles</legend>
      {roles.map((role, index) => (
        <RoleFields
          key={index}
          role={role}
          onChange={(updatedRole) => onChange(roles.with(index, updatedRole))}
          onRemove={() => onChange(roles.toSpliced(index, 1))}
        />
      ))}
      <button
        type="button"
        class="plain"
        onClick={() => onChange([...roles, { role: 'commander', userId: session.value?.user.id ?? firstUser }])}
      >
        Assign role
      </button>
      <FieldProblem message={problem} />
    </fieldset>
  );
};

const ServicesField = ({
  services,
  problem,
  onChange,
}: {
  readonly services: readonly string[];
  readonly problem: string | undefined;
  readonly onChange: (services: string[]) => void;
}) => (
  <div>
    <SuggestedField
      label="Services"
      value={services.join(', ')}
      format={nameListFormat}
      suggest={suggestServices}
      placeholder="checkout, cart"
      maxLength={4096}
      isInvalid={problem !== undefined}
      onCommit={(text) => onChange(parseNames(text))}
    />
    <FieldProblem message={problem} />
  </div>
);

/** Without an incident, the form declares one. */
export const IncidentForm = ({
  incident,
  onSaved,
  onCancel,
}: {
  readonly incident?: Incident;
  readonly onSaved: (id: string) => void;
  readonly onCancel: () => void;
}) => {
  const [declareAction] = useState(() => new Action(declareIncidentCall));
  const [updateAction] = useState(() => new Action(updateIncidentCall));
  const [draftIncident, setDraftIncident] = useState<DraftIncident>(() => {
    const { title = '', summary = '', severity = 'error', services = [], tags = [] } = incident ?? {};
    const { roles = [], escalationPolicyId = null } = incident ?? {};
    return { title, summary, severity, services, tags, roles, escalationPolicyId };
  });
  const policies = useQuery(escalationPoliciesCall, { query: { limit: 1000 } }).response?.items ?? [];
  const updateDraft = (fields: Partial<DraftIncident>): void =>
    setDraftIncident((currentDraft) => ({ ...currentDraft, ...fields }));
  const { error, isRunning } = incident === undefined ? declareAction : updateAction;
  const findProblem = createProblemFinder(error.value);
  const save = async (): Promise<void> => {
    const body = { ...draftIncident, title: draftIncident.title.trim() };
    const saved =
      incident === undefined
        ? await declareAction.run({ body })
        : await updateAction.run({ params: { id: incident.id }, body, ifMatch: incident.version });
    if (saved === undefined) return;
    onSaved(saved.id);
    refresh();
  };
  return (
    <div class="form">
      <TextInput
        label="Title"
        value={draftIncident.title}
        problem={findProblem('title')}
        onChange={(title) => updateDraft({ title })}
      />
      <RecordSelectInput
        label="Severity"
        options={severityOptions}
        value={draftIncident.severity}
        problem={findProblem('severity')}
        onChange={(severity) => updateDraft({ severity })}
      />
      <ServicesField
        services={draftIncident.services}
        problem={findProblem('services')}
        onChange={(services) => updateDraft({ services })}
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
        label="Responders"
        hint="The escalation policy states who is paged."
        options={{ '': 'nobody', ...Object.fromEntries(policies.map(({ id, name }) => [id, name])) }}
        value={draftIncident.escalationPolicyId ?? ''}
        problem={findProblem('escalationPolicyId')}
        onChange={(id) => updateDraft({ escalationPolicyId: id || null })}
      />
      <RoleListFields
        roles={draftIncident.roles}
        problem={findProblem('roles')}
        onChange={(roles) => updateDraft({ roles })}
      />
      <ListInput
        label="Tags, comma-separated"
        value={draftIncident.tags}
        problem={findProblem('tags')}
        parseItem={identity}
        formatItem={identity}
        onChange={(tags) => updateDraft({ tags: [...tags] })}
      />
      <div class="act">
        <Button kind="primary" disabled={isRunning.value} onClick={() => void save()}>
          {incident === undefined ? 'Declare incident' : 'Save incident'}
        </Button>
        <Button kind="quiet" onClick={onCancel}>
          Cancel
        </Button>
        <ErrorMessage error={error.value} />
      </div>
    </div>
  );
};
