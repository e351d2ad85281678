/** Processes by resource usage */

import { z } from 'zod';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { NumberOrReason } from '../../queries/unknown-numbers.ts';
import { buildServiceName } from '../../schemas/records/namespaced-name.ts';
import { type Cell, readCells } from './cells.ts';
import { collectNodeNames, createHostKeys, identifyHost } from './host-identity.ts';
import { recentRange } from './hosts.ts';
import {
  type CellsByMetric,
  explainMissing,
  KnownText,
  listRateMetrics,
  listSourceMetrics,
  type Source,
  toKnownSum,
  toKnownText,
} from './item-values.ts';
import { processSources } from './names.ts';

export const Process = z.strictObject({
  id: z.string().describe('Host and process id; for scraped processes, job and instance'),
  pid: KnownText,
  parentPid: KnownText,
  name: KnownText,
  command: KnownText.describe('Command line, otherwise command'),
  owner: KnownText,
  host: KnownText,
  service: KnownText,
  cpuCores: NumberOrReason.describe('Used processor cores'),
  memory: NumberOrReason.describe('Bytes in physical memory'),
  virtualMemory: NumberOrReason.describe('Virtual memory in bytes'),
  threads: NumberOrReason,
  openFiles: NumberOrReason,
  read: NumberOrReason.describe('Read rate in bytes per second'),
  write: NumberOrReason.describe('Write rate in bytes per second'),
  lastSeen: z.string(),
});
export type Process = z.output<typeof Process>;

const labels = ['direction', 'disk.io.direction', 'instance', 'job', 'nodename'];
const metrics = [...listSourceMetrics(processSources), 'node_uname_info'];
const counters = listRateMetrics(processSources);
const senderHint = "the collector's hostmetrics receiver with the scraper process sends it";
const notReportedReason = 'not reported by the sender';

/** Returns processes that sent points in the last minutes of a range. */
export const readProcesses = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
): Promise<{ readonly items: Process[]; readonly isTruncated: boolean }> => {
  const { cells: allCells, isTruncated } = await readCells(reader, {
    metrics,
    counters,
    labels,
    range: recentRange(range),
    ...scope,
  });
  const names = collectNodeNames(allCells);
  const cells = allCells.filter(({ metric }) => metric !== 'node_uname_info');
  const identifiedCells = cells.map((cell) => ({ cell, identity: identifyHost(cell.resource, cell.labels, names) }));
  const keyOf = createHostKeys(identifiedCells.map(({ identity }) => identity));
  const processes = Map.groupBy(identifiedCells, ({ cell, identity }) => toProcessId(cell, keyOf(identity)));
  return {
    isTruncated,
    items: [...processes].map(([id, processCells]) =>
      toProcess(
        id,
        keyOf(processCells[0]?.identity ?? { id: undefined, name: undefined }),
        processCells.map(({ cell }) => cell),
      ),
    ),
  };
};

/** Returns the id of a process of a host; without a process id, the id of the sending program. */
const toProcessId = ({ resource, labels: processLabels, resourceId }: Cell, host: string): string => {
  const pid = resource['process.pid'];
  if (pid !== undefined) return `${host}/${pid}`;
  if (processLabels['instance'] !== undefined) return `${processLabels['job'] ?? ''}/${processLabels['instance']}`;
  return `${findService(resource) ?? ''}/${resource['service.instance.id'] ?? resourceId}`;
};

const findService = (resource: Cell['resource']): string | undefined => {
  const name = resource['service.name'];
  return name === undefined ? undefined : buildServiceName(String(name), String(resource['service.namespace'] ?? ''));
};

const toProcess = (id: string, host: string, candidateCells: readonly Cell[]): Process => {
  // Operating systems reuse process ids, so the latest process counts.
  const newest = candidateCells.reduce((left, right) => (right.atMs > left.atMs ? right : left));
  const processCells = candidateCells.filter(({ resourceId }) => resourceId === newest.resourceId);
  const cells: CellsByMetric = Map.groupBy(processCells, ({ metric }) => metric);
  const { resource, labels: processLabels } = newest;
  const getAttribute = (...keys: readonly string[]) =>
    toKnownText(
      keys.map((key) => resource[key]).find((value) => value !== undefined),
      notReportedReason,
    );
  const readMeasure = (sources: readonly Source[]): NumberOrReason =>
    toKnownSum(
      cells,
      sources,
      explainMissing(cells, sources, `this metric was not received in the last 10 minutes: ${senderHint}`),
    );
  return {
    id,
    pid: getAttribute('process.pid'),
    parentPid: getAttribute('process.parent_pid'),
    name: toKnownText(
      resource['process.executable.name'] ??
        resource['process.command'] ??
        resource['service.name'] ??
        processLabels['job'],
      notReportedReason,
    ),
    command: getAttribute('process.command_line', 'process.command'),
    owner: getAttribute('process.owner'),
    host: toKnownText(host, notReportedReason),
    service: toKnownText(findService(resource) ?? processLabels['job'], 'the sender does not set service.name'),
    cpuCores: readMeasure(processSources.cpu),
    memory: readMeasure(processSources.memory),
    virtualMemory: readMeasure(processSources.virtual),
    threads: readMeasure(processSources.threads),
    openFiles: readMeasure(processSources.files),
    read: readMeasure(processSources.read),
    write: readMeasure(processSources.write),
    lastSeen: formatTime(BigInt(newest.atMs) * 1_000_000n),
  };
};
