/** Channels: list, delivery status, and test messages */
import { useState } from 'preact/hooks';
import { Action } from '../../../client/action.ts';
import { setParams } from '../../../frame/address.ts';
import { ErrorMessage } from '../../../frame/freshness.tsx';
import { explainDenial, isPermitted } from '../../../frame/rights.ts';
import { renderText } from '../../../frame/shown-text.tsx';
import { refresh } from '../../../frame/time-range.ts';
import { createListView } from '../../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../../lists/side-panel.tsx';
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
    if (!confirm(`Delete the channel “${name}”?`)) return;
    if ((await action.run({ params: { id }, ifMatch: version })) === undefined) return;
    onClose();
    refresh();
  };
  return (
    <>
      <button type="button" class="plain" disabled={action.isRunning.value} onClick={() => void remove()}>
        Delete
      </button>
      <ErrorMessage error={action.error.value} />
    </>
  );
};

const ChannelActions = ({ channel, onClose }: { readonly channel: Channel; readonly onClose: () => void }) => {
  const [isEditing, setIsEditing] = useState(false);
  if (!isPermitted(testChannelCall))
    return <p class="soft">{explainDenial(testChannelCall, 'Editing and testing a channel')}</p>;
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
    <SidePanel label="Channel" title="New channel" onClose={onClose}>
      <ChannelEditor onSaved={() => undefined} />
    </SidePanel>
  ) : (
    <SidePanel label="Channel" title={item?.name ?? id} onClose={onClose}>
      {item === undefined ? (
        <p class="soft">This channel is not in the list.</p>
      ) : (
        <>
          <p>{renderText(item.description)}</p>
          <ChannelActions key={item.version} channel={item} onClose={onClose} />
          <Fields values={{ ...item.settings, 'rate limit per minute': item.maxPerMinute }} />
          <ChannelDeliveries id={item.id} />
        </>
      )}
    </SidePanel>
  );

const NewChannelButton = () =>
  isPermitted(createChannelCall) ? (
    <button type="button" onClick={() => setParams({ open: newChannelKey })}>
      New channel
    </button>
  ) : null;

export const Channels = createListView({
  title: 'Channels',
  call: channelsCall,
  search: 'channel name',
  emptyText: 'No channels yet. Without a channel, nobody is notified of alerts.',
  toKey: ({ id }) => id,
  Tools: NewChannelButton,
  columns: {
    Channel: ({ name }) => name,
    Type: ({ settings }) => settings.type,
    Description: ({ description }) => description,
    Enabled: ({ enabled }) => (enabled ? 'yes' : <span class="text-warn">disabled</span>),
  },
  ItemPanel: ChannelPanel,
});
