/** Sends notifications to their channels: at least once, in order within each group, with a ledger of the outcomes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { toConsumerGroup } from '../../runtime/consumer-groups.ts';
import { parseSavedDueMs } from '../../runtime/due-time.ts';
import { runEvery } from '../../runtime/interval.ts';
import type { Outbound } from '../../runtime/outbound.ts';
import { type ResourceCache, watchCollection } from '../../runtime/resource-cache.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import { withTimeout } from '../../runtime/timeout.ts';
import { buildTopicMessage } from '../../runtime/topic-message.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { type DeliveryStep, Notification } from '../../schemas/notifications.ts';
import type { Batch, Bus, Message, Producer } from '../../schemas/ports/bus.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Counters } from '../../schemas/ports/counters.ts';
import { ConflictError, type Documents, type Feed, type StoredMetadata } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Mailer } from '../../schemas/ports/mail.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import { parseTopicValue } from '../../schemas/records/values.ts';
import { incidents } from '../../schemas/resources/incident.ts';
import { type NotificationChannel, notificationChannels } from '../../schemas/resources/notification-channel.ts';
import {
  type ChannelOutage,
  channelOutages,
  type PendingDelivery,
  pendingDeliveries,
} from '../../schemas/resources/notification-delivery.ts';
import { type Organization, organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { topics } from '../../schemas/topics.ts';
import { toPlatformEvent } from '../../subjects/alerts/evaluation-record.ts';
import { haveAlertsEnded } from '../../subjects/incidents/end-times.ts';
import { attemptDelivery, type DeliveryAttempt, unsealSettings } from '../../subjects/notification-channels/deliver.ts';
import { recordOutcome } from '../../subjects/notification-channels/health.ts';
import { type AcknowledgeLink, renderMessage } from '../../subjects/notification-channels/message.ts';
import { endOutage, getDestinationId, isProbeDue, recordFailure } from '../../subjects/notification-channels/outage.ts';
import { findChannelType } from '../../subjects/notification-channels/registry.ts';
import { createAcknowledgeLink } from '../../subjects/on-call/acknowledge-link.ts';
import { applyAlerts } from '../incidents/consume-alerts.ts';
import { addCountedPages, decidePageOutcome, getUserChannel } from './pages.ts';
import { DeliveryQueue, type QueuedDelivery } from './queue.ts';

/** Consumer group of this component among the processors. */
export const deliveriesName = 'notification-deliveries';

/**
 * Interval at which a waiting page checks whether resolved alerts fire again: a tenth of its age within these bounds,
 * because the pages of many incidents must not delay others.
 */
const minAlertCheckMs = 10_000;
const maxAlertCheckMs = 60_000;
/** Timeout of a check, so that pages do not wait for slow tables. */
const maxAlertReadMs = 3000;

export interface DeliveriesOptions {
  readonly bus: Pick<Bus, 'createConsumer'>;
  readonly producer: Pick<Producer, 'publish'>;
  readonly documents: Documents;
  /** Tables with the states of alerts. Without them, pages are sent until their incident is resolved */
  readonly columns?: Pick<Columns, 'forTenant'> | undefined;
  readonly counters: Counters;
  readonly mailer: Mailer;
  readonly outbound: Outbound;
  readonly box: SecretBox;
  /** Public URL of the installation; empty for none. */
  readonly publicUrl: string;
  /** Address the API listens on. */
  readonly address?: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Delays between probes of an unreachable destination; the last one is repeated. */
  readonly waitsMs?: readonly number[];
  /** Time an attempt may take before another instance takes over. */
  readonly leaseMs?: number;
  readonly pollMs?: number;
}

export interface RunningDeliveries {
  /** Starts no more attempts, and resolves when running attempts have ended. */
  stop(): Promise<void>;
  /** Rejects when delivery cannot continue. */
  readonly done: Promise<void>;
}

const minuteMs = 60_000;
/** With the jitter, a destination with a longer outage is probed every 30 to 60 seconds. */
const defaultWaitsMs = [5_000, 15_000, 45_000];
/** Jitter, as a share of the wait. */
const jitter = 1 / 3;
/** Age of a message in the queue after which a failed attempt is the last one. */
const maxAgeMs = 6 * 60 * minuteMs;
const defaultLeaseMs = 2 * minuteMs;
const maxRetryAfterMs = 3_600_000;
/**
 * After this many failed probes, every fifth one sends another message than the oldest, because the destination may
 * reject only the oldest one.
 */
