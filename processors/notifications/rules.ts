/** Compiled routing document, silences and maintenance windows of an organization, and its inhibiting alerts. */

import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import { type AlertRouting, defaultRouting } from '../../schemas/resources/alert-routing.ts';
import type { MaintenanceWindow } from '../../schemas/resources/maintenance-window.ts';
import { getSilenceState, type Silence } from '../../schemas/resources/silence.ts';
import { Inhibition } from '../../subjects/alerts/routing/inhibition.ts';
import { type CompiledMatchers, compileMatchers, type Labels } from '../../subjects/alerts/routing/matchers.ts';
import { findTimeMuteReason } from '../../subjects/alerts/routing/times.ts';
import { type CompiledRoute, compileRoutes, getRouteKey } from '../../subjects/alerts/routing/tree.ts';
import { OccurrenceCache } from '../../subjects/maintenance-windows/windows.ts';

/** Sources of muting by label: silences, and active maintenance windows. */
interface MutingSources {
  readonly silences: ReadonlyMap<string, Silence & StoredMetadata>;
  readonly windows: ReadonlyMap<string, MaintenanceWindow & StoredMetadata>;
}

/** The part of an alert that muting depends on. */
interface MutableAlert {
  readonly labels: Labels;
  readonly projectId?: string | undefined;
}

interface AlertLabels {
  readonly labels: Labels;
  readonly status: 'firing' | 'resolved';
  readonly isTest?: boolean | undefined;
}

const flattenRoutes = (route: CompiledRoute): CompiledRoute[] => [route, ...route.routes.flatMap(flattenRoutes)];

export class Rules {
  routing: AlertRouting = defaultRouting;
  root: CompiledRoute = compileRoutes(defaultRouting);
  /** Routes by receiver and key. */
  #routes: ReadonlyMap<string, readonly CompiledRoute[]> = new Map();
  #inhibition = new Inhibition([]);
  /** Version of the document that alerts were grouped by; saved, so that a restart is not a change. */
  version: string | undefined;
  /** Version of the compiled document. */
  #compiledVersion: string | undefined;
  /** Matchers of silences and windows, by id. */
  readonly #compiledMatchers = new Map<string, { readonly version: number; readonly matching: CompiledMatchers }>();
  readonly #occurrences = new OccurrenceCache();

  /** Compiles the document if it changed, and returns whether alerts were grouped by another version. */
  update(
    document: (AlertRouting & StoredMetadata) | undefined,
    alerts: Iterable<readonly [string, AlertLabels]>,
  ): boolean {
    const version = document === undefined ? '' : `${document.createdAt} ${document.version}`;
    if (version === this.#compiledVersion) return false;
    this.#compiledVersion = version;
    const hasChanged = version !== this.version;
    this.version = version;
    this.routing = document ?? defaultRouting;
    this.root = compileRoutes(this.routing);
    this.#routes = Map.groupBy(flattenRoutes(this.root), ({ receiver, key }) => `${receiver}/${key}`);
    this.#inhibition = new Inhibition(this.routing.inhibitRules);
    for (const [id, alert] of alerts) this.addFiring(id, alert);
    return hasChanged;
  }

  /** Registers a firing alert. A test mutes nothing. */
  addFiring(id: string, { labels, status, isTest }: AlertLabels): void {
    if (status === 'firing' && isTest !== true) this.#inhibition.add(id, labels);
  }

  removeFiring(id: string, { labels }: Pick<AlertLabels, 'labels'>): void {
    this.#inhibition.remove(id, labels);
  }

  /** Returns the route of a group, wherever the document has it now; undefined if the document no longer has it. */
  findRoute(group: {
    readonly receiver: string;
    readonly key: string;
    readonly labels: Labels;
    readonly routeId: string;
  }): CompiledRoute | undefined {
    const routes = this.#routes.get(`${group.receiver}/${getRouteKey(group.key, group.labels)}`) ?? [];
    return routes.find(({ id }) => id === group.routeId) ?? routes[0];
  }

  /** Returns why a group of the route is muted at this time; undefined if it is not. */
  mutedByTime(route: CompiledRoute, atMs: number): string | undefined {
    return findTimeMuteReason(this.routing, route, atMs);
  }

  /** Returns a predicate: whether another alert, a silence or a maintenance window mutes an alert. */
  createMutePredicate({ silences, windows }: MutingSources, atMs: number): (alert: MutableAlert) => boolean {
    const activeSilences = [...silences.values()]
      .filter((silence) => getSilenceState(silence, atMs) === 'active')
      .map((silence) => this.#getMatchers(silence));
    const activeWindows = [...windows.values()].filter((window) => this.#occurrences.isActive(window, atMs));
    const maintenanceMatchers = activeWindows.map((window) => ({
      matching: this.#getMatchers(window),
      projectIds: window.projectIds,
    }));
    for (const id of this.#compiledMatchers.keys())
      if (!silences.has(id) && !windows.has(id)) this.#compiledMatchers.delete(id);
    this.#occurrences.retainOnly(windows);
    return ({ labels, projectId }) =>
      activeSilences.some((matching) => matching.matches(labels)) ||
      maintenanceMatchers.some(
        ({ matching, projectIds }) =>
          (projectIds.length === 0 || (projectId !== undefined && projectIds.includes(projectId))) &&
          matching.matches(labels),
      ) ||
      this.#inhibition.findMutingAlert(labels) !== undefined;
  }

  #getMatchers({
    id,
    version,
    matchers,
  }: Pick<Silence & StoredMetadata, 'id' | 'version' | 'matchers'>): CompiledMatchers {
    const cached = this.#compiledMatchers.get(id);
    if (cached?.version === version) return cached.matching;
    const compiledMatchers = compileMatchers(matchers);
    this.#compiledMatchers.set(id, { version, matching: compiledMatchers });
    return compiledMatchers;
  }
}
