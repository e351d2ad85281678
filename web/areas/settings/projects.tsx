/** Projects of the organization, each with its keys and email recipients */
import { useEffect, useState } from 'preact/hooks';
import type { z } from 'zod';
import type { licenseKeyResource } from '../../../api/groups/license-keys/resource.ts';
import type { projectResource } from '../../../api/groups/projects/resource.ts';
import type { rotateProjectKey } from '../../../api/groups/projects/rotate-key.ts';
import type { ProjectFields } from '../../../schemas/resources/project.ts';
import { Action } from '../../client/action.ts';
import {
  declareCall,
  declareCreateCall,
  declareListCall,
  declareUpdateCall,
  type ResourceView,
} from '../../client/call.ts';
import { Field } from '../../editors/field.tsx';
import { createItemPanel, createNewButton, useSaving } from '../../editors/form-state.tsx';
import { CheckInput, MultilineInput, TextInput } from '../../editors/inputs.tsx';
import { parseLines } from '../../editors/lines.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute, formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { loadProjects } from '../../frame/project.ts';
import { isPermitted } from '../../frame/rights.ts';
import { refresh, refreshCount } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { Fields } from '../../lists/side-panel.tsx';
import { OneTimeKey } from './keys.tsx';
import { ProjectMail } from './project-mail.tsx';

type Project = ResourceView<typeof projectResource>;
type ProjectInput = z.input<typeof ProjectFields>;

const noun = 'project';
const createCall = declareCreateCall<typeof projectResource, typeof ProjectFields>('/api/projects');
const changeCall = declareUpdateCall<typeof projectResource, ProjectInput>('/api/projects/{id}');
const keysCall = declareListCall<typeof licenseKeyResource>('/api/license-keys');
const rotateCall = declareCall<typeof rotateProjectKey>('POST', '/api/projects/{id}/rotate-key');

const ProjectForm = ({ savedItem }: { readonly savedItem: Project | undefined }) => {
  const [draft, setDraft] = useState<Required<ProjectInput>>({
    name: savedItem?.name ?? '',
    description: savedItem?.description ?? '',
    browserPrivacy: savedItem?.browserPrivacy ?? {},
    secrets: savedItem?.secrets ?? 'report',
  });
  const privacy = draft.browserPrivacy ?? {};
  const { save, findProblem, error, isRunning } = useSaving(createCall, changeCall, savedItem);
  return (
    <div class="form">
      <TextInput
        label="Name"
        value={draft.name}
        problem={findProblem('name')}
        onChange={(name) => setDraft({ ...draft, name })}
      />
      <Field label="Description" problem={findProblem('description')}>
        <textarea
          rows={4}
          maxLength={4096}
          value={draft.description}
          aria-invalid={findProblem('description') !== undefined}
          onInput={({ currentTarget }) => setDraft({ ...draft, description: currentTarget.value })}
        />
      </Field>
      <fieldset>
        <legend>Personal data from browsers</legend>
        <MultilineInput
          label="URL parameters to store, one per line"
          hint="All other parameters are removed from URLs."
          value={(privacy.queryParameters ?? []).join('\n')}
          problem={findProblem('browserPrivacy.queryParameters')}
          onChange={(names) =>
            setDraft({ ...draft, browserPrivacy: { ...privacy, queryParameters: parseLines(names) } })
          }
        />
        <CheckInput
          label="Store email addresses"
          value={privacy.storesEmailAddresses ?? false}
          onChange={(storesEmailAddresses) =>
            setDraft({ ...draft, browserPrivacy: { ...privacy, storesEmailAddresses } })
          }
        />
        <CheckInput
          label="Store names of users"
          value={privacy.storesUserNames ?? false}
          onChange={(storesUserNames) => setDraft({ ...draft, browserPrivacy: { ...privacy, storesUserNames } })}
        />
      </fieldset>
      <fieldset>
        <legend>Secrets in telemetry</legend>
        <CheckInput
          label="Replace secrets before they are stored"
          value={draft.secrets === 'redact'}
          onChange={(isRedacted) => setDraft({ ...draft, secrets: isRedacted ? 'redact' : 'report' })}
        />
        <p class="hint">Secrets are reported in either case. A replaced secret cannot be restored.</p>
      </fieldset>
      <div class="act">
        <button type="button" disabled={isRunning} onClick={() => void save(draft)}>
          {savedItem === undefined ? 'Create project' : 'Save project'}
        </button>
        <ErrorMessage error={error} />
      </div>
    </div>
  );
};

