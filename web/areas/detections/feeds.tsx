/** Threat feeds: time and result of the last poll, and editing */
import { useState } from 'preact/hooks';
import type { z } from 'zod';
import type { FeedFields, feedResource } from '../../../api/groups/siem/feed.ts';
import { creationOf, listOf, replacementOf, type ViewOf } from '../../client/call.ts';
import { openedOf, useSaving, writeOf } from '../../editors/form-state.tsx';
import { CheckInput, ChoiceInput, NumberInput, TextInput } from '../../editors/inputs.tsx';
import { Problem } from '../../frame/freshness.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { listed } from '../../lists/declared-list.tsx';
import { Fields } from '../../lists/side-panel.tsx';

type Feed = ViewOf<typeof feedResource>;
type FeedInput = z.input<typeof FeedFields>;
type Location = FeedInput['location'];
type Authentication = NonNullable<FeedInput['authentication']>;

const createCall = creationOf<typeof feedResource, typeof FeedFields>('/api/siem/threat-intel/feeds');
const replaceCall = replacementOf<typeof feedResource, typeof FeedFields>('/api/siem/threat-intel/feeds/{id}');

const formats = { stix: 'STIX 2.1', misp: 'MISP', csv: 'CSV', list: 'One value per line' } as const;
const locations: Readonly<Record<Location['type'], Location>> = {
  url: { type: 'url', url: '', format: 'stix' },
  taxii: { type: 'taxii', apiRoot: '', collection: '' },
};
const authentications: Readonly<Record<Authentication['type'], Authentication>> = {
  none: { type: 'none' },
  basic: { type: 'basic', username: '', password: '' },
  header: { type: 'header', header: 'Authorization', secret: '' },
};

const emptyFeed: FeedInput = {
  name: '',
  location: locations.url,
  authentication: authentications.none,
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

/** Text fields in a part of the body, each with its label */
const textFieldLabels = {
  url: 'URL',
  apiRoot: 'API root of the TAXII server',
  collection: 'Collection id',
  username: 'User name',
  password: 'Password',
  header: 'Header',
  secret: 'Header value',
} as const;

const TextFields = <Part extends object>({
  of,
  at,
  wrong,
  onChange,
}: {
  readonly of: Part;
  readonly at: string;
  readonly wrong: (path: string) => string | undefined;
  readonly onChange: (part: Part) => void;
}) => (
  <>
    {Object.entries(of).map(([name, value]) =>
      name in textFieldLabels ? (
        <TextInput
          key={name}
          label={textFieldLabels[name as keyof typeof textFieldLabels]}
          maxLength={4096}
          value={String(value)}
          problem={wrong(`${at}.${name}`)}
          onChange={(text) => onChange({ ...of, [name]: text })}
        />
      ) : null,
    )}
  </>
);

const FeedForm = ({ before }: { readonly before: Feed | undefined }) => {
  const [draftFeed, setDraftFeed] = useState<FeedInput>(() =>
    before === undefined ? emptyFeed : pickWritableFields(before),
  );
  const { save, wrong, error, isRunning } = useSaving(createCall, replaceCall, before);
  const set = (fields: Partial<FeedInput>): void => setDraftFeed((now) => ({ ...now, ...fields }));
  const { name, description = '', location, authentication = authentications.none } = draftFeed;
  return (
    <div class="form">
      <TextInput label="Name" value={name} problem={wrong('name')} onChange={(text) => set({ name: text })} />
      <TextInput
        label="Description"
        maxLength={4096}
        value={description}
        problem={wrong('description')}
        onChange={(text) => set({ description: text })}
      />
      <ChoiceInput
        label="Source"
        options={{ url: 'URL', taxii: 'TAXII 2.1 server' }}
        value={location.type}
        problem={undefined}
        onChange={(type) => set({ location: locations[type] })}
      />
      <TextFields of={location} at="location" wrong={wrong} onChange={(changed) => set({ location: changed })} />
      {location.type === 'url' ? (
        <ChoiceInput
          label="Format"
          options={formats}
          value={location.format}
          problem={wrong('location.format')}
          onChange={(format) => set({ location: { ...location, format } })}
        />
      ) : null}
      <ChoiceInput
        label="Authentication"
        options={{ none: 'none', basic: 'Basic authentication', header: 'Secret header' }}
        value={authentication.type}
        problem={undefined}
        onChange={(type) => set({ authentication: authentications[type] })}
      />
      <TextFields
        of={authentication}
        at="authentication"
        wrong={wrong}
        onChange={(changed) => set({ authentication: changed })}
      />
      <NumberInput
        label="Polling interval (seconds)"
        value={draftFeed.everySeconds ?? null}
        problem={wrong('everySeconds')}
        onChange={(value) => set({ everySeconds: value ?? 0 })}
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
          onChange={(isOn) => set({ [field]: isOn })}
        />
      ))}
      <div class="act">
        <button type="button" disabled={isRunning} onClick={() => void save(draftFeed)}>
          {before === undefined ? 'Subscribe' : 'Save feed'}
        </button>
        <Problem error={error} />
      </div>
    </div>
  );
};

const Details = ({ item: { description, location, status, everySeconds, raisesSignals } }: { readonly item: Feed }) => (
  <>
    <p>{shownText(description ?? '', { lines: true })}</p>
    {status.error === null ? null : <p class="problem">{shownText(status.error)}</p>}
    <Fields
      values={{
        ...('url' in location
          ? { address: location.url, format: formats[location.format] }
          : { server: location.apiRoot, collection: location.collection }),
        'polling interval (s)': everySeconds,
        'matches raise signals': raisesSignals ? 'yes' : 'no',
        'last poll': shownMoment(status.lastSucceededAt),
        'next poll': shownMoment(status.nextPollAt),
        new: status.counts.created,
        updated: status.counts.updated,
        rejected: status.counts.refused,
      }}
    />
    {status.refused.length === 0 ? null : <h3>Rejected indicators</h3>}
    <ul>
      {status.refused.map(({ at, message }) => (
        <li key={at}>
          {shownText(at)}: {shownText(message)}
        </li>
      ))}
    </ul>
  </>
);

const noun = 'feed';

export const Feeds = listed({
  title: 'Feeds',
  call: listOf<typeof feedResource>('/api/siem/threat-intel/feeds'),
  nothing: 'No feeds yet.',
  keyOf: ({ id }) => id,
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
        <span class="text-error">{shownText(status.error)}</span>
      ),
    'Last poll': ({ status }) => shownMoment(status.lastSucceededAt),
    'Interval (s)': ({ everySeconds }) => everySeconds,
  },
  numbers: ['Interval (s)'],
  Tools: writeOf(noun, createCall),
  Open: openedOf({ noun, path: '/api/siem/threat-intel/feeds/{id}', Form: FeedForm, Details }),
});
