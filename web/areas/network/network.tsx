/** Network: traffic between endpoints as a list and a map, and DNS lookups */

import type { listFlows, showDns, showTopology } from '../../../api/groups/network/flows.ts';
import { knownNumber } from '../../charts/known.tsx';
import { shownValue } from '../../charts/values.ts';
import { callOf } from '../../client/call.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { later } from '../../frame/lazy-load.tsx';
import { partsOf } from '../../frame/parts.tsx';
import { projectScope } from '../../frame/project.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { writtenRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { listed } from '../../lists/declared-list.tsx';
import { Scrolled } from '../../lists/scrolled.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { endpointKinds } from './views.ts';

const Flows = listed({
  title: 'Flows',
  call: callOf<typeof listFlows>('GET', '/api/network/flows'),
  isOfProject: true,
  isRanged: true,
  choices: [{ name: 'by', label: 'Group by', options: Object.entries(endpointKinds) }],
  nothing: 'No flows in this range. Install an agent on the hosts, or export flows from a router.',
  keyOf: ({ source, destination, transport, destinationPort, seenBy }) =>
    [source.id, destination.id, transport, destinationPort, seenBy].join(' '),
  columns: {
    From: ({ source }) => source.name || 'unknown',
    To: ({ destination }) => destination.name || 'unknown',
    Port: ({ transport, destinationPort }) => `${transport} ${destinationPort ?? ''}`,
    Bytes: ({ bytes }) => shownValue(bytes, 'By'),
    'Bytes/s': ({ bytesPerSecond }) => shownValue(bytesPerSecond, 'By'),
    Packets: ({ packets }) => knownNumber(packets),
    Source: ({ seenBy }) => (seenBy === 'ebpf' ? 'host agents' : 'router or switch'),
  },
  numbers: ['Bytes', 'Bytes/s', 'Packets'],
});

const Dns = () => {
  const { from, to } = writtenRange.value;
  const queryState = useQuery(callOf<typeof showDns>('GET', '/api/network/dns'), {
    query: { from, to, ...projectScope.value, limit: 200 },
  });
  const { answer, error } = queryState;
  return (
    <>
      <Problem error={error} />
      {answer?.names.length === 0 ? (
        <p class="said" role="status">
          No DNS lookups in this range.
        </p>
      ) : null}
      <Scrolled class="scrolled" label="DNS lookups">
        <table class="figures texts">
          <TableHeader columns={['Name', 'Lookups', 'Failures', 'Errors', 'p50', 'p95']} />
          <tbody>
            {answer?.names.map(({ name, seenBy, lookups, failures, errors, p50, p95 }) => (
              <tr key={`${name} ${seenBy}`}>
                <td>
                  <bdi>{shownText(name)}</bdi>
                </td>
                <td>{lookups}</td>
                <td class={failures > 0 ? 'text-error' : ''}>{failures}</td>
                <td>
                  {shownText(
                    Object.entries(errors)
                      .map(([error, count]) => `${error}: ${count}`)
                      .join(', '),
                  )}
                </td>
                <td>{knownNumber(p50, 'ns')}</td>
                <td>{knownNumber(p95, 'ns')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
      <Freshness of={queryState} />
    </>
  );
};

export const Network = partsOf('Network', [
  { name: '', title: 'Flows', View: Flows },
  {
    name: 'map',
    title: 'Map',
    requiredCall: callOf<typeof showTopology>('GET', '/api/network/topology'),
    View: later(async () => (await import('./map.tsx')).NetworkMap),
  },
  { name: 'dns', title: 'DNS', View: Dns },
]);
