/** Threat feeds: time and result of the last poll, and editing */
import { useState } from 'preact/hooks';
import type { z } from 'zod';
import type { FeedFields, feedResource } from '../../../api/groups/siem/feed.ts';
import { declareCreateCall, declareListCall, declareReplaceCall, type ResourceView } from '../../client/call.ts';
import { createItemPanel, createNewButton, useSaving } from '../../editors/form-state.tsx';
import { CheckInput, NumberInput, RecordSelectInput, TextInput } from '../../editors/inputs.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { createListView } from '../../lists/declared-list.tsx';
import { Fields } from '../../lists/side-panel.tsx';

type Feed = ResourceView<typeof feedResource>;
type FeedInput = z.input<typeof FeedFields>;
type Location = FeedInput['location'];
type Authentication = NonNullable<FeedInput['authentication']>;

const createFeedCall = declareCreateCall<typeof feedResource, typeof FeedFields>('/api/siem/threat-intel/feeds');
const replaceFeedCall = declareReplaceCall<typeof feedResource, typeof FeedFields>('/api/siem/threat-intel/feeds/{id}');

const formats = { stix: 'STIX 2.1', misp: 'MISP', csv: 'CSV', list: 'One value per line' } as const;
const defaultLocations: Readonly<Record<Location['type'], Location>> = {
  url: { type: 'url', url: '', format: 'stix' },
  taxii: { type: 'taxii', apiRoot: '', collection: '' },
};
const defaultAuthentications: Readonly<Record<Authentication['type'], Authentication>> = {
  none: { type: 'none' },
  basic: { type: 'basic', username: '', password: '' },
  header: { type: 'header', header: 'Authorization', secret: '' },
};

const emptyFeed: FeedInput = {
  name: '',
  location: defaultLocations.url,
  authentication: defaultAuthentications.none,
  everySeconds: 3600,
};

const pickWritableFields = ({
  id: _,
  version: __,
  createdAt: ___,
  updatedAt: ____,
  status: _____,
  ...fields
}: Feed): FeedInput => fields;

/** Labels of the text fields in a location or authentication */
const textFieldLabels = {
  url: 'URL',
  apiRoot: 'API root of the TAXII server',
  collection: 'Collection id',
  username: 'User name',
  password: 'Password',
  header: 'Header',
  secret: 'Header value',
} as const;

const TextFields = <FieldGroup extends object>({
  fields,
  path,
  wrong,
  onChange,
}: {
  readonly fields: FieldGroup;
  readonly path: string;
  readonly wrong: (path: string) => string | undefined;
  readonly onChange: (part: FieldGroup) => void;
}) => (
  <>
    {Object.entries(fields).map(([name, value]) =>
      name in textFieldLabels ? (
        <TextInput
          key={name}
          label={textFieldLabels[name as keyof typeof textFieldLabels]}
          maxLength={4096}
          value={String(value)}
          problem={wrong(`${path}.${name}`)}
          onChange={(text) => onChange({ ...fields, [name]: text })}
        />
      ) : null,
    )}
  </>
);

