/** Processes by resource usage */
import { z } from 'zod';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import { formatTime } from '../../queries/time.ts';
import { Known } from '../../queries/unknown.ts';
import { type Cell, readCells } from './cells.ts';
import {
  type CellsByMetric,
  countersOf,
  figureOf,
  KnownText,
  metricsOf,
  missing,
  type Source,
  textOf,
} from './figures.ts';
import { hostIdentityOf, hostKeys, nodeNamesOf } from './host-identity.ts';
import { recent } from './hosts.ts';
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
  cpuCores: Known.describe('Used processor cores'),
  memory: Known.describe('Bytes in physical memory'),
  virtualMemory: Known.describe('Virtual memory in bytes'),
  threads: Known,
  openFiles: Known,
  read: Known.describe('Read rate in bytes per second'),
  write: Known.describe('Write rate in bytes per second'),
  lastSeen: z.string(),
});
export type Process = z.output<typeof Process>;

const labels = ['direction', 'disk.io.direction', 'instance', 'job', 'nodename'];
const metrics = [...metricsOf(processSources), 'node_uname_info'];
const counters = countersOf(processSources);
const by = "the collector's hostmetrics receiver with the scraper process sends it";
const detected = 'not reported by the sender';

/** Returns processes that sent points in the last minutes of a range. */
export const readProcesses = async (
  reading: Reading,
  range: Range,
  scope: ProjectScope,
): Promise<{ readonly items: Process[]; readonly isCut: boolean }> => {
  const { cells: all, isCut } = await readCells(reading, {
    metrics,
    counters,
    labels,
    range: recent(range),
    ...scope,
  });
  const names = nodeNamesOf(all);
  const cells = all.filter(({ metric }) => metric !== 'node_uname_info');
  const identified = cells.map((cell) => ({ cell, identity: hostIdentityOf(cell.resource, cell.labels, names) }));
  const keyOf = hostKeys(identified.map(({ identity }) => identity));
  const processes = Map.groupBy(identified, ({ cell, identity }) => idOf(cell, keyOf(identity)));
  return {
    isCut,
    items: [...processes].map(([id, own]) =>
      processOf(
        id,
        keyOf(own[0]?.identity ?? { id: undefined, name: undefined }),
        own.map(({ cell }) => cell),
      ),
    ),
  };
};

/** Returns the id of a process of a host; without a process id, the id of the sending program. */
const idOf = ({ resource, labels: own, resourceId }: Cell, host: string): string => {
  const pid = resource['process.pid'];
  if (pid !== undefined) return `${host}/${pid}`;
  if (own['instance'] !== undefined) return `${own['job'] ?? ''}/${own['instance']}`;
  return `${resource['service.name'] ?? ''}/${resource['service.instance.id'] ?? resourceId}`;
};

const processOf = (id: string, host: string, all: readonly Cell[]): Process => {
  // Operating systems reuse process ids, so the latest process counts.
  const newest = all.reduce((one, other) => (other.atMs > one.atMs ? other : one));
  const own = all.filter(({ resourceId }) => resourceId === newest.resourceId);
  const cells: CellsByMetric = Map.groupBy(own, ({ metric }) => metric);
  const { resource, labels: given } = newest;
  const attribute = (...keys: readonly string[]) =>
    textOf(
      keys.map((key) => resource[key]).find((value) => value !== undefined),
      detected,
    );
  const readFigure = (sources: readonly Source[]): Known =>
    figureOf(cells, sources, missing(cells, sources, `this metric was not received in the last 10 minutes: ${by}`));
  return {
    id,
    pid: attribute('process.pid'),
    parentPid: attribute('process.parent_pid'),
    name: textOf(
      resource['process.executable.name'] ?? resource['process.command'] ?? resource['service.name'] ?? given['job'],
      detected,
    ),
    command: attribute('process.command_line', 'process.command'),
    owner: attribute('process.owner'),
    host: textOf(host, detected),
    service: textOf(resource['service.name'] ?? given['job'], 'the sender does not set service.name'),
    cpuCores: readFigure(processSources.cpu),
    memory: readFigure(processSources.memory),
    virtualMemory: readFigure(processSources.virtual),
    threads: readFigure(processSources.threads),
    openFiles: readFigure(processSources.files),
    read: readFigure(processSources.read),
    write: readFigure(processSources.write),
    lastSeen: formatTime(BigInt(newest.atMs) * 1_000_000n),
  };
};
