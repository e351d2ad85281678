/**
 * Pods, containers, nodes and workloads of series, from the attributes of collectors and the labels of
 * kube-state-metrics and cAdvisor
 */

import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { CellQuery } from '../infrastructure/cell-points.ts';
import { type Cell, readCells } from '../infrastructure/cells.ts';
import { recentRange } from '../infrastructure/hosts.ts';
import type { CellsByMetric, Source } from '../infrastructure/item-values.ts';
import { getSourceValues } from '../infrastructure/item-values.ts';
import { kubernetesCounters, kubernetesLabels, oomCounters } from './names.ts';

/** Position in a cluster; empty fields are not reported */
export interface ObjectPosition {
  readonly cluster: string;
  readonly namespace: string;
  readonly pod: string;
  readonly podUid: string;
  readonly container: string;
  readonly node: string;
}

export interface PositionedCell extends Cell {
  readonly position: ObjectPosition;
}

const findText = (...values: readonly unknown[]): string => {
  const firstValue = values.find((value) => value !== undefined && value !== null && value !== '');
  return firstValue === undefined ? '' : String(firstValue);
};

/**
 * Returns which position labels of a metric describe the reported object. The names of kube-state-metrics contain the
 * kind of the object; other position labels are those of the scraped program itself. If a scraper sets labels of the
 * same names, the metric's own labels have the prefix `exported_`.
 */
const getDescribedFields = (metric: string) => {
  const isOfState = metric.startsWith('kube_');
  return {
    namespace: !metric.startsWith('kube_node_'),
    pod: !isOfState || metric.startsWith('kube_pod_'),
    container: !isOfState || /^kube_pod_(init_)?container_/.test(metric),
  };
};

const findPosition = ({ metric, resource, labels }: Cell): ObjectPosition => {
  const described = getDescribedFields(metric);
  return {
    cluster: findText(resource['k8s.cluster.name'], resource['k8s.cluster.uid'], labels['cluster']),
    namespace: described.namespace
      ? findText(labels['exported_namespace'], labels['namespace'], resource['k8s.namespace.name'])
      : '',
    pod: described.pod
      ? findText(labels['exported_pod'], labels['pod'], labels['pod_name'], resource['k8s.pod.name'])
      : '',
    podUid: described.pod ? findText(labels['uid'], resource['k8s.pod.uid']) : '',
    container: described.container
      ? findText(
          labels['exported_container'],
          labels['container'],
          labels['container_name'],
          resource['k8s.container.name'],
        )
      : '',
    node: findText(
      labels['exported_node'],
      labels['node'],
      resource['k8s.node.name'],
      metric.startsWith('container_') ? labels['instance']?.replace(/:\d+$/, '') : undefined,
    ),
  };
};

/** Cells of a metric that are older than the cluster's newest by this time belong to deleted objects. Milliseconds. */
const staleAfterMs = 200_000;

/** Returns the cells of these metrics at the end of a range, without those of deleted objects. */
export const readPositionedCells = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
  metrics: readonly string[],
): Promise<{ readonly cells: readonly PositionedCell[]; readonly isTruncated: boolean }> => {
  const { cells, isTruncated } = await readCells(reader, {
    metrics,
    counters: kubernetesCounters,
    labels: kubernetesLabels,
    range: recentRange(range),
    ...scope,
  });
  const positionedCells = cells.map((cell) => ({ ...cell, position: findPosition(cell) }));
  const toMetricKey = ({ metric, position }: PositionedCell): string => `${metric}\n${position.cluster}`;
  const newest = new Map<string, number>();
  for (const cell of positionedCells)
    newest.set(toMetricKey(cell), Math.max(newest.get(toMetricKey(cell)) ?? 0, cell.atMs));
  return {
    isTruncated,
    cells: positionedCells.filter((cell) => cell.atMs >= (newest.get(toMetricKey(cell)) ?? 0) - staleAfterMs),
  };
};

/** Returns the cells of a full range instead of its end, for some or all series. */
export const readCellsOfRange = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
  metrics: readonly string[],
  series?: CellQuery['series'],
): Promise<readonly PositionedCell[]> => {
  const { cells } = await readCells(reader, {
    ...(series === undefined ? {} : { series }),
    metrics,
    counters: oomCounters,
    labels: kubernetesLabels,
    range,
    ...scope,
  });
  return cells.map((cell) => ({ ...cell, position: findPosition(cell) }));
};

/** A container of a pod, with the values of its series */
export interface ContainerParts {
  readonly name: string;
  readonly cells: CellsByMetric;
}

