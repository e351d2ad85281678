/** Side panel of a pod: containers, events and latest log records */

import type { showPod } from '../../../api/groups/kubernetes/pod.ts';
import { knownNumber, knownShare } from '../../charts/known.tsx';
import { callOf } from '../../client/call.ts';
import { toArea } from '../../frame/address.ts';
import { conditionOf } from '../../frame/conditions.ts';
import { Problem } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { writtenRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';

const podCall = callOf<typeof showPod>('GET', '/api/kubernetes/pods/{uid}');

export const PodPanel = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const { from, to } = writtenRange.value;
  const { answer, error } = useQuery(podCall, { params: { uid: id }, query: { from, to, ...projectScope.value } });
  const name = answer?.name.value ?? id;
  return (
    <SidePanel label="Pod" title={name} onClose={onClose}>
      <Problem error={error} />
      <ul class="links">
        <li>
          <Link to={toArea('/logs', { search: conditionOf('k8s.pod.name', name) })}>All logs</Link>
        </li>
      </ul>
      {answer === undefined ? null : (
        <>
          <Fields
            values={{
              namespace: answer.namespace.value,
              cluster: answer.cluster.value,
              node: answer.node.value,
              phase: answer.phase.value,
              reason: answer.reason.value,
              'last seen': shownMoment(answer.lastSeen),
            }}
          />
          <h3>Containers</h3>
          <table class="figures texts">
            <TableHeader columns={['Name', 'State', 'Restarts', 'Memory of limit', 'Out of memory']} />
            <tbody>
              {answer.containers.map(({ id, name, state, restarts, memory, oom }) => (
                <tr key={id}>
                  <td>{shownText(name)}</td>
                  <td>{shownText(state.value ?? '–')}</td>
                  <td>{knownNumber(restarts)}</td>
                  <td>{knownShare(memory.limitUtilization)}</td>
                  <td>{oom.verdict}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <h3>Events</h3>
          {'items' in answer.events ? (
            <ul class="around">
              {answer.events.items.map(({ id, timestamp, reason, message }) => (
                <li key={id}>
                  <time>{shownMoment(timestamp)}</time> {shownText(reason ?? '')}: {shownText(message)}
                </li>
              ))}
            </ul>
          ) : (
            <p class="soft">No data: {shownText(answer.events.reason)}</p>
          )}
          <h3>Latest log records</h3>
          {'items' in answer.logs ? (
            <ul class="around">
              {answer.logs.items.map(({ id, timestamp, body }) => (
                <li key={id}>
                  <time>{shownMoment(timestamp)}</time> {shownText(String(body))}
                </li>
              ))}
            </ul>
          ) : (
            <p class="soft">No data: {shownText(answer.logs.reason)}</p>
          )}
        </>
      )}
    </SidePanel>
  );
};