const hourSeconds = 3600;

/** Rotates the ingest key of a project without naming the key. */
const KeyRotationForm = ({ project: { id, ingestKeyId } }: { readonly project: Project }) => {
  const [action] = useState(() => new Action(rotateCall));
  const [secret, setSecret] = useState('');
  const rotate = async (form: HTMLFormElement): Promise<void> => {
    const hours = Number(new FormData(form).get('hours') ?? 24);
    const rotatedKey = await action.run({ params: { id }, body: { graceSeconds: Math.round(hours * hourSeconds) } });
    if (rotatedKey === undefined) return;
    setSecret(rotatedKey.key);
    refresh();
  };
  return (
    <>
      <ActionForm
        action={action}
        label={ingestKeyId === null ? 'Create ingest key' : 'Rotate ingest key'}
        onSubmit={rotate}
      >
        {ingestKeyId === null ? null : (
          <label>
            Overlap (hours) in which the old key still works{' '}
            <input name="hours" type="number" min={0} max={2160} required={true} defaultValue="24" />
          </label>
        )}
      </ActionForm>
      <OneTimeKey secret={secret} />
    </>
  );
};

const ProjectKeys = ({ project }: { readonly project: Project }) => {
  const { response, error } = useQuery(keysCall, { query: { projectId: project.id, limit: 20 } });
  return (
    <>
      <h3>Keys</h3>
      <ErrorMessage error={error} />
      {response?.items.length === 0 ? (
        <p class="soft">This project has no ingest key, so it cannot receive data.</p>
      ) : null}
      <ul>
        {response?.items.map(({ id, name, prefix, state, lastUsedAt }) => (
          <li key={id}>
            <Link url={toArea('/settings/keys', { open: id, project: project.id })}>{renderText(name)}</Link>{' '}
            <code>{renderText(prefix)}</code> {state}
            {id === project.ingestKeyId ? ', the ingest key' : ''}, last used{' '}
            {formatIsoMinute(lastUsedAt ?? null) || 'never'}
          </li>
        ))}
      </ul>
      <KeyRotationForm project={project} />
    </>
  );
};

const ProjectDetails = ({ item }: { readonly item: Project }) => (
  <>
    <p>{renderText(item.description ?? '', { lines: true })}</p>
    <Fields values={{ id: item.id, created: formatIsoTime(item.createdAt), updated: formatIsoTime(item.updatedAt) }} />
    <ul class="links">
      <li>
        <Link url={toArea('/services', { project: item.id })}>Services</Link>
      </li>
      <li>
        <Link url={toArea('/logs', { project: item.id })}>Logs</Link>
      </li>
    </ul>
    {isPermitted(keysCall) ? <ProjectKeys project={item} /> : null}
    <ProjectMail project={item} />
  </>
);

const ProjectList = createListView({
  title: 'Projects',
  call: declareListCall<typeof projectResource>('/api/projects'),
  search: 'Search by name',
  emptyText: 'No projects yet.',
  toKey: ({ id }) => id,
  columns: {
    Project: ({ name }) => name,
    Description: ({ description }) => description,
    Id: ({ id }) => <code>{renderText(id)}</code>,
    Created: ({ createdAt }) => formatIsoMinute(createdAt),
  },
  Tools: createNewButton(noun, createCall),
  ItemPanel: createItemPanel({
    noun,
    path: '/api/projects/{id}',
    edit: changeCall,
    Form: ProjectForm,
    Details: ProjectDetails,
  }),
});

/** List of projects; each refresh also reloads the project selector in the page header */
export const Projects = () => {
  useEffect(() => void loadProjects(), [refreshCount.value]);
  return <ProjectList />;
};
