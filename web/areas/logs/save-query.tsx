/** Saves a search as a saved query, an alert rule, or a dashboard panel */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { QueryLinks } from '../../editors/put-on-dashboard.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { createSavedQueryCall } from './calls.ts';
import { columns, search } from './log-search.ts';

const defaultFields = ['timestamp', 'severity', 'service', 'body'];

/** Returns the fields of a query for the current search. */
const getCurrentQueryFields = () => {
  const scope = projectScope.peek();
  return {
    signal: 'logs' as const,
    ...(search.peek() === '' ? {} : { search: search.peek() }),
    ...('projectId' in scope ? { projectId: scope.projectId } : {}),
  };
};

export const SaveQuery = () => {
  const [action] = useState(() => new Action(createSavedQueryCall));
  const [message, setMessage] = useState<string>();
  const saveQuery = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const savedQuery = await action.run({
      body: {
        name: String(formData.get('name')),
        visibility: formData.get('private') === 'on' ? 'private' : 'organization',
        ...timeRange.peek(),
        query: { kind: 'rows', ...getCurrentQueryFields(), fields: [...defaultFields, ...columns.peek()] },
      },
    });
    setMessage(savedQuery === undefined ? undefined : `Saved as “${savedQuery.name}”. Open it with Ctrl K.`);
  };
  return (
    <ActionForm action={action} label="Save query" onSubmit={saveQuery} {...(message === undefined ? {} : { message })}>
      <label>
        Name <input name="name" required={true} maxLength={256} autocomplete="off" />
      </label>
      <label>
        <input type="checkbox" name="private" /> Private
      </label>
    </ActionForm>
  );
};

/** Links that create a rule or a dashboard panel from the search. */
export const SearchLinks = () => (
  <QueryLinks
    title={search.value}
    query={{
      kind: 'aggregate',
      signal: 'logs',
      measures: [{ function: 'count' }],
      ...(search.value === '' ? {} : { search: search.value }),
      ...('projectId' in projectScope.value ? { projectId: projectScope.value.projectId } : {}),
    }}
  />
);
