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

/** State in which a target was last notified of an alert; `firing` if an earlier version sent the notification. */
export type NotifiedAs = 'nothing' | 'firing' | AlertSeverity;

/**
 * What each target of a group was last notified of an alert, by target (`selectTargets`). A target without an entry was
 * never notified of it.
 */
export type NotifiedByTarget = Readonly<Record<string, NotifiedAs>>;

/** Stands for all targets of the receiver in states of earlier versions, which did not distinguish targets. */
export const allTargets = '*';

/**
 * An alert that left a group: its former labels, its end, and the last state that the group's targets were notified
 * of.
 */
export interface DepartedAlert {
  readonly alert: TrackedAlert;
  readonly notified: NotifiedByTarget;
}

export interface Group {
  readonly id: string;
  /** In Alertmanager's format. */
  readonly key: string;
  readonly receiver: string;
  /** Route that last added an alert. Its place in the document may change; the group's key does not. */
  routeId: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly isTest: boolean;
  /** When the group is flushed next; undefined until a group of an earlier version has a timer. */
  dueMs: number | undefined;
  /** Time of the last notification of each target. */
  notifiedAtMs: Record<string, number>;
  readonly members: Map<string, NotifiedByTarget>;
  /** Members that still fire, but which a changed document routes elsewhere. Only their end is notified here. */
  readonly rerouted: Set<string>;
  /** Alerts that were notified in this group but whose changed labels now route them elsewhere. */
  readonly departed: Map<string, DepartedAlert>;
}

type SavedGroup = Omit<Group, 'members' | 'rerouted' | 'departed'> & {
  readonly members: readonly (readonly [string, NotifiedByTarget])[];
  readonly rerouted?: readonly string[];
  readonly departed?: readonly (readonly [string, DepartedAlert])[];
};
/** Earlier versions noted one state of an alert for all targets, and identified groups by the place of their route. */
type EarlierGroup = Omit<SavedGroup, 'dueMs' | 'notifiedAtMs' | 'members' | 'departed'> & {
  readonly toldMs?: number;
  readonly members: readonly (readonly [string, NotifiedAs])[];
  readonly departed?: readonly (readonly [string, TrackedAlert])[];
};
interface Saved {
  readonly routing: string | undefined;
  readonly alerts: readonly (readonly [string, TrackedAlert])[];
  readonly groups: readonly (SavedGroup | EarlierGroup)[];
}

/** Returns the id of a group. It is the same wherever the document has the group's route. */
export const createGroupId = ({ isTest, receiver, key }: Pick<Group, 'isTest' | 'receiver' | 'key'>): string =>
  `${isTest ? 'test/' : ''}${receiver}/${key}`;

const toNotifiedByTarget = (notifiedAs: NotifiedAs): NotifiedByTarget =>
  notifiedAs === 'nothing' ? {} : { [allTargets]: notifiedAs };

const upgradeGroup = ({ toldMs: notifiedMs, members, departed, ...saved }: EarlierGroup): SavedGroup => ({
  ...saved,
  id: createGroupId(saved),
  dueMs: undefined,
  notifiedAtMs: notifiedMs === undefined ? {} : { [allTargets]: notifiedMs },
  members: members.map(([id, notifiedAs]) => [id, toNotifiedByTarget(notifiedAs)]),
  ...(departed !== undefined && {
    departed: departed.map(([id, alert]) => [id, { alert, notified: toNotifiedByTarget(alert.severity ?? 'firing') }]),
  }),
});

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
  #earlierGroups: Group[] = [];
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

  addMember(group: Group, alertId: string, notified: NotifiedByTarget = {}): void {
    if (!group.members.has(alertId)) {
      this.#groupCounts.set(alertId, (this.#groupCounts.get(alertId) ?? 0) + 1);
      this.#bytes += memberBytes;
    }
    group.members.set(alertId, notified);
    group.rerouted.delete(alertId);
  }

  /**
   * Moves an alert out of a group after its labels changed; a group that was notified still has to be notified of its
   * resolution.
   */
  moveOut(group: Group, alertId: string, alert: TrackedAlert): void {
    const notified = group.members.get(alertId);
    if (notified === undefined) return;
    if (Object.keys(notified).length > 0) this.#addDeparted(group, alertId, { alert, notified });
    this.removeMember(group, alertId);
  }

  #addDeparted(group: Group, alertId: string, departed: DepartedAlert): void {
    group.departed.set(alertId, departed);
    this.#bytes += estimateBytes(departed.alert) + 2 * alertId.length;
  }

  /** Removes a departed alert, because its resolution was notified or it is back. Returns what its targets know. */
  removeDeparted(group: Group, alertId: string): NotifiedByTarget | undefined {
    const departed = group.departed.get(alertId);
    if (departed === undefined) return undefined;
    group.departed.delete(alertId);
    this.#bytes -= estimateBytes(departed.alert) + 2 * alertId.length;
    return departed.notified;
  }

  /** Removes an alert from a group, and from the state if no other group contains it. */
  removeMember(group: Group, alertId: string): void {
    if (!group.members.delete(alertId)) return;
    group.rerouted.delete(alertId);
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

  /** Returns the groups of an earlier version that have no timer yet. */
  takeEarlierGroups(): readonly Group[] {
    const groups = this.#earlierGroups;
    this.#earlierGroups = [];
    return groups;
  }

  /** Replaces `allTargets` of a group by its targets. */
  assignTargets(group: Group, targets: readonly string[]): void {
    const toTargets = <Value>({ [allTargets]: value, ...others }: Readonly<Record<string, Value>>) =>
      value === undefined
        ? others
        : Object.fromEntries(targets.map((target): [string, Value] => [target, others[target] ?? value]));
    group.notifiedAtMs = toTargets(group.notifiedAtMs);
    for (const [id, notified] of group.members) group.members.set(id, toTargets(notified));
    for (const [id, departed] of group.departed)
      group.departed.set(id, { ...departed, notified: toTargets(departed.notified) });
  }

  removeGroup(group: Group): void {
    if (this.groups.delete(group.id)) this.#bytes -= groupBytes + 4 * group.id.length;
  }

  get size(): StateSize {
    return { entries: this.alerts.size + this.groups.size, bytes: this.#bytes, evicted: 0 };
  }

  /** Serializes `Saved` as JSON, in chunks: during an alert storm one string would take tens of megabytes. */
  save(): Uint8Array {
    const toSavedGroup = ({ members, rerouted, departed, ...group }: Group): SavedGroup => ({
      ...group,
      members: [...members],
      ...(rerouted.size > 0 && { rerouted: [...rerouted] }),
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
    for (const savedGroup of groups) {
      const isCurrent = 'notifiedAtMs' in savedGroup;
      const { members, rerouted, departed = [], ...saved } = isCurrent ? savedGroup : upgradeGroup(savedGroup);
      const group =
        state.groups.get(saved.id) ??
        state.addGroup({
          ...saved,
          dueMs: saved.dueMs,
          members: new Map(),
          rerouted: new Set(),
          departed: new Map(),
        });
      for (const [id, departedAlert] of departed) state.#addDeparted(group, id, departedAlert);
      for (const [id, notified] of members) state.addMember(group, id, notified);
      for (const id of rerouted ?? []) group.rerouted.add(id);
      if (group.dueMs === undefined) state.#earlierGroups.push(group);
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
