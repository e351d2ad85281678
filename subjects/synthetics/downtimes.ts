/** Planned downtimes of checks: maintenance windows that mute their alerts, as periods of each check */
import { escapeRegex } from '../../queries/variables/formats.ts';
import type { StoredMetadata, TenantDocuments } from '../../schemas/ports/documents.ts';
import type { Matcher } from '../../schemas/resources/alert-routing.ts';
import { type MaintenanceWindow, maintenanceWindows } from '../../schemas/resources/maintenance-window.ts';
import { compileMatchers } from '../alerts/routing/matchers.ts';
import { findOccurrencesInRange } from '../maintenance-windows/windows.ts';
import type { IdentifiedCheck } from './read-checks.ts';
import type { TimePeriod } from './uptime.ts';

export type Window = MaintenanceWindow & StoredMetadata;

/** Alert label with the id of the check */
const idLabel = 'check_id';

/** Alert label names contain letters, digits, `_` and `.`. */
const toLabelName = (name: string): string => name.replaceAll(/[^\w.]/g, '_');

/** Returns labels of all alerts of a check. */
export const createAlertLabels = ({
  id,
  name,
  labels,
}: Pick<IdentifiedCheck, 'id' | 'name' | 'labels'>): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(labels)
      .filter(([value]) => value !== 'alertname')
      .map(([each, value]) => [toLabelName(each), value]),
  ),
  check: name,
  [idLabel]: id,
});

/** Scope of a downtime: checks by id, checks with all labels, or checks that match both */
export interface DowntimeScope {
  readonly checkIds: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

const separator = '|';

/** Returns the matchers of a window with the given scope. */
export const createMatchers = ({ checkIds, labels }: DowntimeScope): Matcher[] => [
  checkIds.length === 0
    ? { name: idLabel, operator: '=~', value: '.+' }
    : { name: idLabel, operator: '=~', value: checkIds.map(escapeRegex).join(separator) },
  ...Object.entries(labels).map(([name, value]): Matcher => ({ name: toLabelName(name), operator: '=', value })),
];

/** Returns the scope of a window; its checks are empty if its matchers use another form. */
export const parseScope = ({ matchers }: Pick<MaintenanceWindow, 'matchers'>): DowntimeScope => ({
  checkIds: matchers
    .filter(({ name, operator, value }) => name === idLabel && operator.startsWith('=') && value !== '.+')
    .flatMap(({ value }) => value.split(separator).map((value) => value.replaceAll('\\', ''))),
  labels: Object.fromEntries(
    matchers.flatMap(({ name, operator, value }) => (name !== idLabel && operator === '=' ? [[name, value]] : [])),
  ),
});

/** Returns whether a window references checks by id. */
export const referencesChecks = ({ matchers }: Pick<MaintenanceWindow, 'matchers'>): boolean =>
  matchers.some(({ name }) => name === idLabel);

type ScopedCheck = Pick<IdentifiedCheck, 'id' | 'name' | 'labels' | 'projectId'>;

/**
 * Returns a function that checks whether a window is a downtime of a check: it matches labels of the check, or its
 * entire project.
 * A window that only mutes some alerts, such as those of a severity, is not a downtime.
 */
export const createDowntimeTest = ({
  matchers,
  projectIds,
}: Pick<MaintenanceWindow, 'matchers' | 'projectIds'>): ((check: ScopedCheck) => boolean) => {
  const compiledMatchers = compileMatchers(matchers);
  return (check) => {
    if (projectIds.length > 0 && !projectIds.includes(check.projectId ?? '')) return false;
    const labels = createAlertLabels(check);
    return matchers.every(({ name }) => Object.hasOwn(labels, name)) && compiledMatchers.matches(labels);
  };
};

/** Returns planned downtimes of a check that overlap a range. */
export const findDowntimes = (
  check: ScopedCheck,
  windows: readonly MaintenanceWindow[],
  range: TimePeriod,
): readonly TimePeriod[] =>
  windows
    .filter((window) => createDowntimeTest(window)(check))
    .flatMap((window) => findOccurrencesInRange(window, range));

/** Returns the active downtime of a check at a time; of several, the one that ends last. */
export const findActiveDowntime = (
  windows: readonly MaintenanceWindow[],
  atMs: number,
): ((check: ScopedCheck) => TimePeriod | undefined) => {
  const activeDowntimes = windows
    .flatMap((window) =>
      findOccurrencesInRange(window, { fromMs: atMs, toMs: atMs + 1 }).map((period) => ({ window, span: period })),
    )
    .toSorted((left, right) => right.span.toMs - left.span.toMs)
    .map(({ window, span: period }) => ({ isAbout: createDowntimeTest(window), span: period }));
  return (check) => activeDowntimes.find(({ isAbout: appliesTo }) => appliesTo(check))?.span;
};

/** Returns the maintenance windows of an organization. */
export const readWindows = async (documents: Pick<TenantDocuments, 'collection'>): Promise<readonly Window[]> =>
  (await documents.collection(maintenanceWindows).list({ sort: { name: 1 }, limit: 1000 })).items;
