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

type Written = z.input<typeof SavedQueryFields>;

const itself = (text: string): string => text;

const defaultQuery: Written['query'] = {
  kind: 'aggregate',
  signal: 'logs',
  search: 'severity:error',
  measures: [{ function: 'count' }],
  groupBy: ['service'],
};

/** Returns a new saved query with the query and name from the link. */
const begun = (): Written => {
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

const fieldsIn = ({ name, description, tags, visibility, from, to, step, query }: SavedQuery): Written => ({
  name,
  description,
  tags,
  visibility,
  from,
  to,
  query,
  ...(step === undefined ? {} : { step }),
});

export const SavedQueryForm = ({ before }: { readonly before: SavedQuery | undefined }) => {
  const [written, setWritten] = useState<Written>(() => (before === undefined ? begun() : fieldsIn(before)));
  const { save, wrong, error, isRunning } = useSaving(createCall, replaceCall, before);
  const set = (fields: Partial<Written>): void => setWritten((now) => ({ ...now, ...fields }));
  const { step: _, ...withoutStep } = written;
  const isOwn = before === undefined || before.ownerId === session.value?.user.id;
  return (
    <div class="form">
      <TextInput label="Name" value={written.name} problem={wrong('name')} onChange={(name) => set({ name })} />
      <LinesInput
        label="Description"
        value={written.description ?? ''}
        problem={wrong('description')}
        onChange={(description) => set({ description })}
      />
      <ListInput
        label="Tags"
        value={written.tags ?? []}
        read={itself}
        write={itself}
        problem={wrong('tags')}
        onChange={(tags) => set({ tags: [...tags] })}
      />
      {isOwn ? (
        <CheckInput
          label="Private"
          value={written.visibility === 'private'}
          onChange={(isPrivate) => set({ visibility: isPrivate ? 'private' : 'organization' })}
        />
      ) : null}
      <QuestionFields
        name="The query"
        query={written.query as Query}
        problem={wrong('query')}
        onChange={(query) => set({ query })}
      />
      <TextInput
        label="From"
        hint="now-1h, or a time"
        value={written.from ?? ''}
        problem={wrong('from')}
        onChange={(from) => set({ from })}
      />
      <TextInput label="To" value={written.to ?? ''} problem={wrong('to')} onChange={(to) => set({ to })} />
      <TextInput
        label="Interval"
        hint="5m, for a chart; empty for a table"
        value={written.step ?? ''}
        problem={wrong('step')}
        onChange={(step) => setWritten(step === '' ? withoutStep : { ...written, step })}
      />
      <div class="act">
        <button type="button" disabled={isRunning} onClick={() => void save(written)}>
          {before === undefined ? 'Save query' : 'Save changes'}
        </button>
        <Problem error={error} />
      </div>
    </div>
  );
};
