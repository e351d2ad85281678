/**
 * Alerts with random severities and routes: after each step, each receiver has the state that Alertmanager's routing
 * defines.
 */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { FollowedDocuments } from '../../processors/engine/documents.ts';
import { notifications } from '../../processors/notifications/notifications.ts';
import type { AlertSeverity, AlertTransition } from '../../schemas/alerts.ts';
import type { Notification } from '../../schemas/notifications.ts';
import { AlertRouting, alertRoutingId, alertRoutings } from '../../schemas/resources/alert-routing.ts';
import { topics } from '../../schemas/topics.ts';
import { type Random, seeded } from './random.ts';
import { firstMs, TaskRun } from './run-task.ts';

const second = 1000;
const stepMs = 30 * second;
const severities: readonly (AlertSeverity | undefined)[] = [undefined, 'info', 'warning', 'error', 'critical'];

const routing = AlertRouting.parse({
  route: {
    receiver: 'rest',
    groupBy: ['alertname'],
    groupWait: '5s',
    groupInterval: '10s',
    repeatInterval: '1d',
    routes: [
      { receiver: 'pager', matchers: [{ name: 'severity', value: 'critical' }], continue: true },
      { receiver: 'db', matchers: [{ name: 'team', value: 'db' }], groupBy: ['team'] },
      { receiver: 'low', matchers: [{ name: 'severity', value: 'info' }], groupBy: ['team'] },
    ],
  },
  receivers: ['rest', 'pager', 'db', 'low'].map((name) => ({ name, channelIds: [name] })),
});

/**
 * Alertmanager's routing in short: an alert is its labels, and a receiver knows the firing alerts that are routed to
 * it.
 */
const receiversOf = ({ severity, team }: Readonly<Record<string, string>>): string[] => [
  ...(severity === 'critical' ? ['pager'] : []),
  ...(team === 'db' ? ['db'] : severity === 'info' ? ['low'] : []),
  ...(team !== 'db' && severity !== 'info' && severity !== 'critical' ? ['rest'] : []),
];

class Walk {
  readonly #random: Random;
  readonly #run = new TaskRun(notifications, { documents: new FollowedDocuments() });
  readonly #alerts = new Map<string, { readonly labels: Record<string, string>; readonly severity: AlertSeverity }>();
  /** Receiver → alert → severity, as notified. */
  readonly known: Record<string, Record<string, string>> = { rest: {}, pager: {}, db: {}, low: {} };
  #read = 0;
  #nowMs = firstMs;

  constructor(seed: number) {
    this.#random = seeded(seed);
    const at = new Date(firstMs).toISOString();
    this.#run.task.applyChange(alertRoutings.name, 'acme', alertRoutingId, {
      ...routing,
      id: alertRoutingId,
      version: 1,
      createdAt: at,
      updatedAt: at,
    } as never);
  }

  /**
   * Changes some alerts, some of them again before their groups are notified. Returns the notifications sent at once.
   */
  step(): Notification[] {
    const notifications: Notification[] = [];
    for (let change = this.#random(6); change >= 0; change--) {
      this.#change(this.#random(5));
      notifications.push(...this.#drain());
      this.#nowMs += this.#random(3) * second;
      this.#run.tick(this.#nowMs);
      this.#drain();
      if (this.#random(12) === 0) this.#run.restart();
    }
    return notifications;
  }

  settle(): void {
    for (const end = this.#nowMs + stepMs; this.#nowMs < end; this.#nowMs += second) this.#run.tick(this.#nowMs);
    this.#drain();
  }

  /** Firing alerts of each receiver according to the routing. */
  get expected(): Record<string, Record<string, string>> {
    const by: Record<string, Record<string, string>> = { rest: {}, pager: {}, db: {}, low: {} };
    for (const [id, { labels, severity }] of this.#alerts)
      for (const receiver of receiversOf(labels)) Object.assign(by[receiver] ?? {}, { [id]: severity });
    return by;
  }

  get holding(): number {
    return this.#run.task.status.entries;
  }

  get count(): number {
    return this.#read;
  }

  end(): void {
    for (const id of [...this.#alerts.keys()]) this.#emit(id, undefined);
  }

  #change(index: number): void {
    this.#emit(`a${index}`, severities[this.#random(severities.length)]);
  }

  #emit(id: string, severity: AlertSeverity | undefined): void {
    const before = this.#alerts.get(id);
    if (before === undefined && severity === undefined) return;
    const team = Number(id.slice(1)) % 3 === 0 ? 'db' : 'web';
    const labels =
      severity === undefined
        ? (before?.labels ?? {})
        : { alertname: `A${Number(id.slice(1)) % 2}`, instance: id, team, severity };
    const isOver = severity === undefined;
    if (isOver) this.#alerts.delete(id);
    else this.#alerts.set(id, { labels, severity });
    const transition: AlertTransition = {
      tenantId: 'acme',
      id: `t${this.#nowMs}`,
      alertId: id,
      ruleId: 'rule',
      ruleVersion: 1,
      ruleName: 'Rule',
      labels,
      annotations: {},
      severity: severity ?? before?.severity ?? 'error',
      value: 1,
      reason: '',
      from: before === undefined ? 'inactive' : 'firing',
      to: isOver ? 'inactive' : 'firing',
      atMs: this.#nowMs,
      ...(isOver ? { endedAtMs: this.#nowMs } : { startedAtMs: this.#nowMs }),
    };
    this.#run.values([transition], { atMs: this.#nowMs });
  }

  #drain(): Notification[] {
    const all = this.#run.emitted<Notification>(topics.notifications);
    const fresh = all.slice(this.#read);
    this.#read = all.length;
    for (const { receiver, alerts } of fresh) {
      // A resolved alert and its replacement may be in one message: the former alert is the resolved one.
      for (const { alertId, status } of alerts) if (status === 'resolved') delete this.known[receiver]?.[alertId];
      for (const { alertId, status, labels } of alerts)
        if (status === 'firing') Object.assign(this.known[receiver] ?? {}, { [alertId]: labels['severity'] });
    }
    return fresh;
  }
}

test('after each step of a random walk every receiver knows its firing alerts and their severity', (t) => {
  for (let seed = 1; seed <= 40; seed++) {
    const walk = new Walk(seed);
    for (let step = 0; step < 25; step++) {
      walk.step();
      walk.settle();
      t.deepEqual(walk.known, walk.expected, `seed ${seed}, step ${step}`);
      const countBefore = walk.count;
      walk.settle();
      t.is(walk.count, countBefore, `seed ${seed}, step ${step}: nothing changed, and something was told`);
    }
    walk.end();
    walk.settle();
    t.deepEqual(walk.known, { rest: {}, pager: {}, db: {}, low: {} });
    t.is(walk.holding, 0, `seed ${seed}: something is kept`);
  }
});

test('a severity increase is notified in the same step if the group was notified before', (t) => {
  let risen = 0;
  for (let seed = 1; seed <= 20; seed++) {
    const walk = new Walk(seed);
    for (let step = 0; step < 25; step++) {
      for (const { reason, alerts } of walk.step()) {
        if (reason !== 'escalated') continue;
        risen++;
        t.true(alerts.some(({ status }) => status === 'firing'));
      }
      walk.settle();
    }
  }
  t.true(risen > 50, `${risen} rises`);
});