const failuresUntilOther = 20;
/** How long ended notifications are remembered, because the bus may redeliver them. */
const rememberedMs = 24 * 60 * minuteMs;
const maxConcurrent = 32;
const maxPerChannel = 4;

const deliveryKey = (tenantId: string, id: string): string => `${tenantId}/${id}`;

class Deliveries {
  readonly #options: DeliveriesOptions;
  readonly #waitsMs: readonly number[];
  readonly #leaseMs: number;
  readonly #queue = new DeliveryQueue();
  readonly #running = new Map<string, Promise<void>>();
  readonly #runningByDestination = new Map<string, number>();
  readonly #channels: ResourceCache<NotificationChannel>;
  readonly #organizations: ResourceCache<Organization>;
  /** Current outages by destination. */
  readonly #outages = new Map<string, ChannelOutage & StoredMetadata>();
  /** End of the last outage of each destination. Messages that waited until then are sent in order. */
  readonly #recoveredAt = new Map<string, string>();
  #isStopping = false;

  constructor(
    options: DeliveriesOptions,
    channels: ResourceCache<NotificationChannel>,
    organizationCache: ResourceCache<Organization>,
  ) {
    this.#options = options;
    this.#channels = channels;
    this.#organizations = organizationCache;
    this.#waitsMs = options.waitsMs ?? defaultWaitsMs;
    this.#leaseMs = options.leaseMs ?? defaultLeaseMs;
  }

