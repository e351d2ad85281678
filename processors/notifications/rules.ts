/** The routing document and silences of an organization, compiled, and the alerts that mute others. */

import type { Stored } from '../../schemas/ports/documents.ts';
import { type AlertRouting, usualRouting } from '../../schemas/resources/alert-routing.ts';
import { type Silence, silenceStateAt } from '../../schemas/resources/silence.ts';
import { Inhibition } from '../../subjects/alerts/routing/inhibition.ts';
import { compileMatchers, type Labels, type Matching } from '../../subjects/alerts/routing/matching.ts';
import { mutedByTime } from '../../subjects/alerts/routing/times.ts';
import { type CompiledRoute, compileRoutes } from '../../subjects/alerts/routing/tree.ts';

interface Firing {
  readonly labels: Labels;
  readonly status: 'firing' | 'resolved';
  readonly isTest?: boolean | undefined;
}

const withBelow = (route: CompiledRoute): CompiledRoute[] => [route, ...route.routes.flatMap(withBelow)];

export class Rules {
  routing: AlertRouting = usualRouting;
  root: CompiledRoute = compileRoutes(usualRouting);
  #routes = new Map<string, CompiledRoute>();
  #inhibition = new Inhibition([]);
  /** Of the document that alerts were grouped by; saved, so that a restart is no change. */
  version: string | undefined;
  /** Of the document that was compiled. */
  #compiledVersion: string | undefined;
  readonly #silences = new Map<string, { readonly version: number; readonly matching: Matching }>();

  /** Compiles the document where it is not yet, and answers whether alerts were grouped by another one. */
  update(document: (AlertRouting & Stored) | undefined, alerts: Iterable<readonly [string, Firing]>): boolean {
    const version = document === undefined ? '' : `${document.createdAt} ${document.version}`;
    if (version === this.#compiledVersion) return false;
    this.#compiledVersion = version;
    const isOther = version !== this.version;
    this.version = version;
    this.routing = document ?? usualRouting;
    this.root = compileRoutes(this.routing);
    this.#routes = new Map(withBelow(this.root).map((route) => [route.id, route]));
    this.#inhibition = new Inhibition(this.routing.inhibitRules);
    for (const [id, alert] of alerts) this.began(id, alert);
    return isOther;
  }

  /** A test mutes nothing. */
  began(id: string, { labels, status, isTest }: Firing): void {
    if (status === 'firing' && isTest !== true) this.#inhibition.add(id, labels);
  }

  ended(id: string, { labels }: Pick<Firing, 'labels'>): void {
    this.#inhibition.remove(id, labels);
  }

  route(id: string): CompiledRoute | undefined {
    return this.#routes.get(id);
  }

  /** Why a group of the route is told nothing now. */
  mutedByTime(route: CompiledRoute, atMs: number): string | undefined {
    return mutedByTime(this.routing, route, atMs);
  }

  /** Tells of labels whether another alert or a silence mutes them. */
  mutes(silences: ReadonlyMap<string, Silence & Stored>, atMs: number): (labels: Labels) => boolean {
    const active = [...silences.values()]
      .filter((silence) => silenceStateAt(silence, atMs) === 'active')
      .map((silence) => this.#compiled(silence));
    for (const id of this.#silences.keys()) if (!silences.has(id)) this.#silences.delete(id);
    return (labels) =>
      active.some((matching) => matching.matches(labels)) || this.#inhibition.mutes(labels) !== undefined;
  }

  #compiled({ id, version, matchers }: Silence & Stored): Matching {
    const known = this.#silences.get(id);
    if (known?.version === version) return known.matching;
    const matching = compileMatchers(matchers);
    this.#silences.set(id, { version, matching });
    return matching;
  }
}
