/** Side panel of a pod: containers, events and latest log records */

import type { showPod } from '../../../api/groups/kubernetes/pod.ts';
import { renderKnownNumber, renderKnownRatio } from '../../charts/render-number.tsx';
import { declareCall } from '../../client/call.ts';
import { toArea } from '../../frame/address.ts';
import { toCondition } from '../../frame/conditions.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';

const podCall = declareCall<typeof showPod>('GET', '/api/kubernetes/pods/{uid}');

export const PodPanel = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const { from, to } = timeRange.value;
  const { response, error } = useQuery(podCall, { params: { uid: id }, query: { from, to, ...projectScope.value } });
  const name = response?.name.value ?? id;
  return (
    <SidePanel label="Pod" title={name} onClose={onClose}>
      <ErrorMessage error={error} />
      <ul class="links">
        <li>
          <Link url={toArea('/logs', { search: toCondition('k8s.pod.name', name) })}>All logs</Link>
        </li>
      </ul>
      {response === undefined ? null : (
        <>
          <Fields
            values={{
              namespace: response.namespace.value,
              cluster: response.cluster.value,
              node: response.node.value,
              phase: response.phase.value,
              reason: response.reason.value,
              'last seen': formatIsoTime(response.lastSeen),
            }}
          />
          <h3>Containers</h3>
          <table class="figures texts">
            <TableHeader columns={['Name', 'State', 'Restarts', 'Memory (% of limit)', 'Out of memory']} />
            <tbody>
              {response.containers.map(({ id, name, state, restarts, memory, oom }) => (
                <tr key={id}>
                  <td>{renderText(name)}</td>
                  <td>{renderText(state.value ?? '–')}</td>
                  <td>{renderKnownNumber(restarts)}</td>
                  <td>{renderKnownRatio(memory.limitUtilization)}</td>
                  <td>{oom.verdict}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <h3>Events</h3>
          {'items' in response.events ? (
            <ul class="around">
              {response.events.items.map(({ id, timestamp, reason, message }) => (
                <li key={id}>
                  <time>{formatIsoTime(timestamp)}</time> {renderText(reason ?? '')}: {renderText(message)}
                </li>
              ))}
            </ul>
          ) : (
            <p class="soft">No data: {renderText(response.events.reason)}</p>
          )}
          <h3>Latest log records</h3>
          {'items' in response.logs ? (
            <ul class="around">
              {response.logs.items.map(({ id, timestamp, body }) => (
                <li key={id}>
                  <time>{formatIsoTime(timestamp)}</time> {renderText(String(body))}
                </li>
              ))}
            </ul>
          ) : (
            <p class="soft">No data: {renderText(response.logs.reason)}</p>
          )}
        </>
      )}
    </SidePanel>
  );
};