const FeedForm = ({ savedItem }: { readonly savedItem: Feed | undefined }) => {
  const [draftFeed, setDraftFeed] = useState<FeedInput>(() =>
    savedItem === undefined ? emptyFeed : pickWritableFields(savedItem),
  );
  const { save, findProblem, error, isRunning } = useSaving(createFeedCall, replaceFeedCall, savedItem);
  const updateFeed = (fields: Partial<FeedInput>): void =>
    setDraftFeed((currentFeed) => ({ ...currentFeed, ...fields }));
  const { name, description = '', location, authentication = defaultAuthentications.none } = draftFeed;
  return (
    <div class="form">
      <TextInput
        label="Name"
        value={name}
        problem={findProblem('name')}
        onChange={(text) => updateFeed({ name: text })}
      />
      <TextInput
        label="Description"
        maxLength={4096}
        value={description}
        problem={findProblem('description')}
        onChange={(text) => updateFeed({ description: text })}
      />
      <RecordSelectInput
        label="Source"
        options={{ url: 'URL', taxii: 'TAXII 2.1 server' }}
        value={location.type}
        problem={undefined}
        onChange={(type) => updateFeed({ location: defaultLocations[type] })}
      />
      <TextFields
        fields={location}
        path="location"
        wrong={findProblem}
        onChange={(newLocation) => updateFeed({ location: newLocation })}
      />
      {location.type === 'url' ? (
        <RecordSelectInput
          label="Format"
          options={formats}
          value={location.format}
          problem={findProblem('location.format')}
          onChange={(format) => updateFeed({ location: { ...location, format } })}
        />
      ) : null}
      <RecordSelectInput
        label="Authentication"
        options={{ none: 'none', basic: 'Basic authentication', header: 'Secret header' }}
        value={authentication.type}
        problem={undefined}
        onChange={(type) => updateFeed({ authentication: defaultAuthentications[type] })}
      />
      <TextFields
        fields={authentication}
        path="authentication"
        wrong={findProblem}
        onChange={(newAuthentication) => updateFeed({ authentication: newAuthentication })}
      />
      <NumberInput
        label="Polling interval (seconds)"
        value={draftFeed.everySeconds ?? null}
        problem={findProblem('everySeconds')}
        onChange={(value) => updateFeed({ everySeconds: value ?? 0 })}
      />
      {(
        [
          ['enabled', 'Enabled', true],
          ['raisesSignals', 'Matches raise signals', false],
        ] as const
      ).map(([field, label, defaultValue]) => (
        <CheckInput
          key={field}
          label={label}
          value={draftFeed[field] ?? defaultValue}
          onChange={(isChecked) => updateFeed({ [field]: isChecked })}
        />
      ))}
      <div class="act">
        <button type="button" disabled={isRunning} onClick={() => void save(draftFeed)}>
          {savedItem === undefined ? 'Subscribe' : 'Save feed'}
        </button>
        <ErrorMessage error={error} />
      </div>
    </div>
  );
};

const FeedDetails = ({
  item: { description, location, status, everySeconds, raisesSignals },
}: {
  readonly item: Feed;
}) => (
  <>
    <p>{renderText(description ?? '', { lines: true })}</p>
    {status.error === null ? null : <p class="problem">{renderText(status.error)}</p>}
    <Fields
      values={{
        ...('url' in location
          ? { address: location.url, format: formats[location.format] }
          : { server: location.apiRoot, collection: location.collection }),
        'polling interval (s)': everySeconds,
        'matches raise signals': raisesSignals ? 'yes' : 'no',
        'last poll': formatIsoTime(status.lastSucceededAt),
        'next poll': formatIsoTime(status.nextPollAt),
        new: status.counts.created,
        updated: status.counts.updated,
        rejected: status.counts.refused,
      }}
    />
    {status.refused.length === 0 ? null : <h3>Rejected indicators</h3>}
    <ul>
      {status.refused.map(({ at, message }) => (
        <li key={at}>
          {renderText(at)}: {renderText(message)}
        </li>
      ))}
    </ul>
  </>
);

const resourceName = 'feed';

export const Feeds = createListView({
  title: 'Feeds',
  call: declareListCall<typeof feedResource>('/api/siem/threat-intel/feeds'),
  emptyText: 'No feeds yet.',
  toKey: ({ id }) => id,
  columns: {
    Feed: ({ name }) => name,
    State: ({ enabled, status }) =>
      status.error === null ? (
        enabled ? (
          'enabled'
        ) : (
          'disabled'
        )
      ) : (
        <span class="text-error">{renderText(status.error)}</span>
      ),
    'Last poll': ({ status }) => formatIsoTime(status.lastSucceededAt),
    'Interval (s)': ({ everySeconds }) => everySeconds,
  },
  wideColumns: ['Last poll', 'Interval (s)'],
  numericColumns: ['Interval (s)'],
  Tools: createNewButton(resourceName, createFeedCall),
  ItemPanel: createItemPanel({
    noun: resourceName,
    path: '/api/siem/threat-intel/feeds/{id}',
    Form: FeedForm,
    Details: FeedDetails,
  }),
});
