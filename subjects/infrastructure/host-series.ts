/** Metrics of one host over time, computed like those of the list */
import { z } from 'zod';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import { Series } from '../../queries/result.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { readCells } from './cells.ts';
import { groupByHost } from './host-parts.ts';
import { computeHostUsage, type Host } from './hosts.ts';
import { filesystemMetrics, hostCounters, hostLabels, hostMetrics } from './names.ts';

export const hostSeriesNames = ['cpu', 'memory', 'disk', 'network', 'load'] as const;

type HostUsage = Pick<Host, 'cpu' | 'memory' | 'disk' | 'network' | 'load'>;
type SeriesDefinition = readonly [name: string, unit: string, value: (usage: HostUsage) => number | null];

const seriesDefinitions: Readonly<Record<(typeof hostSeriesNames)[number], readonly SeriesDefinition[]>> = {
  cpu: [
    ['cpu.utilization', '1', ({ cpu }) => cpu.utilization.value],
    ['cpu.cores', '{cpu}', ({ cpu }) => cpu.cores.value],
  ],
  memory: [
    ['memory.used', 'By', ({ memory }) => memory.used.value],
    ['memory.utilization', '1', ({ memory }) => memory.utilization.value],
  ],
  disk: [
    ['disk.used', 'By', ({ disk }) => disk.used.value],
    ['disk.utilization', '1', ({ disk }) => disk.utilization.value],
    ['disk.read', 'By/s', ({ disk }) => disk.read.value],
    ['disk.write', 'By/s', ({ disk }) => disk.write.value],
  ],
  network: [
    ['network.receive', 'By/s', ({ network }) => network.receive.value],
    ['network.transmit', 'By/s', ({ network }) => network.transmit.value],
  ],
  load: [
    ['load.1m', '1', ({ load }) => load.m1.value],
    ['load.5m', '1', ({ load }) => load.m5.value],
    ['load.15m', '1', ({ load }) => load.m15.value],
  ],
};

export const HostSeries = z.strictObject({ series: z.array(Series), stepMs: z.int() });

/** Returns the series of one host; a step without points is omitted. */
export const readHostSeries = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
  {
    host,
    names = hostSeriesNames,
    stepMs,
  }: {
    readonly host: Host;
    readonly names?: readonly (typeof hostSeriesNames)[number][];
    readonly stepMs: number;
  },
): Promise<z.output<typeof HostSeries>> => {
  const texts = [host.id, ...(host.name.value === null ? [] : [host.name.value])].map(quoteString).join(', ');
  const resourceConditions = ['host.id', 'host.name', 'k8s.node.name'].map(
    (key) => `attributes[${quoteString(key)}] IN (${texts})`,
  );
  const { cells } = await readCells(reader, {
    metrics: [...hostMetrics, ...filesystemMetrics],
    counters: hostCounters,
    labels: hostLabels,
    range,
    stepMs,
    series: {
      // For scraped hosts, the instance is the name with or without a port, or an instance whose name node_exporter
      // reports.
      sql: `series.resource_id IN (SELECT resource_id FROM resources WHERE tenant_id = {tenant:String} AND (${resourceConditions.join(' OR ')}))
        OR replaceRegexpOne(series.attributes['instance'], ':[0-9]+$', '') IN (${texts})
        OR series.attributes['instance'] IN (SELECT attributes['instance'] FROM series WHERE tenant_id = {tenant:String} AND metric = 'node_uname_info' AND attributes['nodename'] IN (${texts}))`,
      parameters: {},
    },
    ...scope,
  });
  const nodeNameCells = cells.filter(({ metric }) => metric === 'node_uname_info');
  const steps = [...Map.groupBy(cells, ({ bucketMs }) => bucketMs)]
    .toSorted(([left], [right]) => left - right)
    .flatMap(([atMs, stepCells]) => {
      const hostData = groupByHost([...stepCells, ...nodeNameCells]).get(host.id);
      return hostData === undefined ? [] : [{ atMs, figures: computeHostUsage(hostData.cells) }];
    });
  const series = names
    .flatMap((name) => seriesDefinitions[name])
    .map(([name, unit, getValue]) => ({
      name,
      labels: { host: host.id },
      unit,
      points: steps.map(({ atMs, figures: usage }): [number, number | null] => [atMs, getValue(usage)]),
    }))
    .filter(({ points }) => points.some(([, value]) => value !== null));
  return { series, stepMs };
};
