/** Field mappings of an organization, from the fields of rules to the fields of its events */
import { useState } from 'preact/hooks';
import type { z } from 'zod';
import type { fieldTableResource } from '../../../api/groups/siem/field-table.ts';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import type { DetectionFields } from '../../../schemas/resources/detection-rule.ts';
import {
  declareCall,
  declareCreateCall,
  declareReplaceCall,
  type OperationDeclaration,
  type WithFilters,
} from '../../client/call.ts';
import { createItemPanel, createNewButton, useSaving } from '../../editors/form-state.tsx';
import { JsonInput, ListInput, TextInput } from '../../editors/inputs.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { createListView } from '../../lists/declared-list.tsx';
import { RawText } from '../../lists/raw.tsx';

/** The resource declares no view, so a stored item is displayed as it is. */
type FieldTable = DetectionFields & StoredMetadata;
type ListEndpoint = WithFilters<
  OperationDeclaration & {
    readonly method: 'GET';
    readonly response: z.ZodType<{ readonly items: readonly FieldTable[] }>;
  }
>;
type FieldTableInput = z.input<typeof DetectionFields>;

const createFieldTableCall = declareCreateCall<typeof fieldTableResource, typeof DetectionFields>(
  '/api/siem/field-tables',
);
const replaceFieldTableCall = declareReplaceCall<typeof fieldTableResource, typeof DetectionFields>(
  '/api/siem/field-tables/{id}',
);

const identity = (text: string): string => text;

const emptyTable: FieldTableInput = {
  name: '',
  summary: '',
  rules: [{ product: '' }],
  fields: {},
  roots: [],
  sources: [],
};

const pickWritableFields = ({
  id: _,
  version: __,
  createdAt: ___,
  updatedAt: ____,
  ...fields
}: FieldTable): FieldTableInput => fields;

const jsonFields = [
  ['Log sources of the matching rules, as JSON', 'rules', '[{"product": "badges"}]; [{}] matches all rules'],
  ['Mapping of rule fields to event fields, as JSON', 'fields', '{"User": ["card.holder"]}'],
  [
    ...(['Mapping of log sources to events, as JSON', 'sources'] as const),
    '[{"when": [{"names": ["vendor"], "values": ["acme"]}], "is": {"product": "badges"}}]',
  ],
] as const;

const FieldTableForm = ({ savedItem }: { readonly savedItem: FieldTable | undefined }) => {
  const [table, setTable] = useState<FieldTableInput>(() =>
    savedItem === undefined ? emptyTable : pickWritableFields(savedItem),
  );
  const { save, findProblem, error, isRunning } = useSaving(createFieldTableCall, replaceFieldTableCall, savedItem);
  const updateTable = (fields: Partial<Record<keyof FieldTableInput, unknown>>): void =>
    setTable((currentTable) => ({ ...currentTable, ...fields }) as FieldTableInput);
  return (
    <div class="form">
      <TextInput
        label="Name"
        hint="A mapping here overrides the built-in one"
        value={table.name}
        problem={findProblem('name')}
        onChange={(name) => updateTable({ name })}
      />
      <TextInput
        label="Description"
        maxLength={1024}
        value={table.summary ?? ''}
        problem={findProblem('summary')}
        onChange={(summary) => updateTable({ summary })}
      />
      {jsonFields.map(([label, name, hint]) => (
        <JsonInput
          key={name}
          label={label}
          hint={hint}
          rows={6}
          value={table[name]}
          problem={findProblem(name)}
          onChange={(value) => updateTable({ [name]: value })}
        />
      ))}
      <ListInput
        label="Path prefixes of event fields"
        hint="payload, winlog.event_data"
        value={table.roots ?? []}
        parseItem={identity}
        formatItem={identity}
        problem={findProblem('roots')}
        onChange={(roots) => updateTable({ roots: [...roots] })}
      />
      <div class="act">
        <button type="button" disabled={isRunning} onClick={() => void save(table)}>
          {savedItem === undefined ? 'Create field mapping' : 'Save field mapping'}
        </button>
        <ErrorMessage error={error} />
      </div>
    </div>
  );
};

const FieldTableDetails = ({ item }: { readonly item: FieldTable }) => {
  const { name: _, summary = '', ...mapping } = pickWritableFields(item);
  return (
    <>
      <p>{renderText(summary, { lines: true })}</p>
      <RawText label="Field mapping" text={JSON.stringify(mapping, null, 2)} />
    </>
  );
};

const resourceName = 'field mapping';

export const FieldTables = createListView({
  title: 'Field mappings',
  call: declareCall<ListEndpoint>('GET', '/api/siem/field-tables'),
  search: 'Search by name',
  emptyText: 'No custom field mappings. Built-in mappings are not listed.',
  toKey: ({ id }) => id,
  columns: {
    'Field mapping': ({ name }) => name,
    Description: ({ summary }) => summary,
    Fields: ({ fields }) => Object.keys(fields).length,
    Updated: ({ updatedAt }) => formatIsoMinute(updatedAt),
  },
  wideColumns: ['Description', 'Fields'],
  numericColumns: ['Fields'],
  Tools: createNewButton(resourceName, createFieldTableCall),
  ItemPanel: createItemPanel({
    noun: resourceName,
    path: '/api/siem/field-tables/{id}',
    Form: FieldTableForm,
    Details: FieldTableDetails,
  }),
});
