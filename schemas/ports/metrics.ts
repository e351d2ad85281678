/** Names of the platform's own metrics: a closed list, declared once. `/metrics`, OTLP export and the documentation come from it. */

interface Definition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly summary: string;
  /** UCUM, as OpenTelemetry spells it: `s`, `By`, `{record}`. */
  readonly unit: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[];
}

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Prometheus names carry unit and `_total` already. */
export const metricDefinitions = {
  oiq_ingest_requests_total: {
    type: 'counter',
    unit: '{request}',
    labels: ['receiver', 'signal', 'outcome'],
    summary: 'Ingest requests by outcome: accepted, or the reason of the refusal',
  },
  oiq_ingest_records_total: {
    type: 'counter',
    unit: '{record}',
    labels: ['receiver', 'signal', 'outcome'],
    summary: 'Log records, data points, spans and samples by outcome',
  },
  oiq_ingest_bytes_total: {
    type: 'counter',
    unit: 'By',
    labels: ['receiver', 'signal', 'outcome'],
    summary: 'Decompressed bytes of ingest requests by outcome',
  },
  oiq_ingest_duration_seconds: {
    type: 'histogram',
    unit: 's',
    labels: ['receiver', 'signal'],
    buckets: seconds,
    summary: 'From the last byte of a request to its answer',
  },
  oiq_beats_total: {
    type: 'counter',
    unit: '{request}',
    labels: ['status'],
    summary: 'Requests that tell beats of jobs, by the status of their answer',
  },
  oiq_bus_published_messages_total: {
    type: 'counter',
    unit: '{message}',
    labels: ['topic'],
    summary: 'Messages that the bus acknowledged',
  },
  oiq_bus_published_bytes_total: {
    type: 'counter',
    unit: 'By',
    labels: ['topic'],
    summary: 'Bytes of values that the bus acknowledged',
  },
  oiq_bus_publish_duration_seconds: {
    type: 'histogram',
    unit: 's',
    labels: ['topic'],
    buckets: seconds,
    summary: 'From publish to acknowledgement',
  },
  oiq_consumer_lag_messages: {
    type: 'gauge',
    unit: '{message}',
    labels: ['group', 'topic', 'partition'],
    summary: 'Messages that a consumer group has not committed; NaN while unknown',
  },
  oiq_consumer_lag_seconds: {
    type: 'gauge',
    unit: 's',
    labels: ['group', 'topic', 'partition'],
    summary:
      'Age of the oldest message that a consumer group has not committed, to 5 seconds; 0 without lag, NaN while unknown',
  },
  oiq_consumer_lag_largest_share: {
    type: 'gauge',
    unit: '1',
    labels: ['group', 'topic'],
    summary:
      "Part of a group's lag on a topic that lies in one partition, 0 to 1; near 1 while the lag grows, one partition is the bottleneck",
  },
  oiq_consumer_still_seconds: {
    type: 'gauge',
    unit: 's',
    labels: ['group'],
    summary: 'How long a consumer group has committed nothing of a partition where messages wait; 0 where it gets on',
  },
  oiq_consumer_members: {
    type: 'gauge',
    unit: '{member}',
    labels: ['group'],
    summary: 'Members that run a consumer group, in all processes, to 30 seconds; NaN while unknown',
  },
  oiq_consumer_batches_total: {
    type: 'counter',
    unit: '{batch}',
    labels: ['group', 'outcome'],
    summary: 'Batches by outcome: committed or rejected',
  },
  oiq_dead_letters_total: {
    type: 'counter',
    unit: '{message}',
    labels: ['origin', 'reason'],
    summary: 'Payloads copied to the dead-letter topic',
  },
  oiq_processor_items_total: {
    type: 'counter',
    unit: '{item}',
    labels: ['processor'],
    summary: 'Records and values that a processor stepped',
  },
  oiq_processor_dropped_total: {
    type: 'counter',
    unit: '{item}',
    labels: ['processor', 'reason'],
    summary:
      'Items that a processor left out, by its own reasons and `late`, `malformed`, `not-entitled`, `duplicate`, `not-kept`',
  },
  oiq_processor_emitted_values_total: {
    type: 'counter',
    unit: '{value}',
    labels: ['processor', 'topic'],
    summary: 'Values that a processor emitted',
  },
  oiq_processor_limited_records_total: {
    type: 'counter',
    unit: '{record}',
    labels: ['processor', 'tenant', 'reason'],
    summary:
      'Records that a processor passed by, as their tenant took too much time or state, or sent what it cannot process',
  },
  oiq_processor_failed_timers_total: {
    type: 'counter',
    unit: '{timer}',
    labels: ['processor'],
    summary: 'Calls of a timer that threw',
  },
  oiq_processor_step_seconds_total: {
    type: 'counter',
    unit: 's',
    labels: ['processor'],
    summary: 'Time of threads that a processor took',
  },
  oiq_processor_state_entries: {
    type: 'gauge',
    unit: '{entry}',
    labels: ['processor'],
    summary: 'Entries and timers that a processor keeps in this process',
  },
  oiq_processor_state_bytes: {
    type: 'gauge',
    unit: 'By',
    labels: ['processor'],
    summary: 'What a processor keeps in this process, roughly',
  },
  oiq_processor_evictions_total: {
    type: 'counter',
    unit: '{entry}',
    labels: ['processor'],
    summary: 'Entries of state that made way for others',
  },
  oiq_processor_snapshots_total: {
    type: 'counter',
    unit: '{snapshot}',
    labels: ['processor', 'outcome'],
    summary: 'Snapshots of state by outcome: saved, conflict (another member has the partition) or failed',
  },
  oiq_processor_replayed_messages_total: {
    type: 'counter',
    unit: '{message}',
    labels: ['processor'],
    summary: 'Messages that were stepped again to rebuild state, with no effects',
  },
  oiq_duplicates_total: {
    type: 'counter',
    unit: '{message}',
    labels: ['group'],
    summary: 'Messages of derived topics that were published again after a crash, and had landed before',
  },
  oiq_landed_rows_total: {
    type: 'counter',
    unit: '{row}',
    labels: ['table'],
    summary: 'Rows inserted into ClickHouse',
  },
  oiq_insert_duration_seconds: {
    type: 'histogram',
    unit: 's',
    labels: ['table'],
    buckets: seconds,
    summary: 'One insert into ClickHouse',
  },
  oiq_model_requests_total: {
    type: 'counter',
    unit: '{request}',
    labels: ['purpose', 'outcome'],
    summary: 'Requests to the language model by outcome: answered, refused, failed, over-budget',
  },
  oiq_model_tokens_total: {
    type: 'counter',
    unit: '{token}',
    labels: ['purpose'],
    summary: 'Tokens that were counted against organizations for the language model',
  },
  oiq_api_requests_total: {
    type: 'counter',
    unit: '{request}',
    labels: ['operation', 'status'],
    summary: 'Management API requests by status',
  },
  oiq_api_duration_seconds: {
    type: 'histogram',
    unit: 's',
    labels: ['operation'],
    buckets: seconds,
    summary: 'Management API requests',
  },
  oiq_queries_running: {
    type: 'gauge',
    unit: '{query}',
    labels: [],
    summary: 'Queries of telemetry that run on this instance',
  },
  oiq_queries_waiting: {
    type: 'gauge',
    unit: '{query}',
    labels: [],
    summary: 'Queries of telemetry that wait for their turn on this instance',
  },
  oiq_queries_refused_total: {
    type: 'counter',
    unit: '{query}',
    labels: ['reason'],
    summary:
      'Queries that were not begun: waited (longer than OIQ_QUERY_WAIT_SECONDS), too-many (of their organization waited already)',
  },
  oiq_query_wait_seconds: {
    type: 'histogram',
    unit: 's',
    labels: [],
    buckets: seconds,
    summary: 'From the asking of a query to its turn, or its refusal',
  },
  oiq_query_duration_seconds: {
    type: 'histogram',
    unit: 's',
    labels: ['outcome'],
    buckets: [...seconds, 30],
    summary: 'Queries of telemetry by outcome: answered, failed, cancelled',
  },
  oiq_query_rows_read_total: {
    type: 'counter',
    unit: '{row}',
    labels: [],
    summary: 'Rows of tables that queries read',
  },
  oiq_query_bytes_read_total: {
    type: 'counter',
    unit: 'By',
    labels: [],
    summary: 'Bytes of columns that queries read, decompressed',
  },
  oiq_live_tail_connections: {
    type: 'gauge',
    unit: '{connection}',
    labels: [],
    summary: 'Live tails that are open on this instance',
  },
  oiq_live_tail_records_total: {
    type: 'counter',
    unit: '{record}',
    labels: ['signal', 'outcome'],
    summary:
      'Records of live tails by outcome: sent, dropped (the client reads too slowly), skipped (not compared with the filter, for lack of processor time)',
  },
  oiq_notification_deliveries_pending: {
    type: 'gauge',
    unit: '{notification}',
    labels: [],
    summary: 'Notifications that wait for their channel',
  },
  oiq_notification_attempts_total: {
    type: 'counter',
    unit: '{attempt}',
    labels: ['type', 'outcome'],
    summary: 'Attempts to tell a channel something, by its type and outcome: delivered, retry, failed',
  },
  oiq_job_runs_total: {
    type: 'counter',
    unit: '{run}',
    labels: ['job', 'outcome'],
    summary: 'Runs of scheduled jobs by outcome: success, failure',
  },
  oiq_job_duration_seconds: {
    type: 'histogram',
    unit: 's',
    labels: ['job'],
    buckets: seconds,
    summary: 'Duration of one run of a scheduled job',
  },
  oiq_job_last_success_timestamp_seconds: {
    type: 'gauge',
    unit: 's',
    labels: ['job'],
    summary: 'When a scheduled job last succeeded in this process, in seconds since the epoch',
  },
  oiq_schedule_runs_total: {
    type: 'counter',
    unit: '{run}',
    labels: ['schedule', 'outcome'],
    summary:
      'Runs of scheduled things by outcome: success, failure, late (over its time), waits (made up, and a store is away: it runs again), skipped (a due time that was missed), not-entitled',
  },
  oiq_schedule_run_duration_seconds: {
    type: 'histogram',
    unit: 's',
    labels: ['schedule'],
    buckets: seconds,
    summary: 'Duration of one run of a scheduled thing',
  },
  oiq_schedule_delay_seconds: {
    type: 'histogram',
    unit: 's',
    labels: ['schedule'],
    buckets: [...seconds, 30, 60, 300],
    summary: 'From the due time of a scheduled thing to the beginning of its run',
  },
  oiq_schedule_oldest_due_seconds: {
    type: 'gauge',
    unit: 's',
    labels: ['schedule'],
    summary:
      'How long the scheduled thing of this process that waits longest has been due without a run that succeeded',
  },
  oiq_event_loop_blocked_seconds: {
    type: 'histogram',
    unit: 's',
    labels: ['work'],
    buckets: [0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    summary:
      'Times in which the process did nothing else, longer than 0.2 seconds, by the work that was under way: an operation, a job, a sink',
  },
  oiq_license_keys_stale_seconds: {
    type: 'gauge',
    unit: 's',
    labels: [],
    summary:
      'How long ago a receiver knew all license keys, plans and limits; above 5 while the documents store cannot be reached',
  },
  oiq_counters_degraded: {
    type: 'gauge',
    unit: '1',
    labels: [],
    summary: '1 while the shared counters are unreachable and limits count per instance',
  },
} as const satisfies Record<string, Definition>;

export type MetricName = keyof typeof metricDefinitions;
type Labels<Name extends MetricName> = {
  readonly [label in (typeof metricDefinitions)[Name]['labels'][number]]: string;
};

/** Where code reports. Cheap enough for once a request; never once a record. */
export interface Metrics {
  /** Adds to a counter. */
  add<Name extends MetricName>(name: Name, value: number, labels: Labels<Name>): void;
  /** Sets a gauge. */
  set<Name extends MetricName>(name: Name, value: number, labels: Labels<Name>): void;
  /** Puts a value into a histogram. */
  observe<Name extends MetricName>(name: Name, value: number, labels: Labels<Name>): void;
}

/** Running metrics; `text` is the Prometheus exposition of all of them. */
export interface MetricsProvider extends Metrics {
  text(): Promise<string>;
  /** Exports once more and stops. */
  close(): Promise<void>;
}

/** Discards everything. */
export const noMetrics: Metrics = { add() {}, set() {}, observe() {} };
