/** Form of a saved query: query, range, and visibility */
import { useState } from 'preact/hooks';
import type { z } from 'zod';
import type { SavedQueryFields } from '../../../api/groups/saved-queries/saved-query.ts';
import type { Query } from '../../../queries/query.ts';
import { useSaving } from '../../editors/form-state.tsx';
import { CheckInput, LinesInput, ListInput, TextInput } from '../../editors/inputs.tsx';
import { questionIn } from '../../editors/question.ts';
import { QuestionFields } from '../../editors/question-fields.tsx';
import { inAddress } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { session } from '../../frame/session.ts';
import { createCall, replaceCall, type SavedQuery } from './calls.ts';

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
const savedQueryFromUrl = (): SavedQueryInput => {
  const step = inAddress('step');
  return {
    name: inAddress('name'),
    description: '',
    tags: [],
    visibility: 'organization',
    from: 'now-1h',
    to: 'now',
    ...(step === '' ? {} : { step }),
    query: questionIn(inAddress('query')) ?? defaultQuery,
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

export const SavedQueryForm = ({ before: storedQuery }: { readonly before: SavedQuery | undefined }) => {
  const [draftQuery, setDraftQuery] = useState<SavedQueryInput>(() =>
    storedQuery === undefined ? savedQueryFromUrl() : pickWritableFields(storedQuery),
  );
  const { save, wrong, error, isRunning } = useSaving(createCall, replaceCall, storedQuery);
  const set = (fields: Partial<SavedQueryInput>): void => setDraftQuery((now) => ({ ...now, ...fields }));
  const { step: _, ...withoutStep } = draftQuery;
  const isOwnedByUser = storedQuery === undefined || storedQuery.ownerId === session.value?.user.id;
  return (
    <div class="form">
      <TextInput label="Name" value={draftQuery.name} problem={wrong('name')} onChange={(name) => set({ name })} />
      <LinesInput
        label="Description"
        value={draftQuery.description ?? ''}
        problem={wrong('description')}
        onChange={(description) => set({ description })}
      />
      <ListInput
        label="Tags"
        value={draftQuery.tags ?? []}
        read={identity}
        write={identity}
        problem={wrong('tags')}
        onChange={(tags) => set({ tags: [...tags] })}
      />
      {isOwnedByUser ? (
        <CheckInput
          label="Private"
          value={draftQuery.visibility === 'private'}
          onChange={(isPrivate) => set({ visibility: isPrivate ? 'private' : 'organization' })}
        />
      ) : null}
      <QuestionFields
        name="The query"
        query={draftQuery.query as Query}
        problem={wrong('query')}
        onChange={(query) => set({ query })}
      />
      <TextInput
        label="From"
        hint="now-1h, or a time"
        value={draftQuery.from ?? ''}
        problem={wrong('from')}
        onChange={(from) => set({ from })}
      />
      <TextInput label="To" value={draftQuery.to ?? ''} problem={wrong('to')} onChange={(to) => set({ to })} />
      <TextInput
        label="Interval"
        hint="5m, for a chart; empty for a table"
        value={draftQuery.step ?? ''}
        problem={wrong('step')}
        onChange={(step) => setDraftQuery(step === '' ? withoutStep : { ...draftQuery, step })}
      />
      <div class="act">
        <button type="button" disabled={isRunning} onClick={() => void save(draftQuery)}>
          {storedQuery === undefined ? 'Save query' : 'Save changes'}
        </button>
        <Problem error={error} />
      </div>
    </div>
  );
};
