/** Values of rule placeholders such as `%admins%` */
import { useState } from 'preact/hooks';
import type { z } from 'zod';
import type { placeholderResource } from '../../../api/groups/siem/placeholder.ts';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import type { DetectionPlaceholder } from '../../../schemas/resources/detection-rule.ts';
import { callOf, creationOf, type Declared, type Filtered, replacementOf } from '../../client/call.ts';
import { openedOf, useSaving, writeOf } from '../../editors/form-state.tsx';
import { LinesInput, TextInput } from '../../editors/inputs.tsx';
import { linesIn } from '../../editors/lines.ts';
import { Problem } from '../../frame/freshness.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { listed } from '../../lists/declared-list.tsx';
import { Raw } from '../../lists/raw.tsx';

/** The resource declares no view, so a stored item is displayed as it is. */
type Placeholder = DetectionPlaceholder & StoredMetadata;
type ListEndpoint = Filtered<
  Declared & { readonly method: 'GET'; readonly response: z.ZodType<{ readonly items: readonly Placeholder[] }> }
>;

const createCall = creationOf<typeof placeholderResource, typeof DetectionPlaceholder>('/api/siem/placeholders');
const replaceCall = replacementOf<typeof placeholderResource, typeof DetectionPlaceholder>(
  '/api/siem/placeholders/{id}',
);

const PlaceholderForm = ({ before }: { readonly before: Placeholder | undefined }) => {
  const [name, setName] = useState(before?.name ?? '');
  const [description, setDescription] = useState(before?.description ?? '');
  const [text, setText] = useState(before?.values.join('\n') ?? '');
  const { save, wrong, error, isRunning } = useSaving(createCall, replaceCall, before);
  return (
    <div class="form">
      <TextInput
        label="Name"
        hint="Rules refer to it as %name%"
        value={name}
        problem={wrong('name')}
        onChange={setName}
      />
      <TextInput
        label="Description"
        maxLength={4096}
        value={description}
        problem={wrong('description')}
        onChange={setDescription}
      />
      <LinesInput
        label="Values, one per line"
        hint="ann, or svc_* for all values with this prefix"
        rows={10}
        value={text}
        problem={wrong('values')}
        onChange={setText}
      />
      <div class="act">
        <button
          type="button"
          disabled={isRunning}
          onClick={() => void save({ name, description, values: linesIn(text) })}
        >
          {before === undefined ? 'Create placeholder' : 'Save placeholder'}
        </button>
        <Problem error={error} />
      </div>
    </div>
  );
};

const Details = ({ item: { description, values } }: { readonly item: Placeholder }) => (
  <>
    <p>{shownText(description, { lines: true })}</p>
    <h3>{values.length === 1 ? 'One value' : `${values.length} values`}</h3>
    <Raw label="Values" text={values.join('\n')} />
  </>
);

const noun = 'placeholder';

export const Placeholders = listed({
  title: 'Placeholders',
  call: callOf<ListEndpoint>('GET', '/api/siem/placeholders'),
  search: 'Search by name',
  nothing: 'No placeholders yet. A rule that uses an undefined placeholder matches nothing.',
  keyOf: ({ id }) => id,
  columns: {
    Placeholder: ({ name }) => `%${name}%`,
    Description: ({ description }) => description,
    Values: ({ values }) => values.length,
    Updated: ({ updatedAt }) => shownMoment(updatedAt).slice(0, 16),
  },
  numbers: ['Values'],
  Tools: writeOf(noun, createCall),
  Open: openedOf({ noun, path: '/api/siem/placeholders/{id}', Form: PlaceholderForm, Details }),
});
