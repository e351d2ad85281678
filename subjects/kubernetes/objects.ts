/**
 * Pods, containers, nodes and workloads of series, from the attributes of collectors and the labels of
 * kube-state-metrics and cAdvisor
 */

import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import type { CellQuery } from '../infrastructure/cell-points.ts';
import { type Cell, readCells } from '../infrastructure/cells.ts';
import type { CellsByMetric, Source } from '../infrastructure/figures.ts';
import { sourceValues } from '../infrastructure/figures.ts';
import { recentRange } from '../infrastructure/hosts.ts';
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
  readonly place: ObjectPosition;
}

const textOf = (...values: readonly unknown[]): string => {
  const found = values.find((value) => value !== undefined && value !== null && value !== '');
  return found === undefined ? '' : String(found);
};

/**
 * Returns which position labels of a metric describe the reported object. The names of kube-state-metrics contain the
 * kind of the object; other position labels are those of the scraped program itself. If a scraper sets labels of the
 * same names, the metric's own labels have the prefix `exported_`.
 */
const describedFields = (metric: string) => {
  const isOfState = metric.startsWith('kube_');
  return {
    namespace: !metric.startsWith('kube_node_'),
    pod: !isOfState || metric.startsWith('kube_pod_'),
    container: !isOfState || /^kube_pod_(init_)?container_/.test(metric),
  };
};

