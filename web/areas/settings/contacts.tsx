/** Contacts of the user for pages: list, order, and delay of each */
import { useEffect, useState } from 'preact/hooks';
import { Field } from '../../editors/field.tsx';
import { openedOf, useSaving, writeOf, wrongIn } from '../../editors/form-state.tsx';
import { NumberInput } from '../../editors/inputs.tsx';
import { Problem } from '../../frame/freshness.tsx';
import {
  changing,
  type Preferences,
  preferences,
  readPreferences,
  updatePreferences,
} from '../../frame/preferences.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { refreshes } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { listed } from '../../lists/declared-list.tsx';
import { Fields } from '../../lists/side-panel.tsx';
import {
  type Contact,
  channelTypesCall,
  contactsCall,
  createContactCall,
  replaceContactCall,
  testContactCall,
} from '../alerts/channels/calls.ts';
import { SendTest } from '../alerts/channels/send-test.tsx';
import { readSettings, SettingFields } from '../alerts/channels/setting-fields.tsx';

type Order = Preferences['contacts'];

const noun = 'contact';

const Form = ({ before }: { readonly before: Contact | undefined }) => {
  const { answer, error: loadError } = useQuery(channelTypesCall, {});
  const { save, wrong, error, isRunning } = useSaving(createContactCall, replaceContactCall, before);
  const [chosen, setChosen] = useState(before?.settings.type ?? 'email');
  const type = answer?.items.find((each) => each.type === chosen);
  if (answer === undefined || type === undefined) return <Problem error={loadError} />;
  const run = (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const name = String(formData.get('contact')).trim();
    return save({ name, enabled: formData.has('enabled'), settings: readSettings(formData, type) });
  };
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void run(event.currentTarget);
      }}
    >
      <label>
        Type{' '}
        <select value={chosen} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
          {answer.items.map((each) => (
            <option key={each.type} value={each.type}>
              {each.name}
            </option>
          ))}
        </select>
      </label>
      <p class="hint">{type.summary}</p>
      <Field label="Name" problem={wrong('name')}>
        <input
          name="contact"
          required={true}
          maxLength={256}
          autocomplete="off"
          defaultValue={before?.name ?? ''}
          aria-invalid={wrong('name') !== undefined}
        />
      </Field>
      <SettingFields
        key={chosen}
        type={type}
        given={before?.settings.type === chosen ? before.settings : undefined}
        error={error}
      />
      <label class="choice">
        <input name="enabled" type="checkbox" defaultChecked={before?.enabled ?? true} /> Destination
      </label>
      <div class="act">
        <button type="submit" disabled={isRunning}>
          {before === undefined ? 'Add contact' : 'Save contact'}
        </button>
        <Problem error={error} />
      </div>
    </form>
  );
};

const Details = ({ item }: { readonly item: Contact }) => (
  <>
    <div class="act">
      <SendTest id={item.id} call={testContactCall} />
    </div>
    <Fields values={{ ...item.settings, enabled: item.enabled === false ? 'no, disabled' : 'yes' }} />
  </>
);

const List = listed({
  title: 'Contacts',
  call: contactsCall,
  nothing: 'No contacts yet. Pages are sent to the email address of your account.',
  keyOf: ({ id }) => id,
  columns: {
    Contact: ({ name }) => name,
    Type: ({ settings }) => settings.type,
    Enabled: ({ enabled }) => (enabled === false ? <span class="text-warn">disabled</span> : 'yes'),
  },
  Tools: writeOf(noun, createContactCall),
  Open: openedOf({ noun, path: '/api/contacts/{id}', Form, Details }),
});

/** Order and delay of the contacts. */
const NotificationOrder = ({ contacts, chosen }: { readonly contacts: readonly Contact[]; readonly chosen: Order }) => {
  const [order, setOrder] = useState<Order>(() =>
    chosen.filter(({ contactId }) => contacts.some(({ id }) => id === contactId)),
  );
  const [message, setMessage] = useState('');
  const error = changing.error.value;
  const set = (next: Order): void => {
    setMessage('');
    setOrder(next);
  };
  const nameOf = (id: string): string => contacts.find((each) => each.id === id)?.name ?? id;
  const free = contacts.filter(({ id }) => !order.some(({ contactId }) => contactId === id));
  const save = async (): Promise<void> => {
    await updatePreferences({ contacts: order });
    if (changing.error.value === undefined) setMessage('Saved.');
  };
  return (
    <div class="form">
      {order.length === 0 ? <p class="soft">All contacts are notified at once.</p> : null}
      <ol>
        {order.map(({ contactId, afterMinutes = 0 }, index) => (
          <li key={contactId}>
            <NumberInput
              label={`${nameOf(contactId)}: minutes after the page began`}
              value={afterMinutes}
              problem={wrongIn(error)(`contacts.${index}`)}
              onChange={(minutes) => set(order.with(index, { contactId, afterMinutes: minutes ?? 0 }))}
            />
            {index === 0 ? null : (
              <button
                type="button"
                class="plain"
                onClick={() => set(order.toSpliced(index, 1).toSpliced(index - 1, 0, { contactId, afterMinutes }))}
              >
                Move up<span class="sr-only"> {nameOf(contactId)}</span>
              </button>
            )}{' '}
            <button type="button" class="plain" onClick={() => set(order.toSpliced(index, 1))}>
              Remove<span class="sr-only"> {nameOf(contactId)}</span>
            </button>
          </li>
        ))}
      </ol>
      <div class="act">
        {free.map(({ id, name }) => (
          <button
            key={id}
            type="button"
            class="plain"
            onClick={() => set([...order, { contactId: id, afterMinutes: order.at(-1)?.afterMinutes ?? 0 }])}
          >
            Page me by {shownText(name)}
          </button>
        ))}
        <button type="button" disabled={changing.isRunning.value} onClick={() => void save()}>
          Save order
        </button>
        <p role="status">{message}</p>
        <Problem error={error} />
      </div>
    </div>
  );
};

export const Contacts = () => {
  const { answer } = useQuery(contactsCall, { query: { limit: 100, sort: 'name' } });
  // A removed contact is also removed from the preferences.
  useEffect(() => void readPreferences(), [refreshes.value]);
  const contacts = answer?.items ?? [];
  const chosen = preferences.value?.contacts;
  return (
    <>
      <List />
      {contacts.length === 0 || chosen === undefined ? null : (
        <section aria-label="Notification order">
          <h2>Notification order</h2>
          <NotificationOrder key={contacts.map(({ id }) => id).join(' ')} contacts={contacts} chosen={chosen} />
        </section>
      )}
    </>
  );
};
