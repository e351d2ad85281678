/** Deliveries of a channel, with the response to each attempt */

import { renderText } from '../../../frame/display-text.tsx';
import { formatIsoTime } from '../../../frame/format-time.ts';
import { ErrorMessage } from '../../../frame/freshness.tsx';
import { useQuery } from '../../../frame/use-query.ts';
import { TableHeader } from '../../../lists/table-header.tsx';
import { type Delivery, deliveriesCall } from './calls.ts';

const formatAlertCounts = ({ firing, resolved, isTest }: Delivery): string =>
  isTest
    ? 'test'
    : [...(firing > 0 ? [`${firing} firing`] : []), ...(resolved > 0 ? [`${resolved} resolved`] : [])].join(', ');

const Attempts = ({ attempts }: { readonly attempts: Delivery['attempts'] }) =>
  attempts.length === 0 ? (
    <span class="soft">none</span>
  ) : (
    <ol class="around">
      {attempts.map(({ number, at, statusCode, answer: response, latencyMs }) => (
        <li key={number}>
          <time>{formatIsoTime(at)}</time> {statusCode ?? ''} {renderText(response)}{' '}
          <span class="soft">{latencyMs} ms</span>
        </li>
      ))}
    </ol>
  );

export const Deliveries = ({ deliveries }: { readonly deliveries: readonly Delivery[] }) => (
  <table class="figures texts">
    <TableHeader columns={['Queued', 'State', 'Alerts', 'Attempts and responses']} />
    <tbody>
      {deliveries.map((delivery) => (
        <tr key={delivery.id}>
          <td>{formatIsoTime(delivery.queuedAt)}</td>
          <td class={delivery.state === 'failed' ? 'text-error' : ''}>{delivery.state}</td>
          <td>{formatAlertCounts(delivery)}</td>
          <td>
            <Attempts attempts={delivery.attempts} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

/** Deliveries of one channel, with its status. */
export const ChannelDeliveries = ({ id }: { readonly id: string }) => {
  const { response, error } = useQuery(deliveriesCall, { params: { id }, query: { limit: 50 } });
  const { failingSince = null, lastError = null, lastDeliveredAt = null } = response?.health ?? {};
  return (
    <>
      {failingSince === null ? null : (
        <p class="problem">
          Failing since {formatIsoTime(failingSince)}: {renderText(lastError ?? '')}
        </p>
      )}
      {lastDeliveredAt === null ? null : <p class="soft">Last delivered at {formatIsoTime(lastDeliveredAt)}.</p>}
      <h3>Delivery log</h3>
      <ErrorMessage error={error} />
      {response === undefined ? null : response.items.length === 0 ? (
        <p class="soft">No deliveries yet.</p>
      ) : (
        <Deliveries deliveries={response.items} />
      )}
    </>
  );
};
