/**
 * One story of random alerts, told to a real Alertmanager and to the processor: what each group is told, in order.
 * `ALERTMANAGER=/path/to/alertmanager node test/bench/alertmanager-notifications.ts [seed] [steps]`. A step takes 4 seconds.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FollowedDocuments } from '../../processors/engine/documents.ts';
import { notifications } from '../../processors/notifications/notifications.ts';
import { importAlertmanager } from '../../queries/alerts/routing/alertmanager.ts';
import type { AlertTransition } from '../../schemas/alerts.ts';
import type { Notification } from '../../schemas/notifications.ts';
import { alertRoutingId, alertRoutings } from '../../schemas/resources/alert-routing.ts';
import { topics } from '../../schemas/topics.ts';
import { startChannelReceiver } from '../cases/channel-receiver.ts';
import { seeded } from '../cases/random.ts';
import { firstMs, TaskRun } from '../cases/run-task.ts';

const program = process.env['ALERTMANAGER'];
if (program === undefined) throw new Error('ALERTMANAGER must name the program');
const random = seeded(Number(process.argv[2] ?? 1));
const steps = Number(process.argv[3] ?? 10);
// Alerts change at multiples of a step, groups are told half a step later: they never meet.
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
inhibit_rules:
  - { source_matchers: ['severity="critical"'], target_matchers: ['severity="warning"'], equal: [service] }
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
}
const all = Array.from({ length: 24 }, (_, index) => ({
  ...{ alertname: `A${index % 3}`, instance: String(index), service: `s${index % 4}` },
  ...{ severity: random(4) === 0 ? 'critical' : 'warning', team: random(3) === 0 ? 'db' : 'web' },
}));
const firing = new Set<number>();
const story: Change[][] = Array.from({ length: steps }, () =>
  Array.from({ length: random(6) }, () => random(all.length))
    .filter((index, at, chosen) => chosen.indexOf(index) === at)
    .map((index) => {
      const fires = !firing.has(index);
      if (fires) firing.add(index);
      else firing.delete(index);
      return { labels: all[index] ?? {}, fires };
    }),
);

type Told = {
  readonly receiver: string;
  readonly groupKey: string;
  readonly status: string;
  readonly alerts: readonly { readonly status: string; readonly labels: Readonly<Record<string, string>> }[];
};
/** What each group was told, in order. */
const summary = (told: readonly Told[]): Record<string, string[]> => {
  const groups: Record<string, string[]> = {};
  for (const { receiver: name, groupKey, status, alerts } of told) {
    const list = alerts.map((alert) => `${alert.labels['instance']}${alert.status === 'firing' ? '' : '✓'}`).sort();
    const key = `${name} ${groupKey}`;
    groups[key] = [...(groups[key] ?? []), `${status}: ${list.join(' ')}`];
  }
  return groups;
};

const ready = async (): Promise<void> => {
  for (;;) {
    const answer = await fetch(`http://${address}/-/ready`).catch(() => undefined);
    if (answer?.ok === true) return;
    await sleep(100);
  }
};
await ready();
const beganMs = Date.now();
for (const [step, changes] of story.entries()) {
  await sleep(Math.max(0, beganMs + step * stepMs - Date.now()));
  const now = new Date().toISOString();
  const body = changes.map(({ labels, fires }) => (fires ? { labels, startsAt: now } : { labels, endsAt: now }));
  if (body.length > 0)
    await fetch(`http://${address}/api/v2/alerts`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
    });
}
await sleep(3 * stepMs);
alertmanager.kill();
const theirs = summary(receiver.received.map(({ body }) => body));
await receiver.close();

const { routing } = importAlertmanager(yaml);
const run = new TaskRun(notifications, { documents: new FollowedDocuments() });
const at = new Date(firstMs).toISOString();
run.task.change(alertRoutings.name, 'acme', alertRoutingId, {
  ...{ ...routing, receivers: names.map((name) => ({ name, channelIds: [name], sendResolved: true })) },
  ...{ id: alertRoutingId, version: 1, createdAt: at, updatedAt: at },
} as never);
for (const [step, changes] of story.entries()) {
  const atMs = firstMs + step * stepMs;
  for (const [place, { labels, fires }] of changes.entries()) {
    const transition: AlertTransition = {
      ...{
        tenantId: 'acme',
        id: `${step}/${place}`,
        alertId: labels['instance'] ?? '',
        ruleId: 'r',
        ruleVersion: 1,
        ruleName: 'R',
      },
      ...{
        labels,
        annotations: {},
        severity: 'error',
        from: 'inactive',
        to: fires ? 'firing' : 'inactive',
        atMs,
        value: 1,
        reason: '',
      },
      ...(fires ? { startedAtMs: atMs } : { endedAtMs: atMs }),
    };
    run.values([transition], { atMs });
  }
  for (let tick = atMs; tick < atMs + stepMs; tick += 500) run.tick(tick);
}
for (let tick = 0; tick < 3 * stepMs; tick += 500) run.tick(firstMs + steps * stepMs + tick);
const ours = summary(run.emitted<Notification>(topics.notifications));

const keys = [...new Set([...Object.keys(theirs), ...Object.keys(ours)])].sort();
const differing = keys.filter((key) => JSON.stringify(theirs[key]) !== JSON.stringify(ours[key]));
for (const key of differing) console.log(JSON.stringify({ key, theirs: theirs[key], ours: ours[key] }));
const count = (told: Record<string, string[]>): number => Object.values(told).flat().length;
console.log(
  JSON.stringify({ groups: keys.length, theirs: count(theirs), ours: count(ours), differing: differing.length }),
);
