/**
 * A storm of alerts through the grouping processor.
 *
 *     node --expose-gc test/bench/notifications.ts [alerts] [labels to group by]
 */
import '../../subjects/query-kinds.ts';
import type { BatchResult } from '../../processors/engine/batch-result.ts';
import { FollowedDocuments } from '../../processors/engine/documents.ts';
import { Task } from '../../processors/engine/task.ts';
import { notifications } from '../../processors/notifications/notifications.ts';
import type { AlertTransition } from '../../schemas/alerts.ts';
import { AlertRouting, alertRoutingId, alertRoutings } from '../../schemas/resources/alert-routing.ts';
import { topics } from '../../schemas/topics.ts';

const firstMs = Date.UTC(2026, 0, 1);
const alerts = Number(process.argv[2] ?? 50_000);
const services = 200;
const perMessage = 200;
const at = new Date(firstMs).toISOString();

const transitionOf = (index: number): AlertTransition => {
  const labels = {
    alertname: `Slow${index % 20}`,
    severity: index % 5 === 0 ? 'critical' : 'warning',
    service: `service-${index % services}`,
    instance: `10.0.${index >> 8}.${index & 255}:9100`,
    cluster: `eu-${index % 3}`,
    team: `team-${index % 12}`,
  };
  return {
    tenantId: 'acme',
    id: `t${index}`,
    alertId: `alert-${index}`,
    ruleId: `rule-${index % 20}`,
    ruleVersion: 1,
    ruleName: 'Rule',
    labels,
    annotations: { summary: `${labels.instance} answers slowly`, runbook: 'https://runbooks.example.com/slow' },
    severity: 'error',
    from: 'inactive',
    to: 'firing',
    atMs: firstMs,
    startedAtMs: firstMs,
    value: index,
    reason: '',
  };
};

const routingOf = (groupBy: readonly string[]): object =>
  AlertRouting.parse({
    route: {
      receiver: 'all',
      groupBy,
      groupWait: '30s',
      routes: [{ receiver: 'all', matchers: [{ name: 'team', operator: '=~', value: 'team-1.*' }] }],
    },
    receivers: [{ name: 'all', channelIds: ['one', 'two'] }],
    inhibitRules: [
      {
        sourceMatchers: [{ name: 'severity', value: 'critical' }],
        targetMatchers: [{ name: 'severity', value: 'warning' }],
        equal: ['service', 'cluster', 'instance'],
      },
    ],
  });

const mebibytes = (bytes: number): number => Math.round(bytes / 1024 / 1024);

// One grouping per process, so that its memory is measured alone.
const groupBy = (process.argv[3] ?? 'alertname').split(',');
const documents = new FollowedDocuments();
const task = new Task(notifications, { topic: topics.alertTransitions.name, partition: 0, documents, buckets: 32 });
task.applyChange(alertRoutings.name, 'acme', alertRoutingId, {
  ...routingOf(groupBy),
  id: alertRoutingId,
  version: 1,
  createdAt: at,
  updatedAt: at,
} as never);
globalThis.gc?.();
const before = process.memoryUsage();
let peak = before.rss;
let emitted = 0;
let notifiedAlerts = 0;
let savedMiB = 0;
const handleAnswer = ({ messages }: BatchResult): void => {
  peak = Math.max(peak, process.memoryUsage().rss);
  // Counts without parsing, which would be a cost of the reader.
  for (const { value, headers } of messages) {
    emitted += Number(headers['records']);
    for (let at = value.indexOf(123); at >= 0; ) {
      const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      const found = bytes.indexOf('"firing":', at);
      if (found < 0) break;
      notifiedAlerts += Number.parseInt(bytes.toString('latin1', found + 9, found + 15), 10);
      at = found + 9;
    }
  }
};
const began = process.cpuUsage();
for (let index = 0, offset = 0; index < alerts; index += perMessage, offset++) {
  const batch = Array.from({ length: Math.min(perMessage, alerts - index) }, (_, place) => transitionOf(index + place));
  const value = Buffer.from(JSON.stringify(batch));
  handleAnswer(task.batch([{ key: 'acme', offset, timestampMs: firstMs, value, headers: { tenant: 'acme' } }]));
}
for (let second = 1; second <= 40; second++) {
  const response = task.tick(firstMs + second * 1000);
  if (response !== undefined) {
    handleAnswer(response);
    // The state and its output are saved before the output is published.
    savedMiB = Math.max(savedMiB, mebibytes(task.snapshot().length));
    peak = Math.max(peak, process.memoryUsage().rss);
  }
  task.clearOutbox();
}
const { user, system } = process.cpuUsage(began);
const snapshot = task.snapshot().length;
peak = Math.max(peak, process.memoryUsage().rss);
globalThis.gc?.();
console.log(
  JSON.stringify({
    alerts,
    groupBy,
    notifications: emitted,
    told: notifiedAlerts,
    cpuSeconds: (user + system) / 1e6,
    rssBeforeMiB: mebibytes(before.rss),
    peakRssMiB: mebibytes(peak),
    snapshotMiB: mebibytes(snapshot),
    savedMiB,
    heapOfStateMiB: mebibytes(process.memoryUsage().heapUsed - before.heapUsed),
  }),
);
