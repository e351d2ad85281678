/** Network: traffic between endpoints as a list and a map, and DNS lookups */

import type { listFlows, showDns, showTopology } from '../../../api/groups/network/flows.ts';
import { renderKnownNumber } from '../../charts/render-number.tsx';
import { formatQuantity } from '../../charts/values.ts';
import { declareCall } from '../../client/call.ts';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { createTabbedView } from '../../frame/parts.tsx';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { EmptyView } from '../../lists/empty-view.tsx';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { endpointKinds } from './views.ts';

const Flows = createListView({
  title: 'Flows',
  call: declareCall<typeof listFlows>('GET', '/api/network/flows'),
  isOfProject: true,
  hasTimeRange: true,
  choices: [{ name: 'by', label: 'Group by', options: Object.entries(endpointKinds) }],
  emptyText: 'No flows in this range. Install an agent on the hosts, or export flows from a router.',
  toKey: ({ source, destination, transport, destinationPort, seenBy }) =>
    [source.id, destination.id, transport, destinationPort, seenBy].join(' '),
  columns: {
    From: ({ source }) => source.name || 'unknown',
    To: ({ destination }) => destination.name || 'unknown',
    Port: ({ transport, destinationPort }) => `${transport} ${destinationPort ?? ''}`,
    Bytes: ({ bytes }) => formatQuantity(bytes, 'By'),
    'Bytes/s': ({ bytesPerSecond }) => formatQuantity(bytesPerSecond, 'By'),
    Packets: ({ packets }) => renderKnownNumber(packets),
    Source: ({ seenBy }) => (seenBy === 'ebpf' ? 'host agents' : 'router or switch'),
  },
  wideColumns: ['Port', 'Bytes/s', 'Packets', 'Source'],
  numericColumns: ['Bytes', 'Bytes/s', 'Packets'],
});

const Dns = () => {
  const { from, to } = timeRange.value;
  const queryState = useQuery(declareCall<typeof showDns>('GET', '/api/network/dns'), {
    query: { from, to, ...projectScope.value, limit: 200 },
  });
  const { response, error } = queryState;
  return (
    <>
      <ErrorMessage error={error} />
      {response?.names.length === 0 ? (
        <EmptyView title="No DNS lookups in this range." />
      ) : (
        <ScrollRegion class="scrolled" label="DNS lookups">
          <table class="figures texts">
            <TableHeader columns={['Name', 'Lookups', 'Failures', 'Errors', 'p50', 'p95']} />
            <tbody>
              {response?.names.map(({ name, seenBy, lookups, failures, errors, p50, p95 }) => (
                <tr key={`${name} ${seenBy}`}>
                  <td>
                    <bdi>{renderText(name)}</bdi>
                  </td>
                  <td>{lookups}</td>
                  <td class={failures > 0 ? 'text-error' : ''}>{failures}</td>
                  <td>
                    {renderText(
                      Object.entries(errors)
                        .map(([error, count]) => `${error}: ${count}`)
                        .join(', '),
                    )}
                  </td>
                  <td>{renderKnownNumber(p50, 'ns')}</td>
                  <td>{renderKnownNumber(p95, 'ns')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
      <Freshness queryState={queryState} />
    </>
  );
};

export const Network = createTabbedView('Network', [
  { name: '', title: 'Flows', View: Flows },
  {
    name: 'map',
    title: 'Map',
    requiredCall: declareCall<typeof showTopology>('GET', '/api/network/topology'),
    View: lazyLoad(async () => (await import('./map.tsx')).NetworkMap),
  },
  { name: 'dns', title: 'DNS', View: Dns },
]);
