/** State of one organization: tracked alerts and their groups. */
import type { AlertSeverity } from '../../schemas/alerts.ts';
import type { NotifiedAlert } from '../../schemas/notifications.ts';
import type { StateDefinition, StateSize } from '../engine/definition.ts';
import { estimateBytes } from '../engine/state.ts';
import { Rules } from './rules.ts';

/** An alert that fires, or whose resolution is not notified yet. */
export type TrackedAlert = Omit<NotifiedAlert, 'alertId'> & {
  /** Whether its rule existed. Once the rule is deleted or not evaluated, nothing resolves the alert. */
  readonly isOfRule?: true;
  /** Project of the rule; absent if the rule belongs to the whole organization. */
  readonly projectId?: string;
  /** Severity of the crossed threshold; absent if an earlier version stored the alert. */
  readonly severity?: AlertSeverity;
};

/** State in which a group was last notified of an alert; `firing` if an earlier version sent the notification. */
export type NotifiedAs = 'nothing' | 'firing' | AlertSeverity;

export interface Group {
  readonly id: string;
  /** In Alertmanager's format. */
  readonly key: string;
  readonly receiver: string;
  readonly routeId: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly isTest: boolean;
  /** Time of the last notification; undefined before the first. */
  toldMs: number | undefined;
  readonly members: Map<string, NotifiedAs>;
  /** Alerts that were notified in this group but whose changed labels now route them elsewhere, with their former labels and their end. */
  readonly departed: Map<string, TrackedAlert>;
}

type SavedGroup = Omit<Group, 'members' | 'departed'> & {
  readonly members: readonly (readonly [string, NotifiedAs])[];
  readonly departed?: readonly (readonly [string, TrackedAlert])[];
};
interface Saved {
  readonly routing: string | undefined;
  readonly alerts: readonly (readonly [string, TrackedAlert])[];
  readonly groups: readonly SavedGroup[];
}

const chunkLength = 64 * 1024;

/** Yields the JSON of a list's elements, separated by commas, in chunks. */
function* encodeElements<Element>(
  elements: Iterable<Element>,
  toSaved: (element: Element) => unknown,
): Generator<Buffer> {
  let chunk = '';
  let separator = '';
  for (const element of elements) {
    chunk += separator + JSON.stringify(toSaved(element));
    separator = ',';
    if (chunk.length < chunkLength) continue;
    yield Buffer.from(chunk);
    chunk = '';
  }
  yield Buffer.from(chunk);
}

const groupBytes = 400;
const memberBytes = 120;

/** Maximum number of alerts of one organization; further ones are dropped and counted. */
export const maxAlerts = 200_000;

export class NotificationState {
  readonly alerts = new Map<string, TrackedAlert>();
  readonly groups = new Map<string, Group>();
  /** Compiled from documents; not saved. */
  readonly rules = new Rules();
  /** Number of groups of each alert. */
  readonly #groupCounts = new Map<string, number>();
  readonly #weights = new Map<string, number>();
  #bytes = 0;

  /** Sets the current alert. */
  setAlert(id: string, alert: TrackedAlert): void {
    const weight = estimateBytes(alert) + 2 * id.length;
    this.#bytes += weight - (this.#weights.get(id) ?? 0);
    this.#weights.set(id, weight);
    this.alerts.set(id, alert);
  }

  addGroup(group: Group): Group {
    this.groups.set(group.id, group);
    this.#bytes += groupBytes + 4 * group.id.length;
    return group;
  }

  addMember(group: Group, alertId: string, notifiedAs: NotifiedAs = 'nothing'): void {
    if (!group.members.has(alertId)) {
      this.#groupCounts.set(alertId, (this.#groupCounts.get(alertId) ?? 0) + 1);
      this.#bytes += memberBytes;
    }
    group.members.set(alertId, notifiedAs);
  }

