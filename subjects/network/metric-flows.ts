/** Flows from counters of eBPF agents: OBI, and its predecessor Beyla, over OTLP and Prometheus */
import { findPresentMetrics } from '../../queries/metrics/present.ts';
import type { Range } from '../../queries/range.ts';
import type { Incompleteness, Result } from '../../queries/result.ts';
import { parseQuery, runWithoutCost } from '../../queries/run.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { createFlowEnd, type Flow, type FlowQuery, type FlowView, unknownPackets } from './flow.ts';

/** Names of the counter, and whether its labels use the Prometheus form */
const metrics = [
  ['obi.network.flow.bytes', false],
  ['obi_network_flow_bytes_total', true],
  ['beyla.network.flow.bytes', false],
  ['beyla_network_flow_bytes_total', true],
] as const;

/** Labels of the endpoints: source, then destination; the last label is the name within the others */
const endLabels: Readonly<Record<FlowView, readonly [source: readonly string[], destination: readonly string[]]>> = {
  workload: [
    ['k8s.src.namespace', 'k8s.src.owner.name'],
    ['k8s.dst.namespace', 'k8s.dst.owner.name'],
  ],
  host: [['k8s.src.node.name'], ['k8s.dst.node.name']],
  zone: [['src.zone'], ['dst.zone']],
  address: [['src.address'], ['dst.address']],
};
/** Side on which the agent observed the flow: egress or ingress */
const sideLabel = 'iface.direction';
const addressLabels = ['transport', 'dst.port'];

const maxFlows = 10_000;

const findReceivedMetrics = async (reader: TenantReader, range: Range): Promise<(typeof metrics)[number][]> => {
  const receivedNames = await findPresentMetrics(
    reader,
    metrics.map(([name]) => name),
    range,
  );
  return metrics.filter(([name]) => receivedNames.has(name));
};

/** Observed traffic of one flow, by the side of the observation */
interface TrafficBySide {
  readonly source: readonly string[];
  readonly destination: readonly string[];
  readonly transport: string;
  readonly port: string;
  egress: number;
  ingress: number;
  unspecified: number;
}

export const readMetricFlows = async (
  reader: TenantReader,
  { view, projectId }: FlowQuery,
  range: Range,
): Promise<{ flows: Flow[]; partial: Incompleteness[] }> => {
  const labels = [...endLabels[view].flat(), sideLabel, ...(view === 'address' ? addressLabels : [])];
  const results = await Promise.all(
    (await findReceivedMetrics(reader, range)).map(([metric, isPrometheus]) =>
      runWithoutCost(
        parseQuery({
          kind: 'metric',
          metric,
          projectId,
          overTime: 'increase',
          across: 'sum',
          limit: maxFlows,
          groupBy: labels.map((label) => (isPrometheus ? label.replaceAll('.', '_') : label)),
        }),
        reader,
        { range },
      ),
    ),
  );
  const trafficByFlow = new Map<string, TrafficBySide>();
  for (const result of results) addSides(trafficByFlow, result, view);
  const seconds = Number(range.to - range.from + 1n) / 1e9;
  return {
    flows: [...trafficByFlow.values()]
      .map((traffic) => toFlow(traffic, view, seconds))
      .filter(({ bytes }) => bytes > 0),
    partial: results.flatMap(({ partial }) => partial),
  };
};

const addSides = (trafficByFlow: Map<string, TrafficBySide>, { rows }: Pick<Result, 'rows'>, view: FlowView): void => {
  const [sourceLabels, destinationLabels] = endLabels[view];
  for (const row of rows) {
    const texts = row.slice(0, -1).map(String);
    const bytes = Number(row.at(-1) ?? 0);
    if (!Number.isFinite(bytes)) continue;
    const source = texts.slice(0, sourceLabels.length);
    const destination = texts.slice(sourceLabels.length, sourceLabels.length + destinationLabels.length);
    const [side = '', transport = '', port = ''] = texts.slice(sourceLabels.length + destinationLabels.length);
    const key = JSON.stringify([source, destination, transport, port]);
    const traffic = trafficByFlow.get(key) ?? {
      source,
      destination,
      transport,
      port,
      egress: 0,
      ingress: 0,
      unspecified: 0,
    };
    traffic[toSide(side)] += bytes;
    trafficByFlow.set(key, traffic);
  }
};

const toSide = (label: string): 'egress' | 'ingress' | 'unspecified' =>
  label === 'egress' || label === 'ingress' ? label : 'unspecified';

const doubleCountReason =
  'its agents do not report the direction of flows, so flows reported by both ends count twice: add iface.direction to the attributes of the flow metric';

/** Converts observed traffic to a flow. Both sides observe the same bytes, so the larger count is used. */
const toFlow = (traffic: TrafficBySide, view: FlowView, seconds: number): Flow => {
  const bytes = Math.max(traffic.egress, traffic.ingress) + traffic.unspecified;
  return {
    source: createFlowEnd(view, joinName(traffic.source)),
    destination: createFlowEnd(view, joinName(traffic.destination)),
    transport: traffic.transport.toLowerCase(),
    destinationPort: /^\d{1,5}$/.test(traffic.port) ? Number(traffic.port) : null,
    bytes,
    packets: unknownPackets,
    bytesPerSecond: bytes / seconds,
    seenBy: 'ebpf',
    isCountedOnce: traffic.unspecified > 0 ? { value: null, reason: doubleCountReason } : { value: true, reason: null },
  };
};

const joinName = (parts: readonly string[]): string =>
  parts.at(-1) === '' ? '' : parts.filter((part) => part !== '').join('/');
