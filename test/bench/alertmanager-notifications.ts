/**
 * Sends one sequence of random alerts to a real Alertmanager and to the processor, and compares the notifications of
 * each group in order. A step takes 4 seconds.
 *
 *     node bin/node.mjs test/bench/alertmanager-notifications.ts [seed] [steps] [severities]
 *
 * `ALERTMANAGER` is the path of its program. With `severities` the severities of firing alerts change too, and nothing
 * is inhibited. Then the known alerts of each group are compared after each step, because the two notify of a higher
 * severity at different times and in other forms.
 */
import '../../subjects/query-kinds.ts';
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FollowedDocuments } from '../../processors/engine/documents.ts';
import { notifications } from '../../processors/notifications/notifications.ts';
import type { AlertTransition } from '../../schemas/alerts.ts';
import type { Notification } from '../../schemas/notifications.ts';
import { alertRoutingId, alertRoutings } from '../../schemas/resources/alert-routing.ts';
import { topics } from '../../schemas/topics.ts';
import { importAlertmanager } from '../../subjects/alerts/routing/alertmanager.ts';
import { startChannelReceiver } from '../cases/channel-receiver.ts';
import { seeded } from '../cases/random.ts';
import { firstMs, TaskRun } from '../cases/run-task.ts';

const program = process.env['ALERTMANAGER'];
if (program === undefined) throw new Error('ALERTMANAGER must name the program');
const random = seeded(Number(process.argv[2] ?? 1));
const steps = Number(process.argv[3] ?? 10);
const changesSeverities = process.argv[4] === 'severities';
// Alerts change at multiples of a step, and groups notify half a step later, so they never coincide.
const stepMs = 4000;

const receiver = await startChannelReceiver();
const names = ['all', 'db', 'pager'];
const yaml = `
route:
  receiver: all
  group_by: [alertname]
  group_wait: 2s
  group_interval: 4s
  repeat_interval: 1h
  routes:
    - { receiver: pager, matchers: ['severity="critical"'], continue: true }
    - { receiver: db, matchers: ['team="db"'], group_by: ['...'] }
inhibit_rules:${
  changesSeverities
    ? ' []'
    : `
  - { source_matchers: ['severity="critical"'], target_matchers: ['severity="warning"'], equal: [service] }`
}
receivers:
${names.map((name) => `  - { name: ${name}, webhook_configs: [{ url: '${receiver.url}/${name}', send_resolved: true }] }`).join('\n')}
`;
const directory = mkdtempSync(join(tmpdir(), 'alertmanager-'));
writeFileSync(join(directory, 'alertmanager.yml'), yaml);
const address = `127.0.0.1:${20_000 + (process.pid % 10_000)}`;
const options = [
  `--config.file=${join(directory, 'alertmanager.yml')}`,
  `--storage.path=${directory}`,
  `--web.listen-address=${address}`,
];
const alertmanager = spawn(program, [...options, '--cluster.listen-address='], { stdio: 'ignore' });

interface Change {
  readonly labels: Readonly<Record<string, string>>;
  readonly fires: boolean;
  /** The previous labels, if only the severity changes. */
  readonly had?: Readonly<Record<string, string>>;
}
const all = Array.from({ length: 24 }, (_, index) => ({
  alertname: `A${index % 3}`,
  instance: String(index),
  service: `s${index % 4}`,
  severity: random(4) === 0 ? 'critical' : 'warning',
  team: random(3) === 0 ? 'db' : 'web',
}));
const firing = new Set<number>();
const story: Change[][] = Array.from({ length: steps }, () =>
  Array.from({ length: random(6) }, () => random(all.length))
    .filter((index, at, chosen) => chosen.indexOf(index) === at)
    .map((index) => {
      const had = all[index];
      if (changesSeverities && firing.has(index) && had !== undefined && random(2) === 0) {
        const labels = { ...had, severity: had.severity === 'critical' ? 'warning' : 'critical' };
        all[index] = labels;
        return { labels, fires: true, had };
      }
      const fires = !firing.has(index);
      if (fires) firing.add(index);
      else firing.delete(index);
      return { labels: all[index] ?? {}, fires };
    }),
);

type NotificationSummary = {
  readonly receiver: string;
  readonly groupKey: string;
  readonly status: string;
  readonly alerts: readonly { readonly status: string; readonly labels: Readonly<Record<string, string>> }[];
};
/** The notifications of each group, in order. */
const summary = (notifications: readonly NotificationSummary[]): Record<string, string[]> => {
  const groups: Record<string, string[]> = {};
  for (const { receiver: name, groupKey, status, alerts } of notifications) {
    const list = alerts.map((alert) => `${alert.labels['instance']}${alert.status === 'firing' ? '' : '✓'}`).sort();
    const key = `${name} ${groupKey}`;
    groups[key] = [...(groups[key] ?? []), `${status}: ${list.join(' ')}`];
  }
  return groups;
};

