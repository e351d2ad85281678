/** Side panel of a host: state, time series, and links */

import type { listHosts, showHost } from '../../../api/groups/infrastructure/hosts.ts';
import type { showHostTimeseries } from '../../../api/groups/infrastructure/timeseries.ts';
import { Lines } from '../../charts/lines.tsx';
import { linesOf } from '../../charts/values.ts';
import { type Answered, callOf } from '../../client/call.ts';
import { toArea } from '../../frame/address.ts';
import { conditionOf } from '../../frame/conditions.ts';
import { Problem } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { writtenRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';

type Host = Answered<typeof listHosts>['items'][number];

const hostCall = callOf<typeof showHost>('GET', '/api/infrastructure/hosts/{id}');
const seriesCall = callOf<typeof showHostTimeseries>('GET', '/api/infrastructure/hosts/{id}/timeseries');

const HostCharts = ({ id }: { readonly id: string }) => {
  const { from, to } = writtenRange.value;
  const { answer, error } = useQuery(seriesCall, { params: { id }, query: { from, to, ...projectScope.value } });
  const byName = Map.groupBy(answer?.series ?? [], ({ name }) => name);
  return (
    <>
      <Problem error={error} />
      {[...byName].map(([name, series]) => {
        const { steps, lines } = linesOf({ series });
        return (
          <section key={name} aria-label={name}>
            <h3>{name}</h3>
            <Lines
              title={name}
              name={name}
              unit={series[0]?.unit ?? ''}
              steps={steps}
              stepMs={answer?.stepMs ?? 0}
              lines={lines}
            />
          </section>
        );
      })}
    </>
  );
};

export const HostPanel = ({
  id,
  item,
  onClose,
}: {
  readonly id: string;
  readonly item: Host | undefined;
  readonly onClose: () => void;
}) => {
  const { from, to } = writtenRange.value;
  const { answer, error } = useQuery(hostCall, { params: { id }, query: { from, to, ...projectScope.value } });
  const host = answer ?? item;
  const name = host?.name.value ?? id;
  return (
    <SidePanel label="Host" title={name} onClose={onClose}>
      <ul class="links">
        <li>
          <Link to={toArea('/logs', { search: conditionOf('host.name', name) })}>Logs</Link>
        </li>
        <li>
          <Link to={toArea('/traces', { search: conditionOf('host.name', name) })}>Traces</Link>
        </li>
        <li>
          <Link to={toArea('/infrastructure/disks', { search: '' })}>Disks</Link>
        </li>
      </ul>
      <Problem error={error} />
      {host === undefined ? null : (
        <Fields
          values={{
            state: host.state,
            reason: host.reason,
            arch: host.arch.value,
            node: host.kubernetesNode.value,
            processors: host.cpu.logicalCpus.value,
            'uptime (seconds)': host.uptimeSeconds.value,
          }}
        />
      )}
      <HostCharts id={id} />
    </SidePanel>
  );
};
