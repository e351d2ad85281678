/** Channels: list, delivery status, and test messages */
import { Plus } from 'lucide';
import { useState } from 'preact/hooks';
import { Action } from '../../../client/action.ts';
import { Button } from '../../../components/button.tsx';
import { Confirmation } from '../../../components/confirmation.tsx';
import { setParams } from '../../../frame/address.ts';
import { renderText } from '../../../frame/display-text.tsx';
import { ErrorMessage } from '../../../frame/freshness.tsx';
import { explainDenial, isPermitted } from '../../../frame/rights.ts';
import { refresh } from '../../../frame/time-range.ts';
import { createListView } from '../../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../../lists/side-panel.tsx';
import { RouteCount, RoutesToTargets, useStoredRouting } from '../routing/used-by.tsx';
import { type Channel, channelsCall, createChannelCall, deleteChannelCall, testChannelCall } from './calls.ts';
import { ChannelDeliveries } from './deliveries.tsx';
import { ChannelEditor } from './editor.tsx';
import { SendTest } from './send-test.tsx';

/** Key of the editor for a new channel */
const newChannelKey = 'new';

const DeleteButton = ({
  channel: { id, name, version },
  onClose,
}: {
  readonly channel: Channel;
  readonly onClose: () => void;
}) => {
  const [action] = useState(() => new Action(deleteChannelCall));
  const remove = async (): Promise<void> => {
    if ((await action.run({ params: { id }, ifMatch: version })) === undefined) return;
    onClose();
    refresh();
  };
  return (
    <>
      <Confirmation
        label="Delete"
        title={<>Delete the contact point “{renderText(name)}”?</>}
        confirmLabel="Delete contact point"
        isDisabled={action.isRunning.value}
        onConfirm={remove}
      >
        Routes no longer notify it.
      </Confirmation>
      <ErrorMessage error={action.error.value} />
    </>
  );
};

const ChannelActions = ({ channel, onClose }: { readonly channel: Channel; readonly onClose: () => void }) => {
  const [isEditing, setIsEditing] = useState(false);
  if (!isPermitted(testChannelCall))
    return <p class="soft">{explainDenial(testChannelCall, 'Editing and testing a contact point')}</p>;
  if (isEditing) return <ChannelEditor channel={channel} onSaved={() => setIsEditing(false)} />;
  return (
    <div class="act">
      <SendTest id={channel.id} call={testChannelCall} />
      <button type="button" class="plain" onClick={() => setIsEditing(true)}>
        Edit
      </button>
      <DeleteButton channel={channel} onClose={onClose} />
    </div>
  );
};

const ChannelPanel = ({
  id,
  item,
  onClose,
}: {
  readonly id: string;
  readonly item: Channel | undefined;
  readonly onClose: () => void;
}) =>
  id === newChannelKey ? (
    <SidePanel label="Contact point" title="New contact point" onClose={onClose}>
      <ChannelEditor onSaved={(createdId) => setParams({ open: createdId })} />
    </SidePanel>
  ) : (
    <SidePanel label="Contact point" title={item?.name ?? id} onClose={onClose}>
      {item === undefined ? (
        <p class="soft">This contact point is not in the list.</p>
      ) : (
        <>
          <p>{renderText(item.description)}</p>
          <ChannelActions key={item.version} channel={item} onClose={onClose} />
          <RoutesToTargets
            noun="contact point"
            name={item.name}
            targets={{ channelIds: [item.id] }}
            isRequested={({ channelIds }) => channelIds.includes(item.id)}
          />
          <Fields values={{ ...item.settings, 'rate limit per minute': item.maxPerMinute }} />
          <ChannelDeliveries id={item.id} />
        </>
      )}
    </SidePanel>
  );

const NewChannelButton = () =>
  isPermitted(createChannelCall) ? (
    <Button kind="primary" icon={Plus} onClick={() => setParams({ open: newChannelKey })}>
      New contact point
    </Button>
  ) : null;

const ChannelList = createListView({
  title: 'Contact points',
  call: channelsCall,
  search: 'Search by name',
  emptyText: 'No contact points yet. Without a contact point, nobody is notified of alerts.',
  toKey: ({ id }) => id,
  Tools: NewChannelButton,
  columns: {
    'Contact point': ({ name }) => name,
    Type: ({ settings }) => settings.type,
    Description: ({ description }) => description,
    Routes: ({ id }) => <RouteCount isRequested={({ channelIds }) => channelIds.includes(id)} />,
    Enabled: ({ enabled }) => (enabled ? 'yes' : <span class="text-warn">disabled</span>),
  },
  ItemPanel: ChannelPanel,
});

export const Channels = () => {
  useStoredRouting();
  return <ChannelList />;
};