const findPosition = ({ metric, resource, labels }: Cell): ObjectPosition => {
  const has = describedFields(metric);
  return {
    cluster: textOf(resource['k8s.cluster.name'], resource['k8s.cluster.uid'], labels['cluster']),
    namespace: has.namespace
      ? textOf(labels['exported_namespace'], labels['namespace'], resource['k8s.namespace.name'])
      : '',
    pod: has.pod ? textOf(labels['exported_pod'], labels['pod'], labels['pod_name'], resource['k8s.pod.name']) : '',
    podUid: has.pod ? textOf(labels['uid'], resource['k8s.pod.uid']) : '',
    container: has.container
      ? textOf(
          labels['exported_container'],
          labels['container'],
          labels['container_name'],
          resource['k8s.container.name'],
        )
      : '',
    node: textOf(
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
  reading: Reading,
  range: Range,
  scope: ProjectScope,
  metrics: readonly string[],
): Promise<{ readonly cells: readonly PositionedCell[]; readonly isCut: boolean }> => {
  const { cells, isCut } = await readCells(reading, {
    metrics,
    counters: kubernetesCounters,
    labels: kubernetesLabels,
    range: recentRange(range),
    ...scope,
  });
  const placed = cells.map((cell) => ({ ...cell, place: findPosition(cell) }));
  const key = ({ metric, place }: PositionedCell): string => `${metric}\n${place.cluster}`;
  const newest = new Map<string, number>();
  for (const cell of placed) newest.set(key(cell), Math.max(newest.get(key(cell)) ?? 0, cell.atMs));
  return { isCut, cells: placed.filter((cell) => cell.atMs >= (newest.get(key(cell)) ?? 0) - staleAfterMs) };
};

/** Returns the cells of a full range instead of its end, for some or all series. */
export const readCellsOfRange = async (
  reading: Reading,
  range: Range,
  scope: ProjectScope,
  metrics: readonly string[],
  series?: CellQuery['series'],
): Promise<readonly PositionedCell[]> => {
  const { cells } = await readCells(reading, {
    ...(series === undefined ? {} : { series }),
    metrics,
    counters: oomCounters,
    labels: kubernetesLabels,
    range,
    ...scope,
  });
  return cells.map((cell) => ({ ...cell, place: findPosition(cell) }));
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
  readonly place: ObjectPosition;
  readonly cells: CellsByMetric;
  readonly containers: readonly ContainerParts[];
  readonly lastMs: number;
}

const nameKey = ({ cluster, namespace, pod }: ObjectPosition): string => `${cluster}/${namespace}/${pod}`;

/** Returns the newest UID of each name. cAdvisor names pods without UIDs, and names are reused. */
const findNewestUids = (cells: readonly PositionedCell[]): ReadonlyMap<string, { uid: string; atMs: number }> => {
  const uids = new Map<string, { uid: string; atMs: number }>();
  for (const { place, atMs } of cells) {
    if (place.podUid === '') continue;
    const found = uids.get(nameKey(place));
    if (found === undefined || found.atMs < atMs) uids.set(nameKey(place), { uid: place.podUid, atMs });
  }
  return uids;
};

/** Returns a key for the pod of a cell: its UID, otherwise the newest UID of its name, otherwise its name. */
export const podKeys = (cells: readonly PositionedCell[]): ((place: ObjectPosition) => string) => {
  const uids = findNewestUids(cells);
  return (place) => {
    if (place.podUid !== '') return place.podUid;
    return uids.get(nameKey(place))?.uid ?? nameKey(place);
  };
};

/** Returns pods by key. */
export const groupByPod = (cells: readonly PositionedCell[]): Map<string, PodParts> => {
  const keyOf = podKeys(cells);
  const ofPods = cells.filter(({ place }) => place.pod !== '' || place.podUid !== '');
  const pods = new Map<string, PodParts>();
  for (const [key, own] of Map.groupBy(ofPods, ({ place }) => keyOf(place))) {
    const byContainer = Map.groupBy(own, ({ place }) => place.container);
    const containers = [...byContainer].filter(([name]) => name !== '' && name !== 'POD');
    pods.set(key, {
      key,
      place: mergePositions(own),
      cells: byMetric(own.filter(({ place }) => place.container === '')),
      containers: containers
        .map(([name, inContainer]) => ({ name, cells: byMetric(inContainer) }))
        .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
      lastMs: own.reduce((last, { atMs }) => Math.max(last, atMs), 0),
    });
  }
  return pods;
};

/** Merges the position fields of all senders. */
const mergePositions = (cells: readonly PositionedCell[]): ObjectPosition => {
  const first = (field: keyof ObjectPosition): string =>
    cells.find(({ place }) => place[field] !== '')?.place[field] ?? '';
  return {
    cluster: first('cluster'),
    namespace: first('namespace'),
    pod: first('pod'),
    podUid: first('podUid'),
    container: '',
    node: first('node'),
  };
};

/**
 * Returns cells by metric, for each metric those of the most recent resource. Attributes of a resource change, and a
 * restart creates a new resource.
 */
export const byMetric = <C extends Cell>(cells: readonly C[]): ReadonlyMap<string, readonly C[]> =>
  new Map(
    [...Map.groupBy(cells, ({ metric }) => metric)].map(([metric, own]) => {
      const newest = own.reduce((one, other) => (other.atMs > one.atMs ? other : one));
      return [metric, own.filter(({ resourceId }) => resourceId === newest.resourceId)];
    }),
  );

/** Returns the label of the cell with value 1, for a metric with one cell per possible value. */
export const activeLabel = (
  cells: CellsByMetric,
  sources: readonly Source[],
  labels: readonly string[],
): string | undefined => {
  for (const source of sources)
    for (const { cell, value } of sourceValues(cells, source)) {
      if (!(value > 0)) continue;
      for (const label of labels) if (cell.labels[label] !== undefined) return cell.labels[label];
    }
  return undefined;
};

/** Returns the first attribute of a name among the resources of cells, the most recent first. */
export const findAttribute = (cells: CellsByMetric, ...names: readonly string[]): unknown => {
  let [found, foundMs]: [unknown, number] = [undefined, Number.NEGATIVE_INFINITY];
  for (const own of cells.values())
    for (const { resource, atMs } of own) {
      if (atMs <= foundMs) continue;
      const name = names.find((each) => resource[each] !== undefined && resource[each] !== '');
      if (name !== undefined) [found, foundMs] = [resource[name], atMs];
    }
  return found;
};