/** The firing alerts that each group has been notified of, as `instance severity`. */
const known = new Map<object, Map<string, Set<string>>>();
const learn = (side: object, notifications: readonly NotificationSummary[]): Record<string, string> => {
  const groups = known.get(side) ?? new Map<string, Set<string>>();
  known.set(side, groups);
  for (const { receiver: name, groupKey, alerts } of notifications) {
    const group = groups.get(`${name} ${groupKey}`) ?? new Set<string>();
    groups.set(`${name} ${groupKey}`, group);
    const named = ({ labels }: NotificationSummary['alerts'][number]): string =>
      `${labels['instance']} ${labels['severity']}`;
    for (const alert of alerts) if (alert.status !== 'firing') group.delete(named(alert));
    for (const alert of alerts.filter(({ status }) => status === 'firing')) {
      for (const severity of ['warning', 'critical']) group.delete(`${alert.labels['instance']} ${severity}`);
      group.add(named(alert));
    }
  }
  const filled = [...groups].filter(([, group]) => group.size > 0);
  return Object.fromEntries(filled.map(([key, group]) => [key, [...group].sort().join(', ')]).sort());
};

const ready = async (): Promise<void> => {
  for (;;) {
    const response = await fetch(`http://${address}/-/ready`).catch(() => undefined);
    if (response?.ok === true) return;
    await sleep(100);
  }
};
await ready();
const beganMs = Date.now();
/** The number of notifications before each step. */
const alertmanagerCounts: number[] = [];
const oiqCounts: number[] = [];
for (const [step, changes] of story.entries()) {
  await sleep(Math.max(0, beganMs + step * stepMs - Date.now()));
  alertmanagerCounts.push(receiver.received.length);
  const now = new Date().toISOString();
  const body = changes.flatMap(({ labels, fires, had }) => [
    ...(had === undefined ? [] : [{ labels: had, endsAt: now }]),
    fires ? { labels, startsAt: now } : { labels, endsAt: now },
  ]);
  if (body.length > 0)
    await fetch(`http://${address}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
}
await sleep(3 * stepMs);
alertmanager.kill();
const alertmanagerNotifications = receiver.received.map(({ body }): NotificationSummary => body);
const alertmanagerGroups = summary(alertmanagerNotifications);
await receiver.close();

const { routing } = importAlertmanager(yaml);
const run = new TaskRun(notifications, { documents: new FollowedDocuments() });
const at = new Date(firstMs).toISOString();
run.task.applyChange(alertRoutings.name, 'acme', alertRoutingId, {
  ...routing,
  receivers: names.map((name) => ({ name, channelIds: [name], sendResolved: true })),
  id: alertRoutingId,
  version: 1,
  createdAt: at,
  updatedAt: at,
} as never);
for (const [step, changes] of story.entries()) {
  const atMs = firstMs + step * stepMs;
  oiqCounts.push(run.emitted(topics.notifications).length);
  for (const [place, { labels, fires }] of changes.entries()) {
    const transition: AlertTransition = {
      tenantId: 'acme',
      id: `${step}/${place}`,
      alertId: labels['instance'] ?? '',
      ruleId: 'r',
      ruleVersion: 1,
      ruleName: 'R',
      labels,
      annotations: {},
      severity: changesSeverities && labels['severity'] === 'critical' ? 'critical' : 'warning',
      from: 'inactive',
      to: fires ? 'firing' : 'inactive',
      atMs,
      value: 1,
      reason: '',
      ...(fires ? { startedAtMs: atMs } : { endedAtMs: atMs }),
    };
    run.values([transition], { atMs });
  }
  for (let tick = atMs; tick < atMs + stepMs; tick += 500) run.tick(tick);
}
for (let tick = 0; tick < 3 * stepMs; tick += 500) run.tick(firstMs + steps * stepMs + tick);
const oiqNotifications = run.emitted<Notification>(topics.notifications);
const oiqGroups = summary(oiqNotifications);

if (changesSeverities) {
  const pieces = (
    notifications: readonly NotificationSummary[],
    marks: readonly number[],
  ): (readonly NotificationSummary[])[] =>
    [0, ...marks].map((mark, index, all) => notifications.slice(mark, all[index + 1]));
  const [their, our] = [pieces(alertmanagerNotifications, alertmanagerCounts), pieces(oiqNotifications, oiqCounts)];
  let differing = 0;
  for (const [step, piece] of their.entries()) {
    const [one, other] = [learn(their, piece), learn(our, our[step] ?? [])];
    if (JSON.stringify(one) === JSON.stringify(other)) continue;
    differing++;
    console.log(JSON.stringify({ step: step - 1, alertmanager: one, oiq: other }));
  }
  const changes = story.flat();
  const severities = changes.filter(({ had }) => had !== undefined).length;
  const counts = { alertmanager: alertmanagerNotifications.length, oiq: oiqNotifications.length };
  console.log(JSON.stringify({ steps: their.length, changes: changes.length, severities, ...counts, differing }));
  process.exit(0);
}

const keys = [...new Set([...Object.keys(alertmanagerGroups), ...Object.keys(oiqGroups)])].sort();
const differing = keys.filter((key) => JSON.stringify(alertmanagerGroups[key]) !== JSON.stringify(oiqGroups[key]));
for (const key of differing)
  console.log(JSON.stringify({ key, alertmanager: alertmanagerGroups[key], oiq: oiqGroups[key] }));
const count = (notifications: Record<string, string[]>): number => Object.values(notifications).flat().length;
console.log(
  JSON.stringify({
    groups: keys.length,
    alertmanager: count(alertmanagerGroups),
    oiq: count(oiqGroups),
    differing: differing.length,
  }),
);
