/** Alerts that are told of, and the groups in which they are: what the processor keeps of one organization. */
import type { AlertSeverity } from '../../schemas/alerts.ts';
import type { NotifiedAlert } from '../../schemas/notifications.ts';
import type { StateDefinition, StateSize } from '../engine/definition.ts';
import { weightOf } from '../engine/state.ts';
import { Rules } from './rules.ts';

/** An alert that fires, or whose end somebody has still to be told. */
export type TrackedAlert = Omit<NotifiedAlert, 'alertId'> & {
  /** Its rule was there: once it is not, or is not evaluated, nobody will tell the alert's end. */
  readonly isOfRule?: true;
  /** Of the rule; absent where it is of the whole organization. */
  readonly projectId?: string;
  /** Of the threshold that is crossed; absent where it was kept by an earlier version. */
  readonly severity?: AlertSeverity;
};

/** As what a group was told of an alert; `firing` where an earlier version told it. */
export type NotifiedAs = 'nothing' | 'firing' | AlertSeverity;

export interface Group {
  readonly id: string;
  /** As Alertmanager writes it. */
  readonly key: string;
  readonly receiver: string;
  readonly routeId: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly isTest: boolean;
  /** When something was told last; undefined before the first time. */
  toldMs: number | undefined;
  readonly members: Map<string, NotifiedAs>;
  /** Alerts that were told here, and whose labels lead elsewhere now: as they were, with their end. */
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

const pieceLength = 64 * 1024;

/** JSON of a list's elements with commas between them, in pieces. */
function* listed<Element>(elements: Iterable<Element>, saved: (element: Element) => unknown): Generator<Buffer> {
  let piece = '';
  let separator = '';
  for (const element of elements) {
    piece += separator + JSON.stringify(saved(element));
    separator = ',';
    if (piece.length < pieceLength) continue;
    yield Buffer.from(piece);
    piece = '';
  }
  yield Buffer.from(piece);
}

const groupBytes = 400;
const memberBytes = 120;

/** Alerts of one organization at most: more are dropped and counted. */
export const maxAlerts = 200_000;

export class NotificationState {
  readonly alerts = new Map<string, TrackedAlert>();
  readonly groups = new Map<string, Group>();
  /** Compiled from documents; not saved. */
  readonly rules = new Rules();
  /** In how many groups an alert is. */
  readonly #uses = new Map<string, number>();
  readonly #weights = new Map<string, number>();
  #bytes = 0;

  /** Sets an alert as it is now. */
  setAlert(id: string, alert: TrackedAlert): void {
    const weight = weightOf(alert) + 2 * id.length;
    this.#bytes += weight - (this.#weights.get(id) ?? 0);
    this.#weights.set(id, weight);
    this.alerts.set(id, alert);
  }

  open(group: Group): Group {
    this.groups.set(group.id, group);
    this.#bytes += groupBytes + 4 * group.id.length;
    return group;
  }

  join(group: Group, alertId: string, notifiedAs: NotifiedAs = 'nothing'): void {
    if (!group.members.has(alertId)) {
      this.#uses.set(alertId, (this.#uses.get(alertId) ?? 0) + 1);
      this.#bytes += memberBytes;
    }
    group.members.set(alertId, notifiedAs);
  }

  /** An alert goes where its labels lead now: a group that was told of it has still to be told its end. */
  depart(group: Group, alertId: string, alert: TrackedAlert): void {
    const notifiedAs = group.members.get(alertId);
    if (notifiedAs === undefined) return;
    if (notifiedAs !== 'nothing')
      this.#remember(group, alertId, notifiedAs === 'firing' ? alert : { ...alert, severity: notifiedAs });
    this.leave(group, alertId);
  }

  #remember(group: Group, alertId: string, departed: TrackedAlert): void {
    group.departed.set(alertId, departed);
    this.#bytes += weightOf(departed) + 2 * alertId.length;
  }

  /** Its end was told, or it is back. Answers as what it was told. */
  settle(group: Group, alertId: string): NotifiedAs | undefined {
    const alert = group.departed.get(alertId);
    if (alert === undefined) return undefined;
    group.departed.delete(alertId);
    this.#bytes -= weightOf(alert) + 2 * alertId.length;
    return alert.severity ?? 'firing';
  }

  /** Takes an alert out of a group, and forgets one that is in none. */
  leave(group: Group, alertId: string): void {
    if (!group.members.delete(alertId)) return;
    this.#bytes -= memberBytes;
    const uses = (this.#uses.get(alertId) ?? 1) - 1;
    if (uses > 0) {
      this.#uses.set(alertId, uses);
      return;
    }
    this.#uses.delete(alertId);
    this.forget(alertId);
  }

  /** Forgets an alert that is in no group. */
  forget(alertId: string): void {
    if (this.#uses.has(alertId)) return;
    this.#bytes -= this.#weights.get(alertId) ?? 0;
    this.#weights.delete(alertId);
    const alert = this.alerts.get(alertId);
    this.alerts.delete(alertId);
    if (alert !== undefined) this.rules.ended(alertId, alert);
  }

  close(group: Group): void {
    if (this.groups.delete(group.id)) this.#bytes -= groupBytes + 4 * group.id.length;
  }

  get size(): StateSize {
    return { entries: this.alerts.size + this.groups.size, bytes: this.#bytes, evicted: 0 };
  }

  /** JSON of `Saved`, written piece by piece: of a storm its text alone would take tens of megabytes. */
  save(): Uint8Array {
    const groupOf = ({ members, departed, ...group }: Group): SavedGroup => ({
      ...group,
      members: [...members],
      ...(departed.size > 0 && { departed: [...departed] }),
    });
    const routing = JSON.stringify(this.rules.version);
    return Buffer.concat([
      Buffer.from(`{${routing === undefined ? '' : `"routing":${routing},`}"alerts":[`),
      ...listed(this.alerts, (alert) => alert),
      Buffer.from('],"groups":['),
      ...listed(this.groups.values(), groupOf),
      Buffer.from(']}'),
    ]);
  }

  static of(bytes: Uint8Array | undefined): NotificationState {
    const state = new NotificationState();
    if (bytes === undefined) return state;
    const { routing, alerts, groups } = JSON.parse(Buffer.from(bytes).toString('utf8')) as Saved;
    state.rules.version = routing;
    for (const [id, alert] of alerts) state.setAlert(id, alert);
    for (const { members, departed = [], toldMs: notifiedAtMs, ...saved } of groups) {
      const group = state.open({ ...saved, toldMs: notifiedAtMs, members: new Map(), departed: new Map() });
      for (const [id, alert] of departed) state.#remember(group, id, alert);
      for (const [id, notifiedAs] of members) state.join(group, id, notifiedAs);
    }
    return state;
  }
}

export const notificationState: StateDefinition<NotificationState> = {
  version: 1,
  open: (saved) => NotificationState.of(saved),
  save: (state) => state.save(),
  size: ({ size }) => size,
};
