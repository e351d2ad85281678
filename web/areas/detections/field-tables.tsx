/** Field tables of an organization, which map the fields of rules to the fields of its events */
import { useState } from 'preact/hooks';
import type { z } from 'zod';
import type { fieldTableResource } from '../../../api/groups/siem/field-table.ts';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import type { DetectionFields } from '../../../schemas/resources/detection-rule.ts';
import { callOf, creationOf, type Declared, type Filtered, replacementOf } from '../../client/call.ts';
import { openedOf, useSaving, writeOf } from '../../editors/form-state.tsx';
import { JsonInput, ListInput, TextInput } from '../../editors/inputs.tsx';
import { Problem } from '../../frame/freshness.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { listed } from '../../lists/declared-list.tsx';
import { Raw } from '../../lists/raw.tsx';

/** The resource declares no view, so a stored item is displayed as it is. */
type Table = DetectionFields & StoredMetadata;
type ListEndpoint = Filtered<
  Declared & { readonly method: 'GET'; readonly response: z.ZodType<{ readonly items: readonly Table[] }> }
>;
type FieldTableInput = z.input<typeof DetectionFields>;

const createCall = creationOf<typeof fieldTableResource, typeof DetectionFields>('/api/siem/field-tables');
const replaceCall = replacementOf<typeof fieldTableResource, typeof DetectionFields>('/api/siem/field-tables/{id}');

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
}: Table): FieldTableInput => fields;

const jsonFields = [
  ['Log sources of the matching rules, as JSON', 'rules', '[{"product": "badges"}]; [{}] matches all rules'],
  ['Mapping of rule fields to event fields, as JSON', 'fields', '{"User": ["card.holder"]}'],
  [
    ...(['Mapping of log sources to events, as JSON', 'sources'] as const),
    '[{"when": [{"names": ["vendor"], "values": ["acme"]}], "is": {"product": "badges"}}]',
  ],
] as const;

const TableForm = ({ before }: { readonly before: Table | undefined }) => {
  const [table, setTable] = useState<FieldTableInput>(() =>
    before === undefined ? emptyTable : pickWritableFields(before),
  );
  const { save, wrong, error, isRunning } = useSaving(createCall, replaceCall, before);
  const set = (fields: Partial<Record<keyof FieldTableInput, unknown>>): void =>
    setTable((now) => ({ ...now, ...fields }) as FieldTableInput);
  return (
    <div class="form">
      <TextInput
        label="Name"
        hint="A mapping here overrides the built-in one"
        value={table.name}
        problem={wrong('name')}
        onChange={(name) => set({ name })}
      />
      <TextInput
        label="Description"
        maxLength={1024}
        value={table.summary ?? ''}
        problem={wrong('summary')}
        onChange={(summary) => set({ summary })}
      />
      {jsonFields.map(([label, name, hint]) => (
        <JsonInput
          key={name}
          label={label}
          hint={hint}
          rows={6}
          value={table[name]}
          problem={wrong(name)}
          onChange={(value) => set({ [name]: value })}
        />
      ))}
      <ListInput
        label="Path prefixes of event fields"
        hint="payload, winlog.event_data"
        value={table.roots ?? []}
        read={identity}
        write={identity}
        problem={wrong('roots')}
        onChange={(roots) => set({ roots: [...roots] })}
      />
      <div class="act">
        <button type="button" disabled={isRunning} onClick={() => void save(table)}>
          {before === undefined ? 'Create field mapping' : 'Save field mapping'}
        </button>
        <Problem error={error} />
      </div>
    </div>
  );
};

const Details = ({ item }: { readonly item: Table }) => {
  const { name: _, summary = '', ...written } = pickWritableFields(item);
  return (
    <>
      <p>{shownText(summary, { lines: true })}</p>
      <Raw label="Field mapping" text={JSON.stringify(written, null, 2)} />
    </>
  );
};

const noun = 'field mapping';

export const FieldTables = listed({
  title: 'Field mappings',
  call: callOf<ListEndpoint>('GET', '/api/siem/field-tables'),
  search: 'Search by name',
  nothing: 'No custom field mappings. Built-in mappings are not listed.',
  keyOf: ({ id }) => id,
  columns: {
    'Field mapping': ({ name }) => name,
    Description: ({ summary }) => summary,
    Fields: ({ fields }) => Object.keys(fields).length,
    Updated: ({ updatedAt }) => shownMoment(updatedAt).slice(0, 16),
  },
  numbers: ['Fields'],
  Tools: writeOf(noun, createCall),
  Open: openedOf({ noun, path: '/api/siem/field-tables/{id}', Form: TableForm, Details }),
});