  /** Stores the notifications of a batch as documents. Notifications already stored are skipped. */
  async storeBatch({ records }: Batch): Promise<void> {
    for (const { value } of records) {
      for (const notification of this.#parseNotifications(value)) await this.#storeNotification(notification);
    }
  }

  /** Handles a change of a delivery document by any instance. */
  applyChange(tenantId: string, id: string, document: (PendingDelivery & StoredMetadata) | undefined): void {
    const key = deliveryKey(tenantId, id);
    if (document === undefined || document.endedAt !== null) this.#queue.delete(key);
    else {
      const { queuedAt, lane, channelId, notification } = document;
      this.#queue.set({
        key,
        tenantId,
        id,
        queuedAt,
        lane: deliveryKey(tenantId, lane),
        destination: deliveryKey(tenantId, getDestinationId(channelId, notification?.page?.userId ?? null)),
        dueMs: this.#dueMs(document),
      });
    }
  }

  /** Handles a change of a destination's outage by any instance. */
  applyOutage(tenantId: string, destinationId: string, outage: (ChannelOutage & StoredMetadata) | undefined): void {
    const key = deliveryKey(tenantId, destinationId);
    if (outage !== undefined) {
      const current = this.#outages.get(key);
      if (current?.since !== outage.since || current.version < outage.version) this.#outages.set(key, outage);
    } else if (this.#outages.delete(key)) this.#recoveredAt.set(key, new Date(this.#options.clock.now()).toISOString());
  }

  /** Starts due deliveries. Deliveries to an unreachable destination wait, except one that probes it. */
  poll(): void {
    const { clock, metrics } = this.#options;
    metrics.set('oiq_notification_deliveries_pending', this.#queue.size, {});
    if (this.#isStopping) return;
    const waiting = new Map<string, QueuedDelivery[]>();
    for (const delivery of this.#queue.due(clock.now())) {
      if (this.#running.size >= maxConcurrent) return;
      if (this.#outages.has(delivery.destination)) {
        const deliveries = waiting.get(delivery.destination) ?? [];
        waiting.set(delivery.destination, deliveries);
        deliveries.push(delivery);
      } else if (!this.#running.has(delivery.key)) this.#start(delivery);
    }
    for (const [destination, deliveries] of waiting) this.#probe(destination, deliveries);
  }

  /** Probes an unreachable destination with its oldest message, unless a probe is running or not yet due. */
  #probe(destination: string, [oldest, ...others]: readonly QueuedDelivery[]): void {
    const outage = this.#outages.get(destination);
    if (outage === undefined || oldest === undefined || this.#runningByDestination.has(destination)) return;
    const { tenantId } = oldest;
    const channel = this.#channels.find(tenantId, destination.slice(tenantId.length + 1));
    if (!isProbeDue(outage, channel?.updatedAt, this.#options.clock.now())) return;
    const usesOther = outage.failures >= failuresUntilOther && outage.failures % 5 === 0;
    const probedDelivery = usesOther ? others[Math.floor(Math.random() * others.length)] : undefined;
    this.#start(probedDelivery ?? oldest);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#running.values());
  }

  /** Removes deliveries that ended long ago. */
  async sweep(): Promise<void> {
    const { documents, clock } = this.#options;
    const endedBefore = new Date(clock.now() - rememberedMs).toISOString();
    for await (const { tenantId, id } of documents.findInAllTenants(pendingDeliveries, {
      endedAt: { $lt: endedBefore },
    }))
      await documents.forTenant(tenantId).collection(pendingDeliveries).delete(id);
  }

  #parseNotifications(value: Uint8Array): readonly Notification[] {
    try {
      return parseTopicValue(topics.notifications, value);
    } catch (error) {
      if (!(error instanceof PermanentError)) throw error;
      this.#options.log.error({ error }, 'notifications on the bus cannot be read and are skipped');
      return [];
    }
  }

  async #storeNotification(notification: Notification): Promise<void> {
    const { documents, clock, producer } = this.#options;
    if (this.#isClosed(notification.tenantId)) return;
    if (notification.escalationPolicyId !== undefined) {
      const messages = await applyAlerts(documents, notification);
      if (messages.length > 0) await producer.publish(messages);
      return;
    }
    const { tenantId, id, channelId, groupKey } = notification;
    const queuedAt = new Date(clock.now()).toISOString();
    const pending = {
      channelId,
      lane: `${channelId}/${groupKey}`,
      queuedAt,
      attempts: 0,
      dueAt: queuedAt,
      endedAt: null,
    };
    try {
      const document = await documents
        .forTenant(tenantId)
        .collection(pendingDeliveries)
        .insert({ id, ...pending, notification });
      await producer.publish([this.#ledgerEntry(document, notification, undefined)]);
      this.applyChange(tenantId, id, document);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
    }
  }

  #start(delivery: QueuedDelivery): void {
    const { destination, queuedAt } = delivery;
    const running = this.#runningByDestination.get(destination) ?? 0;
    const hasWaited = queuedAt <= (this.#recoveredAt.get(destination) ?? '');
    if (running >= (hasWaited ? 1 : maxPerChannel)) return;
    this.#runningByDestination.set(destination, running + 1);
    const work = this.#handleDelivery(delivery)
      .catch((error: unknown) => {
        // Another instance claimed the delivery first; the change feed delivers its result.
        if (!(error instanceof ConflictError))
          this.#options.log.warn(
            { error, delivery: delivery.id },
            'a delivery could not be read or saved; it is retried',
          );
        delivery.dueMs = this.#options.clock.now() + 1000;
      })
      .finally(() => {
        this.#running.delete(delivery.key);
        const remaining = (this.#runningByDestination.get(destination) ?? 1) - 1;
        if (remaining > 0) this.#runningByDestination.set(destination, remaining);
        else this.#runningByDestination.delete(destination);
      });
    this.#running.set(delivery.key, work);
  }

  async #handleDelivery(delivery: QueuedDelivery): Promise<void> {
    const { documents, producer, clock } = this.#options;
    const stored = documents.forTenant(delivery.tenantId).collection(pendingDeliveries);
    const pending = await stored.find(delivery.id);
    if (pending === undefined || pending.endedAt !== null) {
      this.#queue.delete(delivery.key);
      return;
    }
    const dueMs = this.#dueMs(pending);
    if (dueMs > clock.now()) {
      delivery.dueMs = dueMs;
      return;
    }
    const notification = await this.#dueNotification(delivery, pending);
    if (notification === undefined) return;
    // Only messages that are sent count towards the rate limit.
    const waitMs = await this.#waitForSlot(delivery.tenantId, pending.channelId);
    if (waitMs > 0) {
      delivery.dueMs = clock.now() + waitMs;
      return;
    }
    // A page is queued by a transaction, which writes no ledger entry.
    if (notification.page !== undefined && pending.attempts === 0)
      await producer.publish([this.#ledgerEntry(pending, notification, undefined)]);
    const dueAt = new Date(clock.now() + this.#leaseMs).toISOString();
    const claimed = await stored.update(delivery.id, { dueAt, attempts: pending.attempts + 1 }, pending.version);
    delivery.dueMs = Date.parse(dueAt);
    await this.#attempt(delivery, claimed, notification);
  }

  /** Returns the notification to send now; undefined for a page that must wait or is no longer needed. */
  async #dueNotification(
    delivery: QueuedDelivery,
    pending: PendingDelivery & StoredMetadata,
  ): Promise<Notification | undefined> {
    const { documents } = this.#options;
    const notification = Notification.parse(pending.notification);
    const { tenantId, page } = notification;
    if (this.#isClosed(tenantId)) {
      await this.#withdraw(delivery, pending, notification, 'the organization is closed');
      return undefined;
    }
    if (page === undefined || page.isEnd === true) return notification;
    const decision = await this.#decidePage({ ...notification, page }, Date.parse(pending.queuedAt));
    if (decision.kind === 'send') return addCountedPages(notification, decision.rest);
    const stored = documents.forTenant(tenantId).collection(pendingDeliveries);
    if (decision.kind === 'wait') {
      const updated = await stored.update(
        delivery.id,
        { dueAt: new Date(decision.untilMs).toISOString() },
        pending.version,
      );
      this.applyChange(tenantId, delivery.id, updated);
      return undefined;
    }
    await this.#withdraw(delivery, pending, notification, decision.reason);
    return undefined;
  }

  /**
   * Decides about a page. It waits while all alerts of its incident have ended, but the incident is not resolved yet.
   * If an alert fires again, the page is sent; if the incident is resolved, the page is withdrawn.
   */
  async #decidePage(
    notification: Notification & { readonly page: NonNullable<Notification['page']> },
    queuedMs: number,
  ) {
    const { documents, clock } = this.#options;
    if (!(await this.#isBetweenEndAndResolution(notification)))
      return decidePageOutcome(documents, notification, clock.now());
    const checkMs = Math.min(maxAlertCheckMs, Math.max(minAlertCheckMs, (clock.now() - queuedMs) / 10));
    return { kind: 'wait' as const, untilMs: clock.now() + checkMs };
  }

  /** Returns whether all alerts of an open incident have ended. False if that is unknown. */
  async #isBetweenEndAndResolution({
    tenantId,
    page,
  }: Notification & { readonly page: NonNullable<Notification['page']> }): Promise<boolean> {
    const { documents, columns, log } = this.#options;
    if (columns === undefined) return false;
    const incident = await documents.forTenant(tenantId).collection(incidents).find(page.incidentId);
    if (incident?.status !== 'open') return false;
    const ended = haveAlertsEnded(columns.forTenant(tenantId), incident);
    return withTimeout(maxAlertReadMs, ended).catch((error: unknown) => {
      log.warn({ error, tenantId }, 'the alerts of an incident cannot be read; its page is sent');
      return false;
    });
  }

  /** Returns whether the organization is closed or disabled. Its notifications are not sent. */
  #isClosed(tenantId: string): boolean {
    return this.#organizations.find(organizationsTenant, tenantId)?.disabled === true;
  }

  /** Ends a delivery that is no longer needed, with the reason. */
  async #withdraw(
    delivery: QueuedDelivery,
    pending: PendingDelivery & StoredMetadata,
    notification: Notification,
    answer: string,
  ): Promise<void> {
    const outcome = { outcome: 'withdrawn' as const, statusCode: null, answer, latencyMs: 0 };
    await this.#options.producer.publish([this.#ledgerEntry(pending, notification, outcome)]);
    await this.#endDelivery(delivery, pending);
  }

  async #endDelivery(delivery: QueuedDelivery, { version }: Pick<StoredMetadata, 'version'>): Promise<void> {
    const { documents, clock } = this.#options;
    const changes = { endedAt: new Date(clock.now()).toISOString(), notification: undefined };
    await documents.forTenant(delivery.tenantId).collection(pendingDeliveries).update(delivery.id, changes, version);
    this.#queue.delete(delivery.key);
  }

  /** Returns the destination: a channel, or the contact of the paged user. */
  #findChannel({ tenantId, channelId, page }: Notification): Promise<NotificationChannel | undefined> {
    const userId = page?.userId ?? null;
    return userId === null
      ? Promise.resolve(this.#channels.find(tenantId, channelId))
      : getUserChannel(this.#options.documents, tenantId, { userId, contactId: channelId });
  }

  /** Returns how long the rate limit of the channel makes the delivery wait. */
  async #waitForSlot(tenantId: string, channelId: string): Promise<number> {
    const { maxPerMinute } = this.#channels.find(tenantId, channelId) ?? {};
    if (maxPerMinute === undefined) return 0;
    const bucket = { rate: maxPerMinute / 60, burst: Math.max(1, Math.ceil(maxPerMinute / 6)) };
    const { granted, retryAfterMs } = await this.#options.counters.consume(
      `channel/${tenantId}/${channelId}`,
      bucket,
      1,
    );
    return granted > 0 ? 0 : Math.max(1, retryAfterMs);
  }

  async #attempt(
    delivery: QueuedDelivery,
    pending: PendingDelivery & StoredMetadata,
    notification: Notification,
  ): Promise<void> {
    const { documents, producer, clock, metrics } = this.#options;
    const { tenantId, channelId } = notification;
    const channel = await this.#findChannel(notification);
    const attempt = await this.#deliver(channel, notification);
    const isTooOld = clock.now() - Date.parse(pending.queuedAt) > maxAgeMs;
    const outcome = attempt.outcome === 'retry' && isTooOld ? 'failed' : attempt.outcome;
    const dueMs = await this.#recordReachability(delivery, pending, attempt);
    const entry = this.#ledgerEntry(pending, notification, { ...attempt, outcome }, channel);
    const { answer } = attempt;
    const messages: Message[] = [entry];
    if (channel?.enabled === true && notification.page?.userId == null) {
      const health = { tenantId, channelId, channelName: channel.name, nowMs: clock.now(), outcome, answer };
      const transition = await recordOutcome(documents, health);
      const event = transition && toPlatformEvent(transition);
      if (transition !== undefined) messages.push(buildTopicMessage(topics.alertTransitions, transition));
      if (event !== undefined) messages.push(buildTopicMessage(topics.events, event));
    }
    await producer.publish(messages);
    const stored = documents.forTenant(tenantId).collection(pendingDeliveries);
    metrics.add('oiq_notification_attempts_total', 1, { type: channel?.settings.type ?? 'none', outcome });
    if (outcome === 'retry') {
      const updated = await stored.update(delivery.id, { dueAt: new Date(dueMs).toISOString() }, pending.version);
      this.applyChange(tenantId, delivery.id, updated);
      return;
    }
    await this.#endDelivery(delivery, pending);
  }

  /**
   * Records whether the destination could be reached, and returns when the delivery may be attempted again: at once,
   * because an outage holds it back. If only this message fails repeatedly while others are delivered, it waits alone.
   */
  async #recordReachability(
    { tenantId, destination }: QueuedDelivery,
    { attempts }: Pick<PendingDelivery, 'attempts'>,
    attempt: DeliveryAttempt,
  ): Promise<number> {
    const { documents, clock } = this.#options;
    const destinationId = destination.slice(tenantId.length + 1);
    const isAway = this.#outages.has(destination);
    const nowMs = clock.now();
    if (attempt.outcome !== 'retry') {
      // A rejection is a result, too.
      if (isAway) await endOutage(documents, tenantId, destinationId);
      this.applyOutage(tenantId, destinationId, undefined);
      return nowMs;
    }
    if (!isAway && attempts > 1) return this.#findProbeMs(attempts, attempt);
    const failure = { tenantId, destinationId, nowMs };
    const outage = await recordFailure(documents, failure, (failures) => this.#findProbeMs(failures, attempt));
    this.applyOutage(tenantId, destinationId, outage);
    return nowMs;
  }

  async #deliver(channel: NotificationChannel | undefined, notification: Notification): Promise<DeliveryAttempt> {
    const failure = { outcome: 'failed' as const, statusCode: null, latencyMs: 0 };
    if (channel === undefined) return { ...failure, answer: 'the channel was deleted' };
    if (!channel.enabled) return { ...failure, answer: 'the channel is not enabled' };
    const { box, publicUrl, address } = this.#options;
    const type = findChannelType(channel.settings.type);
    const isContact = notification.page?.userId != null;
    const settings = unsealSettings(channel.settings, type, box, isContact ? 'contact' : 'notification-channel');
    if (settings === undefined)
      return {
        ...failure,
        answer: 'its secrets were encrypted with another key of the installation: enter them again',
      };
    try {
      const { timeZone } = this.#organizations.find(organizationsTenant, notification.tenantId) ?? {};
      // Anybody with access to the item in the external service could use the link, so the service acknowledges instead.
      const acknowledge = type.opens === undefined ? await this.#acknowledgeLink(notification) : undefined;
      const { templates } = channel;
      const message = renderMessage(notification, { templates, publicUrl, address, timeZone, acknowledge });
      return await attemptDelivery(type, { message, settings }, this.#options);
    } catch (error) {
      return {
        ...failure,
        outcome: 'retry',
        answer: `it could not be sent: ${(error as Error).message}`.slice(0, 500),
      };
    }
  }

  /** Returns the link with which a user acknowledges; undefined if the page has no user. */
  async #acknowledgeLink({ tenantId, page }: Notification): Promise<AcknowledgeLink | undefined> {
    const { documents, clock, publicUrl, address } = this.#options;
    const baseUrl = publicUrl === '' && address !== undefined ? `http://${address}` : publicUrl;
    if (page === undefined || page.userId === null || baseUrl === '') return undefined;
    const link = { tenantId, incidentId: page.incidentId, personId: page.userId };
    return createAcknowledgeLink(documents, link, { baseUrl, nowMs: clock.now() });
  }

  /** Returns when the delivery may be attempted. */
  #dueMs({ dueAt }: PendingDelivery): number {
    return parseSavedDueMs(dueAt, this.#options.clock.now(), Math.max(maxRetryAfterMs, this.#leaseMs));
  }

  /** Returns the time of the next probe of a destination after this number of failures. */
  #findProbeMs(failures: number, { retryAfterMs = 0 }: DeliveryAttempt): number {
    const waitMs = this.#waitsMs[Math.min(failures, this.#waitsMs.length) - 1] ?? 0;
    // Jitter, so that destinations that failed at the same time are not probed at the same time.
    const spreadMs = waitMs * (1 - jitter + 2 * jitter * Math.random());
    return this.#options.clock.now() + Math.max(spreadMs, Math.min(retryAfterMs, maxRetryAfterMs));
  }

  /** Builds an entry of the ledger. */
  #ledgerEntry(
    pending: PendingDelivery & StoredMetadata,
    notification: Notification,
    attempt:
      | (Omit<DeliveryAttempt, 'outcome'> & { readonly outcome: DeliveryAttempt['outcome'] | 'withdrawn' })
      | undefined,
    channel: NotificationChannel | undefined = this.#channels.find(notification.tenantId, notification.channelId),
  ): Message {
    const {
      tenantId,
      id,
      channelId,
      receiver,
      groupKey,
      status,
      reason,
      firing,
      resolved,
      isTest = false,
    } = notification;
    const states = { delivered: 'delivered', failed: 'failed', retry: 'retrying', withdrawn: 'withdrawn' } as const;
    const entry: DeliveryStep = {
      tenantId,
      deliveryId: id,
      channelId,
      receiver,
      groupKey,
      status,
      reason,
      firing,
      resolved,
      isTest,
      channelType: channel?.settings.type ?? '',
      queuedAtMs: Date.parse(pending.queuedAt),
      // A withdrawn notification had no attempt of its own.
      attempt: pending.attempts + (attempt?.outcome === 'withdrawn' ? 1 : 0),
      atMs: this.#options.clock.now(),
      state: attempt === undefined ? 'queued' : states[attempt.outcome],
      statusCode: attempt?.statusCode ?? null,
      answer: attempt?.answer ?? '',
      latencyMs: attempt?.latencyMs ?? null,
    };
    return buildTopicMessage(topics.notificationDeliveries, entry);
  }
}

