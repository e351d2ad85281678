/** Notifications of an alert: the receivers that its labels match, and the responses of their channels */

import { Problem } from '../../frame/freshness.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
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
  const { answer, error } = useQuery(deliveriesCall, { params: { id }, query: { groupKey, limit: 10 } });
  return (
    <>
      <h4>{shownText(name)}</h4>
      <Problem error={error} />
      {answer === undefined ? null : answer.items.length === 0 ? (
        <p class="soft">No notification sent yet.</p>
      ) : (
        <Deliveries of={answer.items} />
      )}
    </>
  );
};

const Receivers = ({ labels }: { readonly labels: Alert['labels'] }) => {
  const { answer, error } = useQuery(routingTestCall, { body: { labels } });
  const receiverChannels = answer?.receivers.flatMap(({ name, channels, groupKey, mutedBy }) =>
    channels.map((channel) => ({ ...channel, receiver: name, groupKey, mutedBy })),
  );
  return (
    <>
      <Problem error={error} />
      {receiverChannels?.length === 0 ? <p class="text-warn">No channel matches this alert.</p> : null}
      {receiverChannels?.map(({ id, name, receiver, groupKey, mutedBy, enabled }) => (
        <div key={`${receiver} ${id} ${groupKey}`}>
          <ChannelNotifications id={id} name={`${name ?? id}, for ${receiver}`} groupKey={groupKey} />
          {mutedBy === null ? null : <p class="soft">Muted: {shownText(mutedBy)}</p>}
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
