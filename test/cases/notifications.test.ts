/** Alerts are grouped, muted and sent according to the routing document and the time. */
import '../../subjects/query-kinds.ts';
import test, { type ExecutionContext } from 'ava';
import { FollowedDocuments } from '../../processors/engine/documents.ts';
import { decodeTask, encodeTask } from '../../processors/engine/task-snapshot.ts';
import { notifications } from '../../processors/notifications/notifications.ts';
import type { AlertTransition } from '../../schemas/alerts.ts';
import type { Notification } from '../../schemas/notifications.ts';
import { AlertRouting, alertRoutingId, alertRoutings } from '../../schemas/resources/alert-routing.ts';
import { alertAcknowledgements, alertRules } from '../../schemas/resources/alert-rule.ts';
import { MaintenanceWindowFields, maintenanceWindows } from '../../schemas/resources/maintenance-window.ts';
import { silences } from '../../schemas/resources/silence.ts';
import { topics } from '../../schemas/topics.ts';
import { createPlatformAlertSubject, platformTransition } from '../../subjects/alerts/platform-alerts.ts';
import { firstMs, TaskRun } from './run-task.ts';

const second = 1000;
const minute = 60 * second;
const matcher = (name: string, value: string) => ({ name, value });

const defaultRouting = {
  route: {
    receiver: 'all',
    groupBy: ['alertname'],
    groupWait: '30s',
    groupInterval: '5m',
    repeatInterval: '1h',
    routes: [
      { receiver: 'quiet', matchers: [matcher('team', 'quiet')], groupBy: ['...'] },
      { receiver: 'office', matchers: [matcher('team', 'office')], muteTimeIntervals: ['night'] },
      { receiver: 'both', matchers: [matcher('team', 'both')], continue: true },
    ],
  },
  receivers: [
    { name: 'all', channelIds: ['mail'] },
    { name: 'quiet', channelIds: ['chat'], sendResolved: false },
    { name: 'office', channelIds: ['chat'] },
    { name: 'both', channelIds: ['mail', 'chat'] },
  ],
  inhibitRules: [
    {
      sourceMatchers: [matcher('severity', 'critical')],
      targetMatchers: [matcher('severity', 'warning')],
      equal: ['service'],
    },
  ],
  timeIntervals: [{ name: 'night', timeIntervals: [{ times: [{ startTime: '00:00', endTime: '01:00' }] }] }],
};

class World {
  readonly run = new TaskRun(notifications, { documents: new FollowedDocuments() });
  #nowMs = firstMs;
  #version = 0;
  #readCount = 0;
  #serial = 0;

  constructor(routing: object = defaultRouting) {
    this.route(routing);
  }

  route(routing: object): void {
    const at = new Date(firstMs).toISOString();
    this.#version++;
    this.run.task.applyChange(alertRoutings.name, 'acme', alertRoutingId, {
      ...AlertRouting.parse(routing),
      id: alertRoutingId,
      version: this.#version,
      createdAt: at,
      updatedAt: at,
    } as never);
  }

  silence(id: string, matchers: object[], fromMs: number, toMs: number): void {
    const at = new Date(firstMs).toISOString();
    const [startsAt, endsAt] = [fromMs, toMs].map((ms) => new Date(firstMs + ms).toISOString());
    this.run.task.applyChange(silences.name, 'acme', id, {
      matchers: matchers.map((one) => ({ operator: '=', ...one })),
      startsAt,
      endsAt,
      comment: '',
      createdBy: 'me',
      id,
      version: 1,
      createdAt: at,
      updatedAt: at,
    } as never);
  }

  /** A maintenance window with the given minutes each day from midnight. */
  window(fields: object): void {
    const at = new Date(firstMs).toISOString();
    this.run.task.applyChange(maintenanceWindows.name, 'acme', 'window', {
      ...MaintenanceWindowFields.parse({ name: 'nightly', timeZone: 'UTC', durationMinutes: 10, ...fields }),
      createdBy: 'me',
      id: 'window',
      version: 1,
      createdAt: at,
      updatedAt: at,
    } as never);
  }

  /** Sets the rule of all alerts; undefined deletes it. */
  rule(fields: { readonly enabled: boolean } | undefined): void {
    const at = new Date(firstMs).toISOString();
    const document = fields && { ...fields, id: 'rule', version: 1, createdAt: at, updatedAt: at };
    this.run.task.applyChange(alertRules.name, 'acme', 'rule', document as never);
  }