/** Starts consuming and sending notifications. Several instances share the work. */
export const startDeliveries = async (options: DeliveriesOptions): Promise<RunningDeliveries> => {
  const { bus, documents, pollMs = 250, log } = options;
  const channels = await watchCollection(documents, notificationChannels);
  const organizationCache = await watchCollection(documents, organizations);
  const deliveries = new Deliveries(options, channels, organizationCache);
  const feed: Feed = await documents.follow(pendingDeliveries, ({ tenantId, id, document }) =>
    deliveries.applyChange(tenantId, id, document),
  );
  const outageFeed: Feed = await documents.follow(channelOutages, ({ tenantId, id, document }) =>
    deliveries.applyOutage(tenantId, id, document),
  );
  const consumer = bus.createConsumer({ group: toConsumerGroup('processors', deliveriesName), maxWaitMs: 100 });
  const done = consumer.run([topics.notifications.name], (batch) => deliveries.storeBatch(batch));
  const stopPolling = runEvery(pollMs, () => deliveries.poll());
  const stopping = new AbortController();
  const sweeping = (async () => {
    while (!stopping.signal.aborted) {
      await sleep(60 * minuteMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
      if (!stopping.signal.aborted)
        await deliveries
          .sweep()
          .catch((error: unknown) => log.warn({ error }, 'finished deliveries could not be deleted'));
    }
  })();
  return {
    done,
    async stop() {
      stopping.abort();
      stopPolling();
      await consumer.stop();
      await done.catch(() => undefined);
      await deliveries.stop();
      await sweeping;
      await Promise.all([feed.close(), outageFeed.close(), channels.close(), organizationCache.close()]);
    },
  };
};
