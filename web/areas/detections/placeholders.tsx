/** Values of rule placeholders such as `%admins%` */
import { useState } from 'preact/hooks';
import type { z } from 'zod';
import type { placeholderResource } from '../../../api/groups/siem/placeholder.ts';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import type { DetectionPlaceholder } from '../../../schemas/resources/detection-rule.ts';
import {
  declareCall,
  declareCreateCall,
  declareReplaceCall,
  type OperationDeclaration,
  type WithFilters,
} from '../../client/call.ts';
import { createItemPanel, createNewButton, useSaving } from '../../editors/form-state.tsx';
import { MultilineInput, TextInput } from '../../editors/inputs.tsx';
import { parseLines } from '../../editors/lines.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { createListView } from '../../lists/declared-list.tsx';
import { RawText } from '../../lists/raw.tsx';

/** The resource declares no view, so a stored item is displayed as it is. */
type Placeholder = DetectionPlaceholder & StoredMetadata;
type ListEndpoint = WithFilters<
  OperationDeclaration & {
    readonly method: 'GET';
    readonly response: z.ZodType<{ readonly items: readonly Placeholder[] }>;
  }
>;

const createPlaceholderCall = declareCreateCall<typeof placeholderResource, typeof DetectionPlaceholder>(
  '/api/siem/placeholders',
);
const replacePlaceholderCall = declareReplaceCall<typeof placeholderResource, typeof DetectionPlaceholder>(
  '/api/siem/placeholders/{id}',
);

const PlaceholderForm = ({ savedItem }: { readonly savedItem: Placeholder | undefined }) => {
  const [name, setName] = useState(savedItem?.name ?? '');
  const [description, setDescription] = useState(savedItem?.description ?? '');
  const [text, setText] = useState(savedItem?.values.join('\n') ?? '');
  const { save, findProblem, error, isRunning } = useSaving(createPlaceholderCall, replacePlaceholderCall, savedItem);
  return (
    <div class="form">
      <TextInput
        label="Name"
        hint="Rules refer to it as %name%"
        value={name}
        problem={findProblem('name')}
        onChange={setName}
      />
      <TextInput
        label="Description"
        maxLength={4096}
        value={description}
        problem={findProblem('description')}
        onChange={setDescription}
      />
      <MultilineInput
        label="Values, one per line"
        hint="ann, or svc_* for all values with this prefix"
        rows={10}
        value={text}
        problem={findProblem('values')}
        onChange={setText}
      />
      <div class="act">
        <button
          type="button"
          disabled={isRunning}
          onClick={() => void save({ name, description, values: parseLines(text) })}
        >
          {savedItem === undefined ? 'Create placeholder' : 'Save placeholder'}
        </button>
        <ErrorMessage error={error} />
      </div>
    </div>
  );
};

const PlaceholderDetails = ({ item: { description, values } }: { readonly item: Placeholder }) => (
  <>
    <p>{renderText(description, { lines: true })}</p>
    <h3>{values.length === 1 ? 'One value' : `${values.length} values`}</h3>
    <RawText label="Values" text={values.join('\n')} />
  </>
);

const resourceName = 'placeholder';

export const Placeholders = createListView({
  title: 'Placeholders',
  call: declareCall<ListEndpoint>('GET', '/api/siem/placeholders'),
  search: 'Search by name',
  emptyText: 'No placeholders yet. A rule that uses an undefined placeholder matches nothing.',
  toKey: ({ id }) => id,
  columns: {
    Placeholder: ({ name }) => `%${name}%`,
    Description: ({ description }) => description,
    Values: ({ values }) => values.length,
    Updated: ({ updatedAt }) => formatIsoMinute(updatedAt),
  },
  wideColumns: ['Description', 'Values'],
  numericColumns: ['Values'],
  Tools: createNewButton(resourceName, createPlaceholderCall),
  ItemPanel: createItemPanel({
    noun: resourceName,
    path: '/api/siem/placeholders/{id}',
    Form: PlaceholderForm,
    Details: PlaceholderDetails,
  }),
});
