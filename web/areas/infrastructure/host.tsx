/** Side panel of a host: state, time series, and links */

import type { listHosts, showHost } from '../../../api/groups/infrastructure/hosts.ts';
import type { showHostTimeseries } from '../../../api/groups/infrastructure/timeseries.ts';
import { LineChart } from '../../charts/lines.tsx';
import { toLines } from '../../charts/values.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { toArea } from '../../frame/address.ts';
import { toCondition } from '../../frame/conditions.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';

type Host = ResponseBody<typeof listHosts>['items'][number];

const hostCall = declareCall<typeof showHost>('GET', '/api/infrastructure/hosts/{id}');
const hostSeriesCall = declareCall<typeof showHostTimeseries>('GET', '/api/infrastructure/hosts/{id}/timeseries');

const HostCharts = ({ id }: { readonly id: string }) => {
  const { from, to } = timeRange.value;
  const { response, error } = useQuery(hostSeriesCall, { params: { id }, query: { from, to, ...projectScope.value } });
  const seriesByName = Map.groupBy(response?.series ?? [], ({ name }) => name);
  return (
    <>
      <ErrorMessage error={error} />
      {[...seriesByName].map(([name, series]) => {
        const { steps, lines } = toLines({ series });
        return (
          <section key={name} aria-label={name}>
            <h3>{name}</h3>
            <LineChart
              title={name}
              unit={series[0]?.unit ?? ''}
              steps={steps}
              stepMs={response?.stepMs ?? 0}
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
  const { from, to } = timeRange.value;
  const { response, error } = useQuery(hostCall, { params: { id }, query: { from, to, ...projectScope.value } });
  const host = response ?? item;
  const name = host?.name.value ?? id;
  return (
    <SidePanel label="Host" title={name} onClose={onClose}>
      <ul class="links">
        <li>
          <Link url={toArea('/logs', { search: toCondition('host.name', name) })}>Logs</Link>
        </li>
        <li>
          <Link url={toArea('/traces', { search: toCondition('host.name', name) })}>Traces</Link>
        </li>
        <li>
          <Link url={toArea('/infrastructure/disks', { host: id })}>Disks</Link>
        </li>
      </ul>
      <ErrorMessage error={error} />
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
