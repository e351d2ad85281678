/** Projects of the organization, each with its keys, its ingest key, and its email recipients */
import { useEffect, useState } from 'preact/hooks';
import type { z } from 'zod';
import type { licenseKeyResource } from '../../../api/groups/license-keys/resource.ts';
import type { projectResource } from '../../../api/groups/projects/resource.ts';
import type { rotateProjectKey } from '../../../api/groups/projects/rotate-key.ts';
import type { ProjectFields } from '../../../schemas/resources/project.ts';
import { Action } from '../../client/action.ts';
import { callOf, changeOf, creationOf, listOf, type ViewOf } from '../../client/call.ts';
import { Field } from '../../editors/field.tsx';
import { openedOf, useSaving, writeOf } from '../../editors/form-state.tsx';
import { TextInput } from '../../editors/inputs.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { toArea } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { readProjects } from '../../frame/project.ts';
import { isPermitted } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { refresh, refreshes } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { listed } from '../../lists/declared-list.tsx';
import { Fields } from '../../lists/side-panel.tsx';
import { ShownKey } from './keys.tsx';
import { ProjectMail } from './project-mail.tsx';

type Project = ViewOf<typeof projectResource>;
type Written = z.input<typeof ProjectFields>;

const noun = 'project';
const createCall = creationOf<typeof projectResource, typeof ProjectFields>('/api/projects');
const changeCall = changeOf<typeof projectResource, Written>('/api/projects/{id}');
const keysCall = listOf<typeof licenseKeyResource>('/api/license-keys');
const rotateCall = callOf<typeof rotateProjectKey>('POST', '/api/projects/{id}/rotate-key');

const Form = ({ before }: { readonly before: Project | undefined }) => {
  const [written, setWritten] = useState<Required<Written>>({
    name: before?.name ?? '',
    description: before?.description ?? '',
  });
  const { save, wrong, error, isRunning } = useSaving(createCall, changeCall, before);
  return (
    <div class="form">
      <TextInput
        label="Name"
        value={written.name}
        problem={wrong('name')}
        onChange={(name) => setWritten({ ...written, name })}
      />
      <Field label="Description" problem={wrong('description')}>
        <textarea
          rows={4}
          maxLength={4096}
          value={written.description}
          aria-invalid={wrong('description') !== undefined}
          onInput={({ currentTarget }) => setWritten({ ...written, description: currentTarget.value })}
        />
      </Field>
      <div class="act">
        <button type="button" disabled={isRunning} onClick={() => void save(written)}>
          {before === undefined ? 'Create project' : 'Save project'}
        </button>
        <Problem error={error} />
      </div>
    </div>
  );
};

const hourSeconds = 3600;

/** The project rotates its own ingest key; users need not know which of its keys that is. */
const Rotate = ({ project: { id, ingestKeyId } }: { readonly project: Project }) => {
  const [action] = useState(() => new Action(rotateCall));
  const [secret, setSecret] = useState('');
  const rotate = async (form: HTMLFormElement): Promise<void> => {
    const hours = Number(new FormData(form).get('hours') ?? 24);
    const made = await action.run({ params: { id }, body: { graceSeconds: Math.round(hours * hourSeconds) } });
    if (made === undefined) return;
    setSecret(made.key);
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
      <ShownKey secret={secret} />
    </>
  );
};

const KeysOf = ({ project }: { readonly project: Project }) => {
  const { answer, error } = useQuery(keysCall, { query: { projectId: project.id, limit: 20 } });
  return (
    <>
      <h3>Keys</h3>
      <Problem error={error} />
      {answer?.items.length === 0 ? (
        <p class="soft">This project has no ingest key, so it cannot receive data.</p>
      ) : null}
      <ul>
        {answer?.items.map(({ id, name, prefix, state, lastUsedAt }) => (
          <li key={id}>
            <Link to={toArea('/settings/keys', { open: id, project: project.id })}>{shownText(name)}</Link>{' '}
            <code>{shownText(prefix)}</code> {state}
            {id === project.ingestKeyId ? ', the ingest key' : ''}, last used{' '}
            {shownMoment(lastUsedAt ?? null).slice(0, 16) || 'never'}
          </li>
        ))}
      </ul>
      <Rotate project={project} />
    </>
  );
};

const Details = ({ item }: { readonly item: Project }) => (
  <>
    <p>{shownText(item.description ?? '', { lines: true })}</p>
    <Fields values={{ id: item.id, created: shownMoment(item.createdAt), updated: shownMoment(item.updatedAt) }} />
    <ul class="links">
      <li>
        <Link to={toArea('/services', { project: item.id })}>Services</Link>
      </li>
      <li>
        <Link to={toArea('/logs', { project: item.id })}>Logs</Link>
      </li>
    </ul>
    {isPermitted(keysCall) ? <KeysOf project={item} /> : null}
    <ProjectMail project={item} />
  </>
);

const List = listed({
  title: 'Projects',
  call: listOf<typeof projectResource>('/api/projects'),
  search: 'Search by name',
  nothing: 'No projects yet.',
  keyOf: ({ id }) => id,
  columns: {
    Project: ({ name }) => name,
    Description: ({ description }) => description,
    Id: ({ id }) => <code>{shownText(id)}</code>,
    Created: ({ createdAt }) => shownMoment(createdAt).slice(0, 16),
  },
  Tools: writeOf(noun, createCall),
  Open: openedOf({ noun, path: '/api/projects/{id}', edit: changeCall, Form, Details }),
});

/** The project selector in the page header reflects changes of this list. */
export const Projects = () => {
  useEffect(() => void readProjects(), [refreshes.value]);
  return <List />;
};
