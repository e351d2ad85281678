/** Contacts at which the user receives pages: list, order and delays */
import { useEffect, useState } from 'preact/hooks';
import { Field } from '../../editors/field.tsx';
import { createItemPanel, createNewButton, createProblemFinder, useSaving } from '../../editors/form-state.tsx';
import { NumberInput } from '../../editors/inputs.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import {
  loadPreferences,
  type Preferences,
  preferences,
  updateAction,
  updatePreferences,
} from '../../frame/preferences.ts';
import { refreshCount } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { createListView } from '../../lists/declared-list.tsx';
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

const ContactForm = ({ savedItem }: { readonly savedItem: Contact | undefined }) => {
  const { response, error: loadError } = useQuery(channelTypesCall, {});
  const { save, findProblem, error, isRunning } = useSaving(createContactCall, replaceContactCall, savedItem);
  const [selectedType, setSelectedType] = useState(savedItem?.settings.type ?? 'email');
  const type = response?.items.find((channelType) => channelType.type === selectedType);
  if (response === undefined || type === undefined) return <ErrorMessage error={loadError} />;
  const submit = (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const name = String(formData.get('contact')).trim();
    return save({ name, enabled: formData.has('enabled'), settings: readSettings(formData, type) });
  };
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void submit(event.currentTarget);
      }}
    >
      <label>
        Type{' '}
        <select value={selectedType} onChange={({ currentTarget }) => setSelectedType(currentTarget.value)}>
          {response.items.map((channelType) => (
            <option key={channelType.type} value={channelType.type}>
              {channelType.name}
            </option>
          ))}
        </select>
      </label>
      <p class="hint">{type.summary}</p>
      <Field label="Name" problem={findProblem('name')}>
        <input
          name="contact"
          required={true}
          maxLength={256}
          autocomplete="off"
          defaultValue={savedItem?.name ?? ''}
          aria-invalid={findProblem('name') !== undefined}
        />
      </Field>
      <SettingFields
        key={selectedType}
        type={type}
        storedSettings={savedItem?.settings.type === selectedType ? savedItem.settings : undefined}
        error={error}
      />
      <label class="choice">
        <input name="enabled" type="checkbox" defaultChecked={savedItem?.enabled ?? true} /> Enabled
      </label>
      <div class="act">
        <button type="submit" disabled={isRunning}>
          {savedItem === undefined ? 'Add contact' : 'Save contact'}
        </button>
        <ErrorMessage error={error} />
      </div>
    </form>
  );
};

const ContactDetails = ({ item }: { readonly item: Contact }) => (
  <>
    <div class="act">
      <SendTest id={item.id} call={testContactCall} />
    </div>
    <Fields values={{ ...item.settings, enabled: item.enabled === false ? 'no' : 'yes' }} />
  </>
);

const ContactList = createListView({
  title: 'Contacts',
  call: contactsCall,
  emptyText: 'No contacts yet. Pages are sent to the email address of your account.',
  toKey: ({ id }) => id,
  columns: {
    Contact: ({ name }) => name,
    Type: ({ settings }) => settings.type,
    Enabled: ({ enabled }) => (enabled === false ? <span class="text-warn">disabled</span> : 'yes'),
  },
  Tools: createNewButton(noun, createContactCall),
  ItemPanel: createItemPanel({ noun, path: '/api/contacts/{id}', Form: ContactForm, Details: ContactDetails }),
});

/** Editor of the order and delays of the contacts */
const NotificationOrder = ({
  contacts,
  savedOrder,
}: {
  readonly contacts: readonly Contact[];
  readonly savedOrder: Order;
}) => {
  const [order, setOrder] = useState<Order>(() =>
    savedOrder.filter(({ contactId }) => contacts.some(({ id }) => id === contactId)),
  );
  const [message, setMessage] = useState('');
  const error = updateAction.error.value;
  const changeOrder = (next: Order): void => {
    setMessage('');
    setOrder(next);
  };
  const findContactName = (id: string): string => contacts.find((contact) => contact.id === id)?.name ?? id;
  const unusedContacts = contacts.filter(({ id }) => !order.some(({ contactId }) => contactId === id));
  const save = async (): Promise<void> => {
    await updatePreferences({ contacts: order });
    if (updateAction.error.value === undefined) setMessage('Saved.');
  };
  return (
    <div class="form">
      {order.length === 0 ? <p class="soft">All contacts are notified at once.</p> : null}
      <ol>
        {order.map(({ contactId, afterMinutes = 0 }, index) => (
          <li key={contactId}>
            <NumberInput
              label={`${findContactName(contactId)}: delay in minutes after the page starts`}
              value={afterMinutes}
              problem={createProblemFinder(error)(`contacts.${index}`)}
              onChange={(minutes) => changeOrder(order.with(index, { contactId, afterMinutes: minutes ?? 0 }))}
            />
            {index === 0 ? null : (
              <button
                type="button"
                class="plain"
                onClick={() =>
                  changeOrder(order.toSpliced(index, 1).toSpliced(index - 1, 0, { contactId, afterMinutes }))
                }
              >
                Move up<span class="sr-only"> {findContactName(contactId)}</span>
              </button>
            )}{' '}
            <button type="button" class="plain" onClick={() => changeOrder(order.toSpliced(index, 1))}>
              Remove<span class="sr-only"> {findContactName(contactId)}</span>
            </button>
          </li>
        ))}
      </ol>
      <div class="act">
        {unusedContacts.map(({ id, name }) => (
          <button
            key={id}
            type="button"
            class="plain"
            onClick={() => changeOrder([...order, { contactId: id, afterMinutes: order.at(-1)?.afterMinutes ?? 0 }])}
          >
            Page me by {renderText(name)}
          </button>
        ))}
        <button type="button" disabled={updateAction.isRunning.value} onClick={() => void save()}>
          Save order
        </button>
        <p role="status">{message}</p>
        <ErrorMessage error={error} />
      </div>
    </div>
  );
};

export const Contacts = () => {
  const { response } = useQuery(contactsCall, { query: { limit: 100, sort: 'name' } });
  // A removed contact is also removed from the preferences.
  useEffect(() => void loadPreferences(), [refreshCount.value]);
  const contacts = response?.items ?? [];
  const savedOrder = preferences.value?.contacts;
  return (
    <>
      <ContactList />
      {contacts.length === 0 || savedOrder === undefined ? null : (
        <section aria-label="Notification order">
          <h2>Notification order</h2>
          <NotificationOrder key={contacts.map(({ id }) => id).join(' ')} contacts={contacts} savedOrder={savedOrder} />
        </section>
      )}
    </>
  );
};