  /** Acknowledges an alert that has fired since the given time after the start. */
  acknowledge(labels: Record<string, string>, firesSinceMs: number): void {
    const at = new Date(firstMs).toISOString();
    const id = JSON.stringify(labels);
    this.run.task.applyChange(alertAcknowledgements.name, 'acme', id, {
      ruleId: 'rule',
      startedAtMs: firstMs + firesSinceMs,
      by: 'me',
      at,
      note: '',
      id,
      version: 1,
      createdAt: at,
      updatedAt: at,
    } as never);
  }

  /** Changes the state of an alert at a time after the start. */
  alert(
    afterMs: number,
    labels: Record<string, string>,
    to: AlertTransition['to'],
    more: Partial<AlertTransition> = {},
  ): void {
    this.#nowMs = firstMs + afterMs;
    const alertId = JSON.stringify(labels);
    const transition: AlertTransition = {
      tenantId: 'acme',
      id: `t${this.#serial++}`,
      alertId,
      ruleId: 'rule',
      ruleVersion: 1,
      ruleName: 'Rule',
      labels,
      annotations: {},
      severity: 'error',
      from: 'inactive',
      to,
      atMs: this.#nowMs,
      value: 1,
      reason: '',
      ...(to === 'inactive' ? { endedAtMs: this.#nowMs } : { startedAtMs: this.#nowMs }),
      ...more,
    };
    this.run.values([transition], { atMs: this.#nowMs });
  }

  /**
   * Returns the notifications since the last call, up to a time after the start: time in seconds, channel, reason and
   * alerts.
   */
  notificationsUntil(afterMs: number): string[] {
    for (let at = this.#nowMs; at <= firstMs + afterMs; at += 5 * second) this.run.tick(at);
    this.#nowMs = firstMs + afterMs;
    const all = this.run.emitted<Notification>(topics.notifications);
    const fresh = all.slice(this.#readCount);
    this.#readCount = all.length;
    return fresh.map(
      ({ atMs, channelId, reason, alerts }) =>
        `${(atMs - firstMs) / second}s ${channelId} ${reason}: ${alerts
          .map(({ labels, status }) => `${labels['instance'] ?? labels['alertname']}${status === 'firing' ? '' : '✓'}`)
          .sort()
          .join(' ')}`,
    );
  }
}

/** The default document with other targets for its first receiver. */
const withChannels = (channelIds: readonly string[], escalationPolicyId?: string): object => ({
  ...defaultRouting,
  receivers: defaultRouting.receivers.map((receiver) =>
    receiver.name === 'all' ? { ...receiver, channelIds, escalationPolicyId } : receiver,
  ),
});

const slow = (instance: string, more: Record<string, string> = {}) => ({ alertname: 'Slow', instance, ...more });

const stories: Readonly<Record<string, (t: ExecutionContext, world: World) => void>> = {
  'alerts of one group are notified together after the group wait'(t, world) {
    world.alert(0, slow('a'), 'firing');
    world.alert(10 * second, slow('b'), 'firing');
    world.alert(10 * second, { alertname: 'Down' }, 'firing');
    t.deepEqual(world.notificationsUntil(minute), ['30s mail first: a b', '40s mail first: Down']);
  },
  'an alert that joins later is notified after the group interval, with the others'(t, world) {
    world.alert(0, slow('a'), 'firing');
    world.notificationsUntil(minute);
    world.alert(minute, slow('b'), 'firing');
    t.deepEqual(world.notificationsUntil(10 * minute), ['330s mail firing: a b']);
  },
  'no notification is repeated before the repeat interval'(t, world) {
    world.alert(0, slow('a'), 'firing');
    world.notificationsUntil(minute);
    t.deepEqual(world.notificationsUntil(60 * minute), []);
    t.deepEqual(world.notificationsUntil(66 * minute), ['3630s mail repeated: a']);
  },
  'an acknowledged alert is not notified again while it fires, but its end is'(t, world) {
    world.alert(0, slow('a'), 'firing');
    world.notificationsUntil(minute);
    world.acknowledge(slow('a'), 0);
    t.deepEqual(world.notificationsUntil(190 * minute), []);
    world.alert(190 * minute, slow('a'), 'inactive');
    t.deepEqual(world.notificationsUntil(200 * minute), ['11430s mail resolved: a✓']);
  },
  'a group is notified again while one of its alerts is not acknowledged, or fires again'(t, world) {
    world.alert(0, slow('a'), 'firing');
    world.alert(0, slow('b'), 'firing');
    world.notificationsUntil(minute);
    world.acknowledge(slow('a'), 0);
    world.acknowledge(slow('b'), -minute);
    t.deepEqual(world.notificationsUntil(66 * minute), ['3630s mail repeated: a b']);
  },
  'an alert ends with its rule'(t, world) {
    for (const removedRule of [undefined, { enabled: false }]) {
      const own = new World();
      own.rule({ enabled: true });
      own.alert(0, slow('a'), 'firing');
      t.deepEqual(own.notificationsUntil(minute), ['30s mail first: a']);
      own.rule(removedRule);
      t.deepEqual(own.notificationsUntil(20 * minute), ['330s mail resolved: a✓']);
      t.is(own.run.task.status.entries, 0);
    }
    world.alert(0, slow('a'), 'firing');
    t.deepEqual(world.notificationsUntil(66 * minute), ['30s mail first: a', '3630s mail repeated: a']);
  },
  'the end of a notified alert is notified'(t, world) {
    world.alert(0, slow('a'), 'firing');
    world.alert(0, slow('b'), 'firing');
    world.notificationsUntil(minute);
    world.alert(minute, slow('a'), 'inactive');
    t.deepEqual(world.notificationsUntil(6 * minute), ['330s mail resolved: a✓ b']);
    world.alert(7 * minute, slow('b'), 'inactive');
    t.deepEqual(world.notificationsUntil(12 * minute), ['630s mail resolved: b✓']);
    t.is(world.run.task.status.entries, 0);
  },
  'an alert that fires and ends within the group wait is notified'(t, world) {
    world.alert(0, slow('a'), 'firing');
    world.alert(10 * second, slow('a'), 'inactive');
    t.deepEqual(world.notificationsUntil(10 * minute), ['30s mail first: a✓']);
    t.is(world.run.task.status.entries, 0);
  },
  'an alert that fires and ends between two notifications of its group is notified'(t, world) {
    world.alert(0, slow('a'), 'firing');
    world.notificationsUntil(minute);
    world.alert(minute, slow('b'), 'firing');
    world.alert(2 * minute, slow('b'), 'inactive');
    t.deepEqual(world.notificationsUntil(10 * minute), ['330s mail resolved: a b✓']);
  },
  'the end of an alert that was never notified is not notified'(t, world) {
    world.alert(0, slow('a'), 'inactive');
    t.deepEqual(world.notificationsUntil(10 * minute), []);
  },
  'a higher severity is notified at once, and a lower one with the next notification of the group'(t, world) {
    world.alert(0, slow('a'), 'firing', { severity: 'warning' });
    world.alert(0, slow('b'), 'firing', { severity: 'warning' });
    world.notificationsUntil(minute);
    world.alert(minute, slow('a'), 'firing', { from: 'firing', severity: 'critical', startedAtMs: firstMs });
    t.deepEqual(world.notificationsUntil(20 * minute), ['60s mail escalated: a b']);
    world.alert(20 * minute, slow('a'), 'firing', { from: 'firing', severity: 'warning', startedAtMs: firstMs });
    t.deepEqual(world.notificationsUntil(30 * minute), ['1230s mail deescalated: a b']);
  },
  'a severity that rises and falls repeatedly is notified at most twice in a group interval'(t, world) {
    world.alert(0, slow('a'), 'firing', { severity: 'warning' });
    world.notificationsUntil(minute);
    for (let at = 0; at < 50; at++)
      world.alert(minute + at * 10 * second, slow('a'), 'firing', { severity: at % 2 === 0 ? 'critical' : 'warning' });
    t.deepEqual(world.notificationsUntil(15 * minute), [
      '60s mail escalated: a',
      '330s mail deescalated: a',
      '340s mail escalated: a',
      '630s mail deescalated: a',
    ]);
  },
  'a higher severity during a silence is notified after the silence'(t, world) {
    world.alert(0, slow('a'), 'firing', { severity: 'warning' });
    world.notificationsUntil(minute);
    world.silence('s', [matcher('instance', 'a')], minute, 10 * minute);
    world.alert(2 * minute, slow('a'), 'firing', { severity: 'critical' });
    t.deepEqual(world.notificationsUntil(9 * minute), []);
    t.deepEqual(world.notificationsUntil(20 * minute), ['630s mail escalated: a']);
  },
  'a lower severity resolves the alert for receivers to which it is no longer routed, without repeats'(t, world) {
    const { routes, ...root } = defaultRouting.route;
    const pager = { receiver: 'both', matchers: [matcher('severity', 'critical')], continue: false };
    world.route({ ...defaultRouting, inhibitRules: [], route: { ...root, routes: [pager, ...routes] } });
    const as = (severity: 'warning' | 'critical') => ({ severity, alertId: 'a', startedAtMs: firstMs });
    world.alert(0, slow('a', { severity: 'warning' }), 'firing', as('warning'));
    t.deepEqual(world.notificationsUntil(minute), ['30s mail first: a']);
    world.alert(minute, slow('a', { severity: 'critical' }), 'firing', as('critical'));
    t.deepEqual(world.notificationsUntil(6 * minute), [
      '60s mail first: a',
      '60s chat first: a',
      '330s mail resolved: a✓',
    ]);
    world.alert(6 * minute, slow('a', { severity: 'warning' }), 'firing', as('warning'));
    t.deepEqual(world.notificationsUntil(20 * minute), [
      '360s mail first: a',
      '660s mail resolved: a✓',
      '660s chat resolved: a✓',
    ]);
    const ended = world.run.emitted<Notification>(topics.notifications).at(-1)?.alerts[0];
    t.is(ended?.labels['severity'], 'critical');
    t.is(ended?.endsAtMs, firstMs + 6 * minute);
    t.deepEqual(world.notificationsUntil(70 * minute), ['3960s mail repeated: a']);
    world.alert(70 * minute, slow('a', { severity: 'warning' }), 'inactive', { ...as('warning'), endedAtMs: 1 });
    t.deepEqual(world.notificationsUntil(80 * minute), ['4260s mail resolved: a✓']);
    t.is(world.run.task.status.entries, 0);
  },
  'a pending or recovering alert is not notified'(t, world) {
    world.alert(0, slow('a'), 'pending');
    t.deepEqual(world.notificationsUntil(minute), []);
    world.alert(2 * minute, slow('a'), 'firing');
    t.deepEqual(world.notificationsUntil(3 * minute), ['150s mail first: a']);
    world.alert(3 * minute, slow('a'), 'recovering', { startedAtMs: firstMs + 2 * minute });
    t.deepEqual(world.notificationsUntil(20 * minute), []);
  },
  'a duplicate transition is notified once'(t, world) {
    for (let time = 0; time < 3; time++) world.alert(0, slow('a'), 'firing', { id: 'same' });
    t.deepEqual(world.notificationsUntil(10 * minute), ['30s mail first: a']);
  },
  'an alert that has been firing for longer than the wait does not wait'(t, world) {
    world.alert(minute, slow('a'), 'firing', { startedAtMs: firstMs });
    t.deepEqual(world.notificationsUntil(2 * minute), ['60s mail first: a']);
  },
  'a receiver without notifications of resolved alerts gets none'(t, world) {
    world.alert(0, slow('a', { team: 'quiet' }), 'firing');
    t.deepEqual(world.notificationsUntil(minute), ['30s chat first: a']);
    world.alert(minute, slow('a', { team: 'quiet' }), 'inactive');
    t.deepEqual(world.notificationsUntil(20 * minute), []);
    t.is(world.run.task.status.entries, 0);
  },
  'with ... each alert is a group'(t, world) {
    for (const instance of ['a', 'b']) world.alert(0, slow(instance, { team: 'quiet' }), 'firing');
    t.deepEqual(world.notificationsUntil(minute).sort(), ['30s chat first: a', '30s chat first: b']);
  },
  'every channel of a receiver is notified'(t, world) {
    world.alert(0, slow('a', { team: 'both' }), 'firing');
    t.deepEqual(world.notificationsUntil(minute), ['30s chat first: a', '30s mail first: a'].reverse());
  },
  'a firing alert mutes others of its service, and they are notified when it ends'(t, world) {
    world.alert(0, { alertname: 'Down', severity: 'critical', service: 'cart' }, 'firing');
    world.alert(0, slow('a', { severity: 'warning', service: 'cart' }), 'firing');
    world.alert(0, slow('b', { severity: 'warning', service: 'mail' }), 'firing');
    t.deepEqual(world.notificationsUntil(minute), ['30s mail first: Down', '30s mail first: b']);
    world.alert(minute, { alertname: 'Down', severity: 'critical', service: 'cart' }, 'inactive');
    t.deepEqual(world.notificationsUntil(10 * minute), ['330s mail resolved: Down✓', '330s mail firing: a b']);
  },
  'an alert of the platform is routed and silenced as any other'(t, world) {
    const at = { reason: 'sinks.logs is behind', startedAt: new Date(firstMs).toISOString() };
    const firing = platformTransition('acme', createPlatformAlertSubject('records-late', at.reason), at);
    world.silence('s', [matcher('alertname', 'PlatformRulesNotEvaluated')], 0, 10 * minute);
    world.alert(0, firing.labels, 'firing', firing);
    const muted = platformTransition('acme', createPlatformAlertSubject('rules-not-evaluated', at.reason), at);
    world.alert(0, muted.labels, 'firing', muted);
    t.deepEqual(world.notificationsUntil(2 * minute), ['30s mail first: PlatformRecordsLate']);
    const ended = platformTransition('acme', createPlatformAlertSubject('records-late', at.reason), at, {
      atMs: firstMs + 3 * minute,
      reason: 'it has recovered',
    });
    world.alert(3 * minute, ended.labels, 'inactive', ended);
    t.deepEqual(world.notificationsUntil(6 * minute), ['330s mail resolved: PlatformRecordsLate✓']);
  },

  'a silence mutes, and alerts that still fire are notified when it ends'(t, world) {
    world.silence('s', [matcher('instance', 'a')], 0, 10 * minute);
    world.alert(0, slow('a'), 'firing');
    world.alert(0, slow('b'), 'firing');
    t.deepEqual(world.notificationsUntil(9 * minute), ['30s mail first: b']);
    t.deepEqual(world.notificationsUntil(20 * minute), ['630s mail firing: a b']);
  },
  'a maintenance window mutes at each of its times, and alerts that still fire are notified when it ends'(t, world) {
    const startsAt = new Date(firstMs - 3 * 86_400_000).toISOString().slice(0, 16);
    world.window({ startsAt, recurrence: 'FREQ=DAILY', matchers: [matcher('instance', 'a')] });
    world.alert(0, slow('a'), 'firing');
    world.alert(0, slow('b'), 'firing');
    t.deepEqual(world.notificationsUntil(9 * minute), ['30s mail first: b']);
    t.deepEqual(world.notificationsUntil(20 * minute), ['630s mail firing: a b']);
  },
  'a maintenance window of projects mutes only alerts of their rules'(t, world) {
    world.window({ startsAt: new Date(firstMs).toISOString().slice(0, 16), projectIds: ['shop'] });
    world.alert(0, slow('a'), 'firing', { projectId: 'shop' });
    world.alert(0, slow('b'), 'firing', { projectId: 'bank' });
    world.alert(0, slow('c'), 'firing');
    t.deepEqual(world.notificationsUntil(9 * minute), ['30s mail first: b c']);
  },
  'an alert that starts and ends during a silence is never notified'(t, world) {
    world.silence('s', [matcher('instance', 'a')], 0, 10 * minute);
    world.alert(0, slow('a'), 'firing');
    world.alert(minute, slow('a'), 'inactive');
    t.deepEqual(world.notificationsUntil(30 * minute), []);
    t.is(world.run.task.status.entries, 0);
  },
  'the end of an alert that was notified before a silence is notified after it'(t, world) {
    world.alert(0, slow('a'), 'firing');
    world.notificationsUntil(minute);
    world.silence('s', [matcher('instance', 'a')], minute, 10 * minute);
    world.alert(2 * minute, slow('a'), 'inactive');
    t.deepEqual(world.notificationsUntil(9 * minute), []);
    t.deepEqual(world.notificationsUntil(20 * minute), ['630s mail resolved: a✓']);
  },
  'a muted route notifies later of alerts that still fire'(t, world) {
    world.alert(0, slow('a', { team: 'office' }), 'firing');
    t.deepEqual(world.notificationsUntil(59 * minute), []);
    t.deepEqual(world.notificationsUntil(66 * minute), ['3630s chat first: a']);
  },
  'a test is notified once, at once and marked, and mutes nothing'(t, world) {
    world.alert(0, { alertname: 'Down', severity: 'critical', service: 'cart' }, 'firing', { isTest: true });
    t.deepEqual(world.notificationsUntil(0), ['0s mail first: Down']);
    const [notification] = world.run.emitted<Notification>(topics.notifications);
    t.true(notification?.isTest === true && notification.alerts[0]?.isTest === true);
    world.alert(0, slow('a', { severity: 'warning', service: 'cart' }), 'firing');
    t.deepEqual(world.notificationsUntil(90 * minute), ['30s mail first: a', '3630s mail repeated: a']);
  },
  'a changed document moves alerts; where they were notified, their end is notified'(t, world) {
    world.alert(0, slow('a'), 'firing');
    world.notificationsUntil(minute);
    const { routes, ...root } = defaultRouting.route;
    const moved = { receiver: 'office', matchers: [matcher('alertname', 'Slow')] };
    world.route({ ...defaultRouting, route: { ...root, routes: [moved, ...routes] } });
    world.alert(minute, slow('b'), 'firing');
    t.deepEqual(world.notificationsUntil(3 * minute), ['60s chat first: a b']);
    world.alert(3 * minute, slow('a'), 'inactive');
    t.deepEqual(world.notificationsUntil(12 * minute), ['330s mail resolved: a✓', '360s chat resolved: a✓ b']);
  },
  'a channel added to a receiver without channels is notified of alerts that already fire, and of their end'(t, world) {
    world.route(withChannels([]));
    world.alert(0, slow('a'), 'firing');
    t.deepEqual(world.notificationsUntil(6 * minute), []);
    world.route(withChannels(['mail']));
    t.deepEqual(world.notificationsUntil(20 * minute), ['390s mail first: a']);
    world.alert(20 * minute, slow('a'), 'inactive');
    t.deepEqual(world.notificationsUntil(30 * minute), ['1290s mail resolved: a✓']);
  },
  'a second channel is notified of alerts that already fire, and the first one not again'(t, world) {
    world.alert(0, slow('a'), 'firing');
    world.alert(0, slow('b'), 'firing');
    t.deepEqual(world.notificationsUntil(minute), ['30s mail first: a b']);
    world.route(withChannels(['mail', 'chat']));
    t.deepEqual(world.notificationsUntil(50 * minute), ['330s chat first: a b']);
    t.deepEqual(world.notificationsUntil(66 * minute), ['3630s mail repeated: a b', '3930s chat repeated: a b']);
  },
  'a channel that replaces another one is notified of alerts that already fire'(t, world) {
    world.alert(0, slow('a'), 'firing');
    world.notificationsUntil(minute);
    world.route(withChannels(['chat']));
    t.deepEqual(world.notificationsUntil(10 * minute), ['330s chat first: a']);
    world.alert(10 * minute, slow('a'), 'inactive');
    t.deepEqual(world.notificationsUntil(20 * minute), ['630s chat resolved: a✓']);
  },
  'a channel that is removed and added again is not notified again'(t, world) {
    world.alert(0, slow('a'), 'firing');
    world.notificationsUntil(minute);
    world.route(withChannels([]));
    t.deepEqual(world.notificationsUntil(10 * minute), []);
    world.route(withChannels(['mail']));
    t.deepEqual(world.notificationsUntil(50 * minute), []);
  },
  'a channel added while an alert is muted is notified after the mute, and not only of the end'(t, world) {
    world.alert(0, slow('a'), 'firing');
    world.alert(0, slow('b'), 'firing');
    world.notificationsUntil(minute);
    world.silence('s', [matcher('alertname', 'Slow')], minute, 12 * minute);
    world.route(withChannels(['mail', 'chat']));
    world.alert(2 * minute, slow('b'), 'inactive');
    t.deepEqual(world.notificationsUntil(11 * minute), []);
    t.deepEqual(world.notificationsUntil(20 * minute), ['930s mail resolved: a b✓', '930s chat first: a']);
  },
  'an escalation policy that a receiver gets later opens an incident for alerts that already fire'(t, world) {
    world.alert(0, slow('a'), 'firing');
    world.notificationsUntil(minute);
    world.route(withChannels(['mail'], 'policy'));
    t.deepEqual(world.notificationsUntil(10 * minute), ['330s  first: a']);
    world.route(withChannels(['mail'], 'another'));
    t.deepEqual(world.notificationsUntil(20 * minute), ['630s  first: a']);
    t.deepEqual(
      world.run.emitted<Notification>(topics.notifications).map(({ escalationPolicyId }) => escalationPolicyId),
      [undefined, 'policy', 'another'],
    );
  },
  'routes that move within the document cause no repeated notifications'(t, world) {
    world.alert(0, slow('a', { team: 'both' }), 'firing');
    world.notificationsUntil(minute);
    const { routes, ...root } = defaultRouting.route;
    const added = { receiver: 'office', matchers: [matcher('team', 'db')] };
    world.route({ ...defaultRouting, route: { ...root, routes: [added, ...routes.toReversed()] } });
    t.deepEqual(world.notificationsUntil(50 * minute), []);
    world.alert(50 * minute, slow('a', { team: 'both' }), 'inactive');
    t.deepEqual(world.notificationsUntil(60 * minute), ['3030s mail resolved: a✓', '3030s chat resolved: a✓']);
    t.is(world.run.task.status.entries, 0);
  },
  'changed group labels form new groups, and the former groups are not repeated'(t, world) {
    world.alert(0, slow('a'), 'firing');
    world.notificationsUntil(minute);
    world.route({ ...defaultRouting, route: { ...defaultRouting.route, groupBy: ['instance'] } });
    t.deepEqual(world.notificationsUntil(10 * minute), ['90s mail first: a']);
    t.deepEqual(world.notificationsUntil(70 * minute), ['3690s mail repeated: a']);
  },
  'a shorter interval does not wait for the former one'(t, world) {
    world.route({ ...defaultRouting, route: { ...defaultRouting.route, groupInterval: '4h', repeatInterval: '1d' } });
    world.alert(0, slow('a'), 'firing');
    world.notificationsUntil(minute);
    const { routes, ...root } = defaultRouting.route;
    world.route({ ...withChannels(['mail', 'chat']), route: { ...root, groupInterval: '10s', routes } });
    t.deepEqual(world.notificationsUntil(2 * minute), ['100s chat first: a']);
  },
  'the failure of a channel is notified through another one'(t, world) {
    world.alert(0, { alertname: 'NotificationChannelFailing', failing_channel: 'mail' }, 'firing');
    t.deepEqual(world.notificationsUntil(minute), ['30s chat first: NotificationChannelFailing']);
  },
  'thousands of alerts of one group are one message, which counts the omitted alerts'(t, world) {
    for (let index = 0; index < 3000; index++) world.alert(0, slow(String(index), { text: 'x'.repeat(400) }), 'firing');
    world.notificationsUntil(minute);
    const [notification] = world.run.emitted<Notification>(topics.notifications);
    t.is(notification?.firing, 3000);
    t.is((notification?.alerts.length ?? 0) + (notification?.truncatedAlerts ?? 0), 3000);
    t.true(JSON.stringify(notification).length < 1024 * 1024);
    t.is(notification?.commonLabels['alertname'], 'Slow');
  },
};

for (const [what, story] of Object.entries(stories)) {
  test(what, (t) => story(t, new World()));

  test(`after restarts, ${what}`, (t) => {
    const world = new World();
    const values = world.run.values.bind(world.run);
    const tick = world.run.tick.bind(world.run);
    let calls = 0;
    const restart = (): void => {
      if (calls++ % 7 === 0) world.run.restart();
    };
    world.run.values = (...parameters) => {
      restart();
      return values(...parameters);
    };
    world.run.tick = (...parameters) => {
      restart();
      return tick(...parameters);
    };
    story(t, world);
  });
}

test('a receiver with an escalation policy gets one more notification for the incident, but none for tests or resolved alerts', (t) => {
  const world = new World({
    route: { receiver: 'team', groupBy: ['alertname'], groupWait: '30s', groupInterval: '5m', repeatInterval: '1h' },
    receivers: [{ name: 'team', channelIds: ['mail'], escalationPolicyId: 'policy' }],
  });
  world.alert(0, slow('a'), 'firing');
  world.alert(0, slow('b'), 'firing', { isTest: true });
  world.notificationsUntil(minute);
  world.alert(minute, slow('a'), 'inactive');
  world.notificationsUntil(10 * minute);
  const notifications = world.run.emitted<Notification>(topics.notifications).filter(({ isTest }) => isTest !== true);
  t.deepEqual(
    notifications.map(({ channelId, escalationPolicyId }) => [channelId, escalationPolicyId]),
    [
      ['mail', undefined],
      ['', 'policy'],
      ['mail', undefined],
    ],
  );
  t.is(new Set(notifications.map(({ id }) => id)).size, 3);
});

/** The state and timers of an alert that has fired since the start, as an earlier version stored them. */
const earlierSnapshot = (snapshot: Uint8Array, routing: string, notifiedMs: number | undefined): Uint8Array => {
  const saved = decodeTask(snapshot);
  const labels = slow('a');
  const id = JSON.stringify(labels);
  const groupId = 'all/0/{}:{alertname="Slow"}';
  const alert = { labels, ruleId: 'rule', annotations: {}, value: 1, severity: 'error', reason: '' };
  const state = {
    routing,
    alerts: [[id, { ...alert, status: 'firing', startsAtMs: firstMs }]],
    groups: [
      {
        id: groupId,
        key: '{}:{alertname="Slow"}',
        receiver: 'all',
        routeId: '0',
        labels: { alertname: 'Slow' },
        isTest: false,
        toldMs: notifiedMs,
        members: [[id, notifiedMs === undefined ? 'nothing' : 'error']],
      },
    ],
  };
  const tenants = saved.tenants.map((tenant) => ({
    ...tenant,
    timers: [{ kind: 'clock' as const, dueMs: firstMs + 5 * minute, key: groupId }],
    state: Buffer.from(JSON.stringify(state)),
  }));
  return encodeTask({ ...saved, tenants });
};

const upgradeStories: Readonly<Record<string, readonly [notifiedMs: number | undefined, expected: readonly string[]]>> =
  {
    'an alert that was notified is neither notified again nor forgotten': [
      firstMs + 30 * second,
      ['3630s mail repeated: a', '4230s mail resolved: a✓'],
    ],
    'an alert that nobody was notified of yet is notified': [
      undefined,
      ['330s mail first: a', '3930s mail repeated: a', '4230s mail resolved: a✓'],
    ],
  };
for (const [what, [notifiedMs, expected]] of Object.entries(upgradeStories))
  test(`in the state of an earlier version, ${what}`, (t) => {
    const world = new World();
    world.alert(0, slow('a'), 'firing');
    const routing = `${new Date(firstMs).toISOString()} 1`;
    world.run.restart(earlierSnapshot(world.run.task.snapshot(), routing, notifiedMs));
    const notifications = world.notificationsUntil(70 * minute);
    world.run.restart();
    world.alert(70 * minute, slow('a'), 'inactive');
    t.deepEqual([...notifications, ...world.notificationsUntil(90 * minute)], expected);
    t.is(world.run.task.status.entries, 0);
  });

test('in the state of an earlier version, a channel that is added later is notified of alerts that already fire', (t) => {
  const world = new World();
  world.alert(0, slow('a'), 'firing');
  const routing = `${new Date(firstMs).toISOString()} 1`;
  world.run.restart(earlierSnapshot(world.run.task.snapshot(), routing, firstMs + 30 * second));
  t.deepEqual(world.notificationsUntil(6 * minute), []);
  world.run.restart();
  world.route(withChannels(['mail', 'chat']));
  t.deepEqual(world.notificationsUntil(20 * minute), ['630s chat first: a']);
});

const day = 86_400_000;
/** A local time, which is the form in which windows start. */
const wall = (ms: number): string => new Date(ms).toISOString().slice(0, 16);
const paging = {
  route: { receiver: 'team', groupBy: ['alertname'], groupWait: '30s', groupInterval: '5m', repeatInterval: '3h' },
  receivers: [{ name: 'team', channelIds: ['mail'], escalationPolicyId: 'policy' }],
};
/** Each mutes for the first ten minutes. */
const mutings: Record<string, (world: World) => void> = {
  'a silence': (world) => world.silence('s', [matcher('alertname', 'Slow')], 0, 10 * minute),
  'a maintenance window': (world) => world.window({ startsAt: wall(firstMs) }),
  'a maintenance window that recurs': (world) =>
    world.window({ startsAt: wall(firstMs - 30 * day), recurrence: 'FREQ=DAILY;INTERVAL=3' }),
  'a maintenance window that recurs in a time zone': (world) =>
    // The first of January is a Thursday; 5:30 UTC is midnight there.
    world.window({
      startsAt: wall(firstMs - 14 * day + 330 * minute),
      timeZone: 'Asia/Kolkata',
      recurrence: 'FREQ=WEEKLY;BYDAY=MO,TH',
    }),
};

for (const [what, mute] of Object.entries(mutings)) {
  test(`alerts that fire during ${what} notify nobody, and alerts still firing at its end are notified and paged once`, (t) => {
    const world = new World(paging);
    mute(world);
    world.alert(minute, slow('a'), 'firing');
    world.alert(2 * minute, slow('b'), 'firing');
    world.alert(8 * minute, slow('b'), 'inactive');
    t.deepEqual(world.notificationsUntil(10 * minute - second), []);
    const afterEnd = world.notificationsUntil(2 * 60 * minute);
    t.deepEqual(
      afterEnd.map((text) => text.replace(/^\d+s /, '')),
      ['mail first: a', ' first: a'],
    );
    t.true(afterEnd.every((text) => Number.parseInt(text, 10) <= 15 * 60));
    t.deepEqual(
      world.run.emitted<Notification>(topics.notifications).map(({ escalationPolicyId }) => escalationPolicyId),
      [undefined, 'policy'],
    );
    world.alert(121 * minute, slow('a'), 'inactive');
    t.is(world.notificationsUntil(130 * minute).length, 1, 'its end');
  });
}
