/** Flows from counters of eBPF agents: OBI, and its predecessor Beyla, over OTLP and Prometheus */
import { presentMetrics } from '../../queries/metrics/present.ts';
import type { Range } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import type { Incompleteness, Result } from '../../queries/result.ts';
import { answerOnly, queryOf } from '../../queries/run.ts';
import { endOf, type Flow, type FlowQuery, type FlowView, noPackets } from './flow.ts';

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

const present = async (reading: Reading, range: Range): Promise<(typeof metrics)[number][]> => {
  const found = await presentMetrics(
    reading,
    metrics.map(([name]) => name),
    range,
  );
  return metrics.filter(([name]) => found.has(name));
};

/** Observed traffic of one flow, by the side of the observation */
interface Sides {
  readonly source: readonly string[];
  readonly destination: readonly string[];
  readonly transport: string;
  readonly port: string;
  egress: number;
  ingress: number;
  unspecified: number;
}

export const readMetricFlows = async (
  reading: Reading,
  { view, projectId }: FlowQuery,
  range: Range,
): Promise<{ flows: Flow[]; partial: Incompleteness[] }> => {
  const labels = [...endLabels[view].flat(), sideLabel, ...(view === 'address' ? addressLabels : [])];
  const results = await Promise.all(
    (await present(reading, range)).map(([metric, isPrometheus]) =>
      answerOnly(
        queryOf({
          kind: 'metric',
          metric,
          projectId,
          overTime: 'increase',
          across: 'sum',
          limit: maxFlows,
          groupBy: labels.map((label) => (isPrometheus ? label.replaceAll('.', '_') : label)),
        }),
        reading,
        { range },
      ),
    ),
  );
  const found = new Map<string, Sides>();
  for (const result of results) addSides(found, result, view);
  const seconds = Number(range.to - range.from + 1n) / 1e9;
  return {
    flows: [...found.values()].map((sides) => flowOf(sides, view, seconds)).filter(({ bytes }) => bytes > 0),
    partial: results.flatMap(({ partial }) => partial),
  };
};

const addSides = (found: Map<string, Sides>, { rows }: Pick<Result, 'rows'>, view: FlowView): void => {
  const [sourceLabels, destinationLabels] = endLabels[view];
  for (const row of rows) {
    const texts = row.slice(0, -1).map(String);
    const bytes = Number(row.at(-1) ?? 0);
    if (!Number.isFinite(bytes)) continue;
    const source = texts.slice(0, sourceLabels.length);
    const destination = texts.slice(sourceLabels.length, sourceLabels.length + destinationLabels.length);
    const [side = '', transport = '', port = ''] = texts.slice(sourceLabels.length + destinationLabels.length);
    const key = JSON.stringify([source, destination, transport, port]);
    const sides = found.get(key) ?? { source, destination, transport, port, egress: 0, ingress: 0, unspecified: 0 };
    sides[sideOf(side)] += bytes;
    found.set(key, sides);
  }
};

const sideOf = (label: string): 'egress' | 'ingress' | 'unspecified' =>
  label === 'egress' || label === 'ingress' ? label : 'unspecified';

const doubtful =
  'its agents do not report the direction of flows, so flows reported by both ends count twice: add iface.direction to the attributes of the flow metric';

/** Both sides observe the same bytes, so the larger count is used. */
const flowOf = (sides: Sides, view: FlowView, seconds: number): Flow => {
  const bytes = Math.max(sides.egress, sides.ingress) + sides.unspecified;
  return {
    source: endOf(view, nameOf(sides.source)),
    destination: endOf(view, nameOf(sides.destination)),
    transport: sides.transport.toLowerCase(),
    destinationPort: /^\d{1,5}$/.test(sides.port) ? Number(sides.port) : null,
    bytes,
    packets: noPackets,
    bytesPerSecond: bytes / seconds,
    seenBy: 'ebpf',
    isCountedOnce: sides.unspecified > 0 ? { value: null, reason: doubtful } : { value: true, reason: null },
  };
};

const nameOf = (parts: readonly string[]): string =>
  parts.at(-1) === '' ? '' : parts.filter((part) => part !== '').join('/');
