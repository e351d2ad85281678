/** Form of a saved query: query, range, and visibility */
import { useState } from 'preact/hooks';
import type { z } from 'zod';
import type { SavedQueryFields } from '../../../api/groups/saved-queries/saved-query.ts';
import type { Query } from '../../../queries/query.ts';
import { useSaving } from '../../editors/form-state.tsx';
import { CheckInput, ListInput, MultilineInput, TextInput } from '../../editors/inputs.tsx';
import { QueryFormFields } from '../../editors/query-fields.tsx';
import { parseQueryText } from '../../editors/query-form.ts';
import { readParam } from '../../frame/address.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { session } from '../../frame/session.ts';
import { createSavedQueryCall, replaceSavedQueryCall, type SavedQuery } from './calls.ts';

type SavedQueryInput = z.input<typeof SavedQueryFields>;

const identity = (text: string): string => text;

const defaultQuery: SavedQueryInput['query'] = {
  kind: 'aggregate',
  signal: 'logs',
  search: 'severity:error',
  measures: [{ function: 'count' }],
  groupBy: ['service'],
};

/** Returns a new saved query with the query, name and interval in the URL. */
const readSavedQueryFromUrl = (): SavedQueryInput => {
  const step = readParam('step');
  return {
    name: readParam('name'),
    description: '',
    tags: [],
    visibility: 'organization',
    from: 'now-1h',
    to: 'now',
    ...(step === '' ? {} : { step }),
    query: parseQueryText(readParam('query')) ?? defaultQuery,
  };
};

const pickWritableFields = ({
  name,
  description,
  tags,
  visibility,
  from,
  to,
  step,
  query,
}: SavedQuery): SavedQueryInput => ({
  name,
  description,
  tags,
  visibility,
  from,
  to,
  query,
  ...(step === undefined ? {} : { step }),
});

export const SavedQueryForm = ({ savedItem: storedQuery }: { readonly savedItem: SavedQuery | undefined }) => {
  const [draftQuery, setDraftQuery] = useState<SavedQueryInput>(() =>
    storedQuery === undefined ? readSavedQueryFromUrl() : pickWritableFields(storedQuery),
  );
  const { save, findProblem, error, isRunning } = useSaving(createSavedQueryCall, replaceSavedQueryCall, storedQuery);
  const updateDraft = (fields: Partial<SavedQueryInput>): void =>
    setDraftQuery((currentDraft) => ({ ...currentDraft, ...fields }));
  const { step: _, ...draftWithoutStep } = draftQuery;
  const isOwnedByUser = storedQuery === undefined || storedQuery.ownerId === session.value?.user.id;
  return (
    <div class="form">
      <TextInput
        label="Name"
        value={draftQuery.name}
        problem={findProblem('name')}
        onChange={(name) => updateDraft({ name })}
      />
      <MultilineInput
        label="Description"
        value={draftQuery.description ?? ''}
        problem={findProblem('description')}
        onChange={(description) => updateDraft({ description })}
      />
      <ListInput
        label="Tags"
        value={draftQuery.tags ?? []}
        parseItem={identity}
        formatItem={identity}
        problem={findProblem('tags')}
        onChange={(tags) => updateDraft({ tags: [...tags] })}
      />
      {isOwnedByUser ? (
        <CheckInput
          label="Private"
          value={draftQuery.visibility === 'private'}
          onChange={(isPrivate) => updateDraft({ visibility: isPrivate ? 'private' : 'organization' })}
        />
      ) : null}
      <QueryFormFields
        name="The query"
        query={draftQuery.query as Query}
        problem={findProblem('query')}
        onChange={(query) => updateDraft({ query })}
      />
      <TextInput
        label="From"
        hint="now-1h, or a time"
        value={draftQuery.from ?? ''}
        problem={findProblem('from')}
        onChange={(from) => updateDraft({ from })}
      />
      <TextInput
        label="To"
        value={draftQuery.to ?? ''}
        problem={findProblem('to')}
        onChange={(to) => updateDraft({ to })}
      />
      <TextInput
        label="Interval"
        hint="5m, for a chart; empty for a table"
        value={draftQuery.step ?? ''}
        problem={findProblem('step')}
        onChange={(step) => setDraftQuery(step === '' ? draftWithoutStep : { ...draftQuery, step })}
      />
      <div class="act">
        <button type="button" disabled={isRunning} onClick={() => void save(draftQuery)}>
          {storedQuery === undefined ? 'Save query' : 'Save changes'}
        </button>
        <ErrorMessage error={error} />
      </div>
    </div>
  );
};
