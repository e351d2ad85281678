/** Locations of checks: last contact, registration and removal */
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { createNewButton, createProblemFinder } from '../../editors/form-state.tsx';
import { TextInput } from '../../editors/inputs.tsx';
import { RemovalForm } from '../../editors/removal.tsx';
import { setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { createLocationCall, deleteLocationCall, type Location, locationsCall } from './calls.ts';

/** Token of the newly registered location */
const newLocationToken = signal<{ readonly id: string; readonly token: string } | undefined>(undefined);

const RegisterLocationForm = () => {
  const [action] = useState(() => new Action(createLocationCall));
  const [fields, setFields] = useState({ name: '', description: '' });
  const error = action.error.value;
  const registerLocation = async (): Promise<void> => {
    const createdLocation = await action.run({ body: fields });
    if (createdLocation === undefined) return;
    newLocationToken.value = { id: createdLocation.id, token: createdLocation.token };
    setParams({ open: createdLocation.id });
    refresh();
  };
  return (
    <div class="form">
      <TextInput
        label="Name"
        value={fields.name}
        problem={createProblemFinder(error)('name')}
        onChange={(name) => setFields({ ...fields, name })}
      />
      <TextInput
        label="Description"
        maxLength={4096}
        value={fields.description}
        problem={createProblemFinder(error)('description')}
        onChange={(description) => setFields({ ...fields, description })}
      />
      <div class="act">
        <button type="button" disabled={action.isRunning.value} onClick={() => void registerLocation()}>
          Register location
        </button>
        <ErrorMessage error={error} />
      </div>
    </div>
  );
};

/** Deletion must be confirmed if it would leave a check without a location. */
const DeleteLocationForm = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const [action] = useState(() => new Action(deleteLocationCall));
  if (id === 'local') return null;
  if (!isPermitted(deleteLocationCall))
    return <p class="soft">{explainDenial(deleteLocationCall, 'Deleting locations')}</p>;
  const isOnlyLocation = action.error.value?.code === 'CONFLICT';
  return (
    <RemovalForm
      action={action}
      labels={['Delete', isOnlyLocation ? 'Delete anyway' : 'Delete permanently']}
      remove={() => action.run({ params: { id }, query: isOnlyLocation ? { force: 'true' } : {} })}
      onRemoved={onClose}
    >
      <span class="soft">The token is revoked immediately, and checks no longer run from this location.</span>
    </RemovalForm>
  );
};

const resourceName = 'location';

export const Locations = createListView({
  title: 'Locations',
  call: locationsCall,
  fixedParams: { limit: '' },
  emptyText: 'No locations yet.',
  toKey: ({ id }) => id,
  columns: {
    Location: ({ name }) => name,
    Description: ({ description }) => description,
    Checks: ({ checks }) => checks,
    'Last seen': ({ lastSeenAt }) => formatIsoTime(lastSeenAt) || 'never',
    'Unsupported checks': ({ unsupportedTypes }) => unsupportedTypes.map(({ type }) => type).join(', '),
  },
  wideColumns: ['Description', 'Checks', 'Unsupported checks'],
  numericColumns: ['Checks'],
  Tools: createNewButton(resourceName, createLocationCall),
  ItemPanel: ({
    id,
    item,
    onClose,
  }: {
    readonly id: string;
    readonly item: Location | undefined;
    readonly onClose: () => void;
  }) => (
    <SidePanel label="Location" title={id === 'new' ? 'New location' : (item?.name ?? id)} onClose={onClose}>
      {id === 'new' ? <RegisterLocationForm /> : null}
      {newLocationToken.value?.id === id ? (
        <p role="status">
          Start probes with <code>OIQ_PROBE_TOKEN={newLocationToken.value.token}</code>. The token is shown only once.
        </p>
      ) : null}
      {item === undefined ? null : (
        <>
          <DeleteLocationForm id={id} onClose={onClose} />
          <Fields
            values={{
              description: item.description,
              'token prefix': item.prefix,
              checks: item.checks,
              'last seen': formatIsoTime(item.lastSeenAt) || 'never',
              registered: formatIsoTime(item.createdAt),
            }}
          />
          <ul aria-label="Unsupported checks">
            {item.unsupportedTypes.map(({ type, reason }) => (
              <li key={type} class="text-warn">
                {renderText(type)}: {renderText(reason)}
              </li>
            ))}
          </ul>
        </>
      )}
    </SidePanel>
  ),
});
