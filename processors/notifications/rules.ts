/** Compiled routing document, silences and maintenance windows of an organization, and its inhibiting alerts. */

import type { Stored } from '../../schemas/ports/documents.ts';
import { type AlertRouting, defaultRouting } from '../../schemas/resources/alert-routing.ts';
import type { MaintenanceWindow } from '../../schemas/resources/maintenance-window.ts';
import { type Silence, silenceStateAt } from '../../schemas/resources/silence.ts';
import { Inhibition } from '../../subjects/alerts/routing/inhibition.ts';
import { compileMatchers, type Labels, type Matching } from '../../subjects/alerts/routing/matching.ts';
import { mutedByTime } from '../../subjects/alerts/routing/times.ts';
import { type CompiledRoute, compileRoutes } from '../../subjects/alerts/routing/tree.ts';
import { WindowTimes } from '../../subjects/maintenance-windows/windows.ts';

/** Sources of muting by label: silences, and active maintenance windows. */
interface Muting {
  readonly silences: ReadonlyMap<string, Silence & Stored>;
  readonly windows: ReadonlyMap<string, MaintenanceWindow & Stored>;
}

/** The part of an alert that muting depends on. */
interface Mutable {
  readonly labels: Labels;
  readonly projectId?: string | undefined;
}

interface Firing {
  readonly labels: Labels;
  readonly status: 'firing' | 'resolved';
  readonly isTest?: boolean | undefined;
}

const withBelow = (route: CompiledRoute): CompiledRoute[] => [route, ...route.routes.flatMap(withBelow)];

export class Rules {
  routing: AlertRouting = defaultRouting;
  root: CompiledRoute = compileRoutes(defaultRouting);
  #routes = new Map<string, CompiledRoute>();
  #inhibition = new Inhibition([]);
  /** Version of the document that alerts were grouped by; saved, so that a restart is not a change. */
  version: string | undefined;
  /** Version of the compiled document. */
  #compiledVersion: string | undefined;
  /** Matchers of silences and windows, by id. */
  readonly #compiled = new Map<string, { readonly version: number; readonly matching: Matching }>();
  readonly #times = new WindowTimes();

  /** Compiles the document if it changed, and returns whether alerts were grouped by another version. */
  update(document: (AlertRouting & Stored) | undefined, alerts: Iterable<readonly [string, Firing]>): boolean {
    const version = document === undefined ? '' : `${document.createdAt} ${document.version}`;
    if (version === this.#compiledVersion) return false;
    this.#compiledVersion = version;
    const isOther = version !== this.version;
    this.version = version;
    this.routing = document ?? defaultRouting;
    this.root = compileRoutes(this.routing);
    this.#routes = new Map(withBelow(this.root).map((route) => [route.id, route]));
    this.#inhibition = new Inhibition(this.routing.inhibitRules);
    for (const [id, alert] of alerts) this.began(id, alert);
    return isOther;
  }

  /** Registers a firing alert. A test mutes nothing. */
  began(id: string, { labels, status, isTest }: Firing): void {
    if (status === 'firing' && isTest !== true) this.#inhibition.add(id, labels);
  }

  ended(id: string, { labels }: Pick<Firing, 'labels'>): void {
    this.#inhibition.remove(id, labels);
  }

  route(id: string): CompiledRoute | undefined {
    return this.#routes.get(id);
  }

  /** Returns why a group of the route is muted at this time; undefined if it is not. */
  mutedByTime(route: CompiledRoute, atMs: number): string | undefined {
    return mutedByTime(this.routing, route, atMs);
  }

  /** Returns a predicate: whether another alert, a silence or a maintenance window mutes an alert. */
  mutes({ silences, windows }: Muting, atMs: number): (alert: Mutable) => boolean {
    const active = [...silences.values()]
      .filter((silence) => silenceStateAt(silence, atMs) === 'active')
      .map((silence) => this.#matching(silence));
    const held = [...windows.values()].filter((window) => this.#times.holds(window, atMs));
    const maintained = held.map((window) => ({ matching: this.#matching(window), projectIds: window.projectIds }));
    for (const id of this.#compiled.keys()) if (!silences.has(id) && !windows.has(id)) this.#compiled.delete(id);
    this.#times.retainOnly(windows);
    return ({ labels, projectId }) =>
      active.some((matching) => matching.matches(labels)) ||
      maintained.some(
        ({ matching, projectIds }) =>
          (projectIds.length === 0 || (projectId !== undefined && projectIds.includes(projectId))) &&
          matching.matches(labels),
      ) ||
      this.#inhibition.mutes(labels) !== undefined;
  }

  #matching({ id, version, matchers }: Pick<Silence & Stored, 'id' | 'version' | 'matchers'>): Matching {
    const known = this.#compiled.get(id);
    if (known?.version === version) return known.matching;
    const matching = compileMatchers(matchers);
    this.#compiled.set(id, { version, matching });
    return matching;
  }
}
