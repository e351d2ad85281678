/**
 * Runs a processor over one partition: it consumes messages and returns emissions. The output depends only on the
 * snapshot and the messages.
 */
import { randomUUID } from 'node:crypto';
import { isReplayForAnotherGroup, toConsumerGroup } from '../../runtime/consumer-groups.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { type BusRecord, countRecords, type Message } from '../../schemas/ports/bus.ts';
import { platformTenant, type StoredMetadata } from '../../schemas/ports/documents.ts';
import { ConsumedPositions, parseEmittedPosition } from '../../schemas/records/emitted-position.ts';
import { BatchReport, type BatchResult, type TaskStatus } from './batch-result.ts';
import type { Context, Emits, Follows, Processor } from './definition.ts';
import { FollowedDocuments } from './documents.ts';
import { Emissions, prepareValue } from './emissions.ts';
import type { PartitionReader } from './fair-queue.ts';
import { MessageStepper } from './message-stepper.ts';
import { encodeOrdinals } from './ordinals.ts';
import { decodeTask, encodeTask, type SavedTenant } from './task-snapshot.ts';
import { areTimersPaused, computeNextTimerMs, getTenantBytes, type Tenant } from './tenant.ts';
import { endlessSlice, type TimeSlice } from './time-slice.ts';
import { Timers } from './timers.ts';

export interface TaskOptions {
  readonly topic: string;
  readonly partition: number;
  /** Shared by the tasks of a thread. */
  readonly documents?: FollowedDocuments;
  /** Returns whether a tenant has the processor's entitlement; absent if all tenants do. */
  readonly isEntitled?: (tenantId: string) => boolean;
  /** Number of message keys over which the values of a tenant are spread. Default 32. */
  readonly buckets?: number;
  /** Random identifier, unique across tasks. */
  readonly emitter?: string;
  readonly watch?: Watch;
}

/** Receives the next action of a task before it starts, because that action may never end. */
export interface Watch {
  beginMessage(offset: number): void;
  beginTimers(tenantId: string): void;
}

/** Minimum silence before time advances without messages, because clocks differ and messages are in transit. */
const minIdleMs = 5_000;
/** Messages that are stepped as one unit. */
interface Range {
  readonly messages: readonly BusRecord[];
  readonly last: number;
  /** Index of the next message. */
  index: number;
  /** By tenant, so that a batch sees one version of the configuration. */
  readonly entitled: Map<string, boolean>;
  readonly follows: Map<string, Context<Emits, Follows, unknown>['follows']>;
}

/** A message whose items were not all stepped yet. */
interface MessageInProgress {
  readonly tenant: Tenant;
  readonly message: BusRecord;
  readonly stepper: MessageStepper;
  readonly evicted: number;
}

/**
 * Maximum timer calls per tenant in a row, so that a timer that always reschedules itself does not block the thread.
 */
const maxTimers = 10_000;

export class Task implements PartitionReader {
  /** Whether the states of the snapshot could not be read and were emptied. */
  readonly isEmptied: boolean = false;
  readonly partition: string;
  readonly #processor: Processor;
  readonly #options: TaskOptions;
  readonly #group: string;
  readonly #documents: FollowedDocuments;
  readonly #tenants = new Map<string, Tenant>();
  #positions: ConsumedPositions;
  readonly #skipped: Set<number>;
  readonly #emissions: Emissions;
  readonly #follows: readonly (readonly [string, { readonly name: string }])[];
  readonly #idleMs: number;
  /** Whether the topic is raw. Its sink already sends a malformed message to the dead letters, so processors do not. */
  readonly #isRaw: boolean;
  readonly #emitter: string;
  #report = new BatchReport();
  #outbox: readonly Message[];
  #nextOffset: number;
  #clockMs: number;
  #tick: number;
  /** Earliest time at which the clock can make a timer due. */
  #checkMs = Number.NEGATIVE_INFINITY;
  #range: Range | undefined;
  #inProgress: MessageInProgress | undefined;
  /** Number of messages begun, plus the number of items of finished messages. */
  #processedCount = 0;