  /**
   * Moves an alert out of a group after its labels changed; a group that was notified still has to be notified of its
   * resolution.
   */
  moveOut(group: Group, alertId: string, alert: TrackedAlert): void {
    const notifiedAs = group.members.get(alertId);
    if (notifiedAs === undefined) return;
    if (notifiedAs !== 'nothing')
      this.#addDeparted(group, alertId, notifiedAs === 'firing' ? alert : { ...alert, severity: notifiedAs });
    this.removeMember(group, alertId);
  }

  #addDeparted(group: Group, alertId: string, departed: TrackedAlert): void {
    group.departed.set(alertId, departed);
    this.#bytes += estimateBytes(departed) + 2 * alertId.length;
  }

  /** Removes a departed alert, because its resolution was notified or it is back. Returns the notified state. */
  removeDeparted(group: Group, alertId: string): NotifiedAs | undefined {
    const alert = group.departed.get(alertId);
    if (alert === undefined) return undefined;
    group.departed.delete(alertId);
    this.#bytes -= estimateBytes(alert) + 2 * alertId.length;
    return alert.severity ?? 'firing';
  }

  /** Removes an alert from a group, and forgets it if it has no other group. */
  removeMember(group: Group, alertId: string): void {
    if (!group.members.delete(alertId)) return;
    this.#bytes -= memberBytes;
    const remainingGroups = (this.#groupCounts.get(alertId) ?? 1) - 1;
    if (remainingGroups > 0) {
      this.#groupCounts.set(alertId, remainingGroups);
      return;
    }
    this.#groupCounts.delete(alertId);
    this.removeAlert(alertId);
  }

  /** Forgets an alert that has no group. */
  removeAlert(alertId: string): void {
    if (this.#groupCounts.has(alertId)) return;
    this.#bytes -= this.#weights.get(alertId) ?? 0;
    this.#weights.delete(alertId);
    const alert = this.alerts.get(alertId);
    this.alerts.delete(alertId);
    if (alert !== undefined) this.rules.removeFiring(alertId, alert);
  }

  removeGroup(group: Group): void {
    if (this.groups.delete(group.id)) this.#bytes -= groupBytes + 4 * group.id.length;
  }

  get size(): StateSize {
    return { entries: this.alerts.size + this.groups.size, bytes: this.#bytes, evicted: 0 };
  }

  /** Serializes `Saved` as JSON, in chunks: during an alert storm one string would take tens of megabytes. */
  save(): Uint8Array {
    const toSavedGroup = ({ members, departed, ...group }: Group): SavedGroup => ({
      ...group,
      members: [...members],
      ...(departed.size > 0 && { departed: [...departed] }),
    });
    const routing = JSON.stringify(this.rules.version);
    return Buffer.concat([
      Buffer.from(`{${routing === undefined ? '' : `"routing":${routing},`}"alerts":[`),
      ...encodeElements(this.alerts, (alert) => alert),
      Buffer.from('],"groups":['),
      ...encodeElements(this.groups.values(), toSavedGroup),
      Buffer.from(']}'),
    ]);
  }

  static restore(bytes: Uint8Array | undefined): NotificationState {
    const state = new NotificationState();
    if (bytes === undefined) return state;
    const { routing, alerts, groups } = JSON.parse(Buffer.from(bytes).toString('utf8')) as Saved;
    state.rules.version = routing;
    for (const [id, alert] of alerts) state.setAlert(id, alert);
    for (const { members, departed = [], toldMs: notifiedAtMs, ...saved } of groups) {
      const group = state.addGroup({ ...saved, toldMs: notifiedAtMs, members: new Map(), departed: new Map() });
      for (const [id, alert] of departed) state.#addDeparted(group, id, alert);
      for (const [id, notifiedAs] of members) state.addMember(group, id, notifiedAs);
    }
    return state;
  }
}

export const notificationState: StateDefinition<NotificationState> = {
  version: 1,
  open: (saved) => NotificationState.restore(saved),
  save: (state) => state.save(),
  size: ({ size }) => size,
};