/** A pod with the values of its series */
export interface PodParts {
  /** UID, otherwise cluster, namespace and name */
  readonly key: string;
  readonly position: ObjectPosition;
  readonly cells: CellsByMetric;
  readonly containers: readonly ContainerParts[];
  readonly lastMs: number;
}

const toNameKey = ({ cluster, namespace, pod }: ObjectPosition): string => `${cluster}/${namespace}/${pod}`;

/** Returns the newest UID of each name. cAdvisor names pods without UIDs, and names are reused. */
const findNewestUids = (cells: readonly PositionedCell[]): ReadonlyMap<string, { uid: string; atMs: number }> => {
  const uids = new Map<string, { uid: string; atMs: number }>();
  for (const { position, atMs } of cells) {
    if (position.podUid === '') continue;
    const newestUid = uids.get(toNameKey(position));
    if (newestUid === undefined || newestUid.atMs < atMs) uids.set(toNameKey(position), { uid: position.podUid, atMs });
  }
  return uids;
};

/** Returns a key for the pod of a cell: its UID, otherwise the newest UID of its name, otherwise its name. */
export const createPodKeys = (cells: readonly PositionedCell[]): ((position: ObjectPosition) => string) => {
  const uids = findNewestUids(cells);
  return (position) => {
    if (position.podUid !== '') return position.podUid;
    return uids.get(toNameKey(position))?.uid ?? toNameKey(position);
  };
};

/** Returns pods by key. */
export const groupByPod = (cells: readonly PositionedCell[]): Map<string, PodParts> => {
  const keyOf = createPodKeys(cells);
  const allPodCells = cells.filter(({ position }) => position.pod !== '' || position.podUid !== '');
  const pods = new Map<string, PodParts>();
  for (const [key, podCells] of Map.groupBy(allPodCells, ({ position }) => keyOf(position))) {
    const byContainer = Map.groupBy(podCells, ({ position }) => position.container);
    const containers = [...byContainer].filter(([name]) => name !== '' && name !== 'POD');
    pods.set(key, {
      key,
      position: mergePositions(podCells),
      cells: groupByMetric(podCells.filter(({ position }) => position.container === '')),
      containers: containers
        .map(([name, containerCells]) => ({ name, cells: groupByMetric(containerCells) }))
        .toSorted((left, right) => (left.name < right.name ? -1 : 1)),
      lastMs: podCells.reduce((last, { atMs }) => Math.max(last, atMs), 0),
    });
  }
  return pods;
};

/** Merges the position fields of all senders. */
const mergePositions = (cells: readonly PositionedCell[]): ObjectPosition => {
  const findFirst = (field: keyof ObjectPosition): string =>
    cells.find(({ position }) => position[field] !== '')?.position[field] ?? '';
  return {
    cluster: findFirst('cluster'),
    namespace: findFirst('namespace'),
    pod: findFirst('pod'),
    podUid: findFirst('podUid'),
    container: '',
    node: findFirst('node'),
  };
};

/**
 * Returns cells by metric, for each metric those of the most recent resource. Attributes of a resource change, and a
 * restart creates a new resource.
 */
export const groupByMetric = <C extends Cell>(cells: readonly C[]): ReadonlyMap<string, readonly C[]> =>
  new Map(
    [...Map.groupBy(cells, ({ metric }) => metric)].map(([metric, metricCells]) => {
      const newest = metricCells.reduce((left, right) => (right.atMs > left.atMs ? right : left));
      return [metric, metricCells.filter(({ resourceId }) => resourceId === newest.resourceId)];
    }),
  );

/** Returns the label of the cell with value 1, for a metric with one cell per possible value. */
export const findActiveLabel = (
  cells: CellsByMetric,
  sources: readonly Source[],
  labels: readonly string[],
): string | undefined => {
  for (const source of sources)
    for (const { cell, value } of getSourceValues(cells, source)) {
      if (!(value > 0)) continue;
      for (const label of labels) if (cell.labels[label] !== undefined) return cell.labels[label];
    }
  return undefined;
};

/** Returns the first attribute of a name among the resources of cells, the most recent first. */
export const findAttribute = (cells: CellsByMetric, ...names: readonly string[]): unknown => {
  let [attributeValue, foundMs]: [unknown, number] = [undefined, Number.NEGATIVE_INFINITY];
  for (const metricCells of cells.values())
    for (const { resource, atMs } of metricCells) {
      if (atMs <= foundMs) continue;
      const name = names.find((value) => resource[value] !== undefined && resource[value] !== '');
      if (name !== undefined) [attributeValue, foundMs] = [resource[name], atMs];
    }
  return attributeValue;
};