  /**
   * Opens a task from a result of `snapshot`; throws if it cannot be read. Without one the task begins empty at offset
   * 0.
   */
  constructor(processor: Processor, options: TaskOptions, saved?: Uint8Array) {
    this.partition = `${options.topic}/${options.partition}`;
    this.#processor = processor;
    this.#options = options;
    this.#group = toConsumerGroup('processors', processor.name);
    this.#documents = options.documents ?? new FollowedDocuments();
    this.#follows = Object.entries(processor.follows);
    this.#isRaw = processor.reads.topics.some(({ name, value }) => name === options.topic && value === undefined);
    this.#emissions = new Emissions(options.buckets ?? 32);
    this.#idleMs = Math.max(2 * processor.latenessMs, minIdleMs);
    const task = saved === undefined ? undefined : decodeTask(saved);
    this.#emitter = task?.emitter ?? options.emitter ?? randomUUID();
    this.#nextOffset = task?.nextOffset ?? 0;
    this.#clockMs = task?.clockMs ?? Number.NEGATIVE_INFINITY;
    this.#tick = task?.tick ?? 0;
    this.#outbox = task?.outbox ?? [];
    this.#skipped = new Set(task?.skipped);
    this.#positions = new ConsumedPositions(
      task?.positions.map(([emitter, offset, part]) => ({ emitter, offset, part })),
    );
    if (task !== undefined) this.isEmptied = !this.#restore(task.tenants, task.stateVersion);
  }

  /**
   * Steps the messages of a range up to `last`, in order. Messages that were already stepped are skipped. Never throws
   * for an error of a step.
   */
  batch(messages: readonly BusRecord[], last = messages.at(-1)?.offset ?? this.#nextOffset - 1): BatchResult {
    this.begin(messages, last);
    return this.advance() as BatchResult;
  }

  /** Starts a range like `batch`, in time slices: call `advance` until it returns a result. */
  begin(messages: readonly BusRecord[], last: number): void {
    this.#range = { messages, last, index: 0, entitled: new Map(), follows: new Map() };
  }

  /** Continues the range; returns `undefined` if the time slice ended first. */
  advance(slice: TimeSlice = endlessSlice): BatchResult | undefined {
    const range = this.#range;
    if (range === undefined) throw new Error('no range of messages was begun');
    if (this.#inProgress !== undefined) this.#options.watch?.beginMessage(this.#inProgress.message.offset);
    while (this.#processNext(range, slice)) if (slice.isOver()) return undefined;
    if (this.#inProgress !== undefined) return undefined;
    this.#range = undefined;
    this.#nextOffset = Math.max(this.#nextOffset, range.last + 1);
    for (const offset of this.#skipped) if (offset < this.#nextOffset) this.#skipped.delete(offset);
    return this.#createResult(this.#emissions.drain(range.last, { emitter: this.#emitter, tick: this.#tick }));
  }

  /** Continues to the end of a message; returns `false` if the time slice ended first, or after the last message. */
  #processNext(range: Range, slice: TimeSlice): boolean {
    if (this.#inProgress === undefined) {
      const message = range.messages[range.index++];
      if (message === undefined) return false;
      if (message.offset < this.#nextOffset) return true;
      this.#beginMessage(message, range);
    }
    if (this.#inProgress !== undefined && !this.#finishMessage(this.#inProgress, slice)) return false;
    this.#runDueTimers();
    return true;
  }

  /** Steps messages without effects except on the state. */
  replay(messages: readonly BusRecord[], last?: number): void {
    this.batch(messages, last);
  }

  /**
   * Runs the timers that the clock made due while no message advances the time; `undefined` if there are none. Its
   * emissions are part of snapshots until `published` is called: save a snapshot before publishing them.
   */
  tick(clockMs: number): BatchResult | undefined {
    if (clockMs < this.#clockMs || this.#getNextTimerMs() > clockMs) return undefined;
    this.#tick++;
    this.#clockMs = clockMs;
    this.#runDueTimers();
    this.#outbox = this.#emissions.drain(this.#nextOffset - 1, { emitter: this.#emitter, tick: this.#tick });
    return this.#createResult(this.#outbox);
  }

  /** Emissions of a tick that may not be published yet. */
  get outbox(): readonly Message[] {
    return this.#outbox;
  }

  /** Clears the outbox. */
  clearOutbox(): void {
    this.#outbox = [];
  }

  get offset(): number {
    const nextMessage = this.#inProgress?.message ?? this.#range?.messages[this.#range.index];
    return Math.max(nextMessage?.offset ?? 0, this.#nextOffset);
  }

  get rangeLength(): number {
    if (this.#range === undefined) return 0;
    const { messages, last } = this.#range;
    return last + 1 - (messages[0]?.offset ?? last);
  }

  /** Counts a message as an item too, because some messages are skipped. */
  get items(): number {
    return this.#processedCount + (this.#inProgress?.stepper.processedItems ?? 0);
  }

  get status(): TaskStatus {
    let entries = 0;
    let bytes = 0;
    for (const tenant of this.#tenants.values()) {
      entries += tenant.size.entries + tenant.timers.size;
      bytes += getTenantBytes(tenant);
    }
    return {
      nextOffset: this.#nextOffset,
      nextTickMs: this.#getNextTimerMs(),
      tenants: this.#tenants.size,
      entries,
      bytes,
    };
  }

  snapshot(): Uint8Array {
    return encodeTask({
      stateVersion: this.#processor.state.version,
      emitter: this.#emitter,
      nextOffset: this.#nextOffset,
      clockMs: this.#clockMs,
      tick: this.#tick,
      skipped: [...this.#skipped],
      outbox: this.#outbox,
      positions: [...this.#positions].map(({ emitter, offset, part }) => [emitter, offset, part]),
      tenants: [...this.#tenants.values()].map(({ id, latestMs, watermarkMs, lastStepMs, limit, timers, state }) => ({
        id,
        latestMs,
        watermarkMs,
        seenMs: lastStepMs,
        limit,
        timers: timers.list(),
        state: this.#processor.state.save(state),
      })),
    });
  }

  /** Continues at an offset. If the offset is earlier, the emitters' positions are reset. */
  moveTo(offset: number): void {
    if (offset < this.#nextOffset) {
      this.#clockMs = Number.NEGATIVE_INFINITY;
      this.#positions = new ConsumedPositions();
    }
    this.#nextOffset = offset;
  }

  /** Applies a change of a followed document. Call it between batches only, like all other methods. */
  applyChange(collection: string, tenantId: string, id: string, document: (object & StoredMetadata) | undefined): void {
    this.#documents.applyChange(collection, tenantId, id, document);
  }

  /**
   * Skips the messages of a tenant for this long, by the clock of the bus (before the first message, from `nowMs` on).
   * The decision is external: it must be in a saved snapshot before the next batch.
   */
  limitTenant(tenantId: string, reason: string, forMs: number, nowMs = Date.now()): void {
    const sinceMs = Number.isFinite(this.#clockMs) ? this.#clockMs : nowMs;
    this.#getTenant(tenantId).limit = { reason, untilMs: sinceMs + forMs };
    this.#checkMs = Number.NEGATIVE_INFINITY;
  }

  /** Sends the message at this offset to the dead letters when it arrives. Must be saved first, like `limit`. */
  skip(offset: number): void {
    this.#skipped.add(offset);
  }

  #restore(tenants: readonly SavedTenant[], version: number): boolean {
    const states = tenants.map(({ state }) => this.#restoreState(state, version));
    if (states.includes(undefined)) return false;
    for (const [index, { id, latestMs, watermarkMs, seenMs, limit, timers }] of tenants.entries()) {
      const tenant = this.#getTenant(id, states[index]);
      Object.assign(tenant, { latestMs, watermarkMs, lastStepMs: seenMs, limit } satisfies Partial<Tenant>);
      for (const { kind, dueMs, key } of timers) tenant.timers.set(kind, dueMs, key);
    }
    return true;
  }

  #restoreState(saved: Uint8Array, version: number): unknown {
    const { state } = this.#processor;
    // Parts of a snapshot share one buffer, so a state gets its own copy.
    const copy = new Uint8Array(saved);
    try {
      const current = version === state.version ? copy : state.upgrade?.(copy, version);
      return current === undefined ? undefined : state.open(current);
    } catch {
      return undefined;
    }
  }

  #getTenant(id: string, state?: unknown): Tenant {
    const existing = this.#tenants.get(id);
    if (existing !== undefined) return existing;
    const tenantState = state ?? this.#processor.state.open();
    const timers = new Timers();
    const noTimeMs = Number.NEGATIVE_INFINITY;
    const tenant: Tenant = {
      id,
      timers,
      state: tenantState,
      latestMs: noTimeMs,
      watermarkMs: noTimeMs,
      lastStepMs: noTimeMs,
      limit: undefined,
      size: this.#processor.state.size(tenantState),
      context: this.#createContext(id, tenantState, timers),
    };
    this.#tenants.set(id, tenant);
    return tenant;
  }

  #createContext(tenantId: string, state: unknown, timers: Timers): Context<Emits, Follows, unknown> {
    const emit = Object.entries(this.#processor.emits).map(([name, topic]) => [
      name,
      (value: unknown): void => {
        this.#emissions.add(prepareValue(topic, tenantId, value));
        this.#report.emit(topic.name);
      },
    ]);
    return {
      tenantId,
      state,
      emit: Object.fromEntries(emit),
      follows: {},
      clockMs: 0,
      watermarkMs: 0,
      setTimer: (kind, due, key = '') => {
        timers.set(kind, due, key);
        this.#checkMs = Math.min(this.#checkMs, due);
      },
      drop: (reason) => this.#report.drop(reason),
    };
  }

  /** Prepares the context of a tenant for the next call. */
  #prepareContext({ id, context, watermarkMs }: Tenant): Context<Emits, Follows, unknown> {
    const cachedDocuments = this.#range?.follows.get(id);
    if (cachedDocuments !== undefined) context.follows = cachedDocuments;
    else if (this.#follows.length > 0) {
      context.follows = Object.fromEntries(
        this.#follows.map(([name, { name: collection }]) => [
          name,
          this.#documents.getDocumentSnapshot(collection, id),
        ]),
      );
      this.#range?.follows.set(id, context.follows);
    }
    context.clockMs = this.#clockMs;
    context.watermarkMs = watermarkMs;
    return context;
  }

  /** Begins a message, and marks it as current if it has items to step. */
  #beginMessage(message: BusRecord, range: Range): void {
    this.#processedCount++;
    this.#options.watch?.beginMessage(message.offset);
    this.#clockMs = Math.max(this.#clockMs, message.timestampMs);
    const tenant = this.#findTenantToStep(message, range);
    if (tenant === undefined) return;
    const { evicted } = tenant.size;
    const stepper = this.#openMessage(tenant, message);
    if (stepper === undefined) this.#recordUsage(tenant, { ms: 0, poison: this.#isRaw ? 0 : 1, evicted });
    else this.#inProgress = { tenant, message, stepper, evicted };
  }

  /** Returns the tenant whose state the message changes; `undefined` if the message is skipped. */
  #findTenantToStep(message: BusRecord, range: Range): Tenant | undefined {
    const { headers, offset } = message;
    if (isReplayForAnotherGroup(headers, this.#group)) return undefined;
    const isDuplicate = this.#isDuplicate(message);
    if (isDuplicate === true) this.#report.drop('duplicate', countRecords(headers));
    if (isDuplicate !== false) return undefined;
    const tenantId = headers['tenant'] ?? platformTenant;
    if (!this.#isEntitled(tenantId, range)) {
      this.#report.drop('not-entitled', countRecords(headers));
      return undefined;
    }
    if (this.#skipped.has(offset)) {
      const text = 'the message occupied a thread for too long, or crashed it';
      this.#report.poison.push({ offset, tenantId, ordinals: undefined, reason: 'too-slow', message: text });
      return undefined;
    }
    const tenant = this.#getTenant(tenantId);
    if (tenant.limit === undefined) return tenant;
    if (this.#clockMs < tenant.limit.untilMs) {
      this.#report.limit(tenantId, tenant.limit.reason, countRecords(headers));
      return undefined;
    }
    tenant.limit = undefined;
    return tenant;
  }

  /**
   * Returns whether the message was received before; `undefined` if its position is unreadable, which makes it poison.
   */
  #isDuplicate({ headers, offset }: BusRecord): boolean | undefined {
    try {
      const position = parseEmittedPosition(headers);
      return position !== undefined && !this.#positions.accept(position);
    } catch (error) {
      this.#recordPoison({ id: headers['tenant'] ?? platformTenant }, { offset }, error, undefined);
      return undefined;
    }
  }

  #isEntitled(tenantId: string, { entitled }: Range): boolean {
    const cached = entitled.get(tenantId);
    if (cached !== undefined) return cached;
    const isTenantEntitled = this.#options.isEntitled?.(tenantId) !== false;
    entitled.set(tenantId, isTenantEntitled);
    return isTenantEntitled;
  }

  /** Returns the items of the message; `undefined`, after recording poison, if it cannot be read. */
  #openMessage(tenant: Tenant, message: BusRecord): MessageStepper | undefined {
    try {
      const records = this.#processor.reads.decode(message, this.#options);
      return new MessageStepper(this.#processor, message, records, this.#prepareContext(tenant));
    } catch (error) {
      if (this.#isRaw) this.#report.drop('malformed', countRecords(message.headers));
      else this.#recordPoison(tenant, message, error, undefined);
      return undefined;
    }
  }

  /** Steps the remaining items of a message; returns `false` if the time slice ended first. */
  #finishMessage({ tenant, message, stepper, evicted }: MessageInProgress, slice: TimeSlice): boolean {
    if (!stepper.run(slice)) return false;
    this.#inProgress = undefined;
    const { processedItems, elapsedMs, latestMs, failedOrdinals, failure, hasOnlyFailures } = stepper;
    this.#report.items += processedItems;
    this.#processedCount += processedItems;
    tenant.latestMs = Math.max(tenant.latestMs, latestMs);
    if (failedOrdinals.length > 0)
      this.#recordPoison(tenant, message, failure, hasOnlyFailures ? undefined : encodeOrdinals(failedOrdinals));
    this.#recordUsage(tenant, { ms: elapsedMs, poison: failedOrdinals.length > 0 ? 1 : 0, evicted });
    return true;
  }

  /** Accounts for a message of the tenant that was stepped or could not be read. */
  #recordUsage(tenant: Tenant, { ms, poison, evicted }: { ms: number; poison: number; evicted: number }): void {
    const startMs = performance.now();
    tenant.lastStepMs = this.#clockMs;
    if (this.#processor.readsTime) {
      tenant.watermarkMs = Math.max(tenant.watermarkMs, tenant.latestMs - this.#processor.latenessMs);
      this.#runTimers(tenant);
    }
    tenant.size = this.#processor.state.size(tenant.state);
    this.#report.evicted += tenant.size.evicted - evicted;
    this.#report.addUsage(tenant.id, {
      ms: ms + performance.now() - startMs,
      messages: 1,
      poison,
      stateBytes: getTenantBytes(tenant),
    });
  }

  #recordPoison(
    { id }: Pick<Tenant, 'id'>,
    { offset }: Pick<BusRecord, 'offset'>,
    error: unknown,
    ordinals: string | undefined,
  ): void {
    const reason = error instanceof PermanentError ? error.reason : 'step-failed';
    this.#report.poison.push({ offset, tenantId: id, ordinals, reason, message: errorMessage(error) });
  }

  /** Returns when the clock makes the next timer of any tenant due. */
  #getNextTimerMs(): number {
    let due = Number.POSITIVE_INFINITY;
    for (const tenant of this.#tenants.values()) due = Math.min(due, computeNextTimerMs(tenant, this.#idleMs));
    return due;
  }

  /** Runs the timers of every tenant that the clock made due. */
  #runDueTimers(): void {
    if (this.#clockMs < this.#checkMs || this.#processor.timer === undefined) return;
    for (const tenant of this.#tenants.values()) {
      if (computeNextTimerMs(tenant, this.#idleMs) > this.#clockMs) continue;
      if (Math.max(tenant.timers.nextMs('watermark'), tenant.lastStepMs) + this.#idleMs <= this.#clockMs)
        tenant.watermarkMs = Math.max(tenant.watermarkMs, this.#clockMs - this.#idleMs);
      const startMs = performance.now();
      this.#runTimers(tenant);
      const ms = performance.now() - startMs;
      this.#report.addUsage(tenant.id, { ms, messages: 0, poison: 0, stateBytes: getTenantBytes(tenant) });
    }
    this.#checkMs = this.#getNextTimerMs();
  }

  #runTimers(tenant: Tenant): void {
    if (this.#processor.timer === undefined || areTimersPaused(tenant, this.#clockMs)) return;
    let context: Context<Emits, Follows, unknown> | undefined;
    for (let calls = 0; calls < maxTimers; calls++) {
      const timer = tenant.timers.removeDue(this.#clockMs, tenant.watermarkMs);
      if (timer === undefined) break;
      if (context === undefined) this.#options.watch?.beginTimers(tenant.id);
      context ??= this.#prepareContext(tenant);
      try {
        this.#processor.timer(timer, context);
      } catch (error) {
        this.#report.failedTimers.push({ tenantId: tenant.id, key: timer.key, message: errorMessage(error) });
      }
    }
    if (context === undefined) return;
    const { evicted } = tenant.size;
    tenant.size = this.#processor.state.size(tenant.state);
    this.#report.evicted += tenant.size.evicted - evicted;
  }

  #createResult(messages: readonly Message[]): BatchResult {
    const result = this.#report.buildResult(messages);
    this.#report = new BatchReport();
    return result;
  }
}

const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));
