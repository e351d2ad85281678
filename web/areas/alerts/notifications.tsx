/** Notifications of an alert: the receivers that its labels match, and the responses of their channels */

import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { useQuery } from '../../frame/use-query.ts';
import { type Alert, routingTestCall } from './calls.ts';
import { deliveriesCall } from './channels/calls.ts';
import { Deliveries } from './channels/deliveries.tsx';

const ChannelNotifications = ({
  id,
  name,
  groupKey,
}: {
  readonly id: string;
  readonly name: string;
  readonly groupKey: string;
}) => {
  const { response, error } = useQuery(deliveriesCall, { params: { id }, query: { groupKey, limit: 10 } });
  return (
    <>
      <h4>{renderText(name)}</h4>
      <ErrorMessage error={error} />
      {response === undefined ? null : response.items.length === 0 ? (
        <p class="soft">No notification sent yet.</p>
      ) : (
        <Deliveries deliveries={response.items} />
      )}
    </>
  );
};

const Receivers = ({ labels }: { readonly labels: Alert['labels'] }) => {
  const { response, error } = useQuery(routingTestCall, { body: { labels } });
  const receiverChannels = response?.receivers.flatMap(({ name, channels, groupKey, mutedBy }) =>
    channels.map((channel) => ({ ...channel, receiver: name, groupKey, mutedBy })),
  );
  return (
    <>
      <ErrorMessage error={error} />
      {receiverChannels?.length === 0 ? <p class="text-warn">No channel matches this alert.</p> : null}
      {receiverChannels?.map(({ id, name, receiver, groupKey, mutedBy, enabled }) => (
        <div key={`${receiver} ${id} ${groupKey}`}>
          <ChannelNotifications id={id} name={`${name ?? id} (receiver ${receiver})`} groupKey={groupKey} />
          {mutedBy === null ? null : <p class="soft">Muted: {renderText(mutedBy)}</p>}
          {enabled ? null : <p class="text-warn">This channel is disabled.</p>}
        </div>
      ))}
    </>
  );
};

export const NotifiedChannels = ({ labels }: { readonly labels: Alert['labels'] }) => (
  <>
    <h3>Notifications</h3>
    {isPermitted(routingTestCall) ? (
      <Receivers labels={labels} />
    ) : (
      <p class="soft">{explainDenial(routingTestCall, 'Testing the route')}</p>
    )}
  </>
);
