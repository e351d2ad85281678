/**
 * Names of the platform's own metrics: a closed list, declared once. `/metrics`, OTLP export and the documentation are
 * generated from it.
 */

interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly summary: string;
  /** UCUM unit as in OpenTelemetry: `s`, `By`, `{record}`. */
  readonly unit: string;
  readonly labels: readonly string[];
  /** Upper bounds of the histogram buckets. */
  readonly buckets?: readonly number[];
}

const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Prometheus names already include the unit and `_total`. */
export const metricDefinitions = {
  oiq_ingest_requests_total: {
    type: 'counter',
    unit: '{request}',
    labels: ['receiver', 'signal', 'outcome'],
    summary: 'Ingest requests by outcome: accepted, or the reason for the refusal',
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
    buckets: durationBuckets,
    summary: 'Time from the last byte of a request to its response',
  },
  oiq_ingest_waiting_bodies: {
    type: 'gauge',
    unit: '{request}',
    labels: ['bodies'],
    summary: 'Request bodies that a worker checks or that wait for it: browser, large, redacted',
  },
  oiq_ingest_waiting_oldest_seconds: {
    type: 'gauge',
    unit: 's',
    labels: ['bodies'],
    summary: 'Time for which the oldest of these bodies has been waiting; 0 without one',
  },
  oiq_browser_removed_values_total: {
    type: 'counter',
    unit: '{value}',
    labels: ['receiver'],
    summary: 'Values of browsers that were removed or shortened, because they may have personal data',
  },
  oiq_browser_masked_values_total: {
    type: 'counter',
    unit: '{value}',
    labels: ['receiver'],
    summary: 'Values in recordings that pages sent without a mask, and that were masked when they arrived',
  },
  oiq_browser_dropped_events_total: {
    type: 'counter',
    unit: '{event}',
    labels: ['receiver'],
    summary: 'Events of recordings that were dropped, because they cannot be read and masked',
  },
  oiq_beats_total: {
    type: 'counter',
    unit: '{request}',
    labels: ['status'],
    summary: 'Requests that report heartbeats of jobs, by the status of the response',
  },
  oiq_opamp_messages_total: {
    type: 'counter',
    unit: '{message}',
    labels: ['transport', 'outcome'],
    summary: 'OpAMP messages of agents by outcome: accepted, malformed or unavailable',
  },
  oiq_opamp_agents: {
    type: 'gauge',
    unit: '{agent}',
    labels: ['transport'],
    summary:
      'Agents that this instance received an OpAMP message from in the last hour, and that have not disconnected',
  },
  oiq_bus_published_messages_total: {
    type: 'counter',
    unit: '{message}',
    labels: ['topic'],
    summary: 'Messages acknowledged by the bus',
  },
  oiq_bus_published_bytes_total: {
    type: 'counter',
    unit: 'By',
    labels: ['topic'],
    summary: 'Bytes of message values acknowledged by the bus',
  },
  oiq_bus_publish_duration_seconds: {
    type: 'histogram',
    unit: 's',
    labels: ['topic'],
    buckets: durationBuckets,
    summary: 'Time from publishing to the acknowledgement',
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
      'Age of the oldest message that a consumer group has not committed, within 5 seconds; 0 without lag, NaN while unknown',
  },
  oiq_consumer_lag_largest_share: {
    type: 'gauge',
    unit: '1',
    labels: ['group', 'topic'],
    summary:
      "Share of a group's lag on a topic that is in one partition, 0 to 1; near 1 while the lag grows, one partition is the bottleneck",
  },
  oiq_consumer_still_seconds: {
    type: 'gauge',
    unit: 's',
    labels: ['group'],
    summary:
      'Time since a consumer group last committed an offset of a partition with waiting messages; 0 while it makes progress',
  },
  oiq_consumer_members: {
    type: 'gauge',
    unit: '{member}',
    labels: ['group'],
    summary: 'Members of a consumer group in all processes, within 30 seconds; NaN while unknown',
  },
  oiq_consumer_batches_total: {
    type: 'counter',
    unit: '{batch}',
    labels: ['group', 'outcome'],
    summary: 'Batches by outcome: committed, rejected',
  },
  oiq_ingest_rejected_records_total: {
    type: 'counter',
    unit: '{record}',
    labels: ['receiver', 'signal', 'reason'],
    summary: 'Records rejected while others of their request were accepted, by reason; each is in a dead letter',
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
    summary: 'Records and values processed by a processor',
  },
  oiq_processor_dropped_total: {
    type: 'counter',
    unit: '{item}',
    labels: ['processor', 'reason'],
    summary:
      'Items skipped by a processor, by its own reasons and `late`, `malformed`, `not-entitled`, `duplicate`, `not-kept`',
  },
  oiq_processor_emitted_values_total: {
    type: 'counter',
    unit: '{value}',
    labels: ['processor', 'topic'],
    summary: 'Values emitted by a processor',
  },
  oiq_processor_limited_records_total: {
    type: 'counter',
    unit: '{record}',
    labels: ['processor', 'tenant', 'reason'],
    summary:
      'Records skipped by a processor because their tenant used too much time or state, or sent data that it cannot process',
  },
  oiq_processor_failed_timers_total: {
    type: 'counter',
    unit: '{timer}',
    labels: ['processor'],
    summary: 'Timer calls that threw an error',
  },
  oiq_processor_step_seconds_total: {
    type: 'counter',
    unit: 's',
    labels: ['processor'],
    summary: 'Thread time used by a processor',
  },
  oiq_processor_state_entries: {
    type: 'gauge',
    unit: '{entry}',
    labels: ['processor'],
    summary: 'State entries and timers of a processor in this process',
  },
  oiq_processor_state_bytes: {
    type: 'gauge',
    unit: 'By',
    labels: ['processor'],
    summary: 'Approximate state size of a processor in this process',
  },
  oiq_processor_evictions_total: {
    type: 'counter',
    unit: '{entry}',
    labels: ['processor'],
    summary: 'State entries evicted for others',
  },
  oiq_processor_snapshots_total: {
    type: 'counter',
    unit: '{snapshot}',
    labels: ['processor', 'outcome'],
    summary: 'Snapshots of state by outcome: saved, conflict (another member has the partition), failed',
  },
  oiq_processor_replayed_messages_total: {
    type: 'counter',
    unit: '{message}',
    labels: ['processor'],
    summary: 'Messages replayed to rebuild state, without effects',
  },
  oiq_duplicates_total: {
    type: 'counter',
    unit: '{message}',
    labels: ['group'],
    summary: 'Messages of derived topics that were published again after a crash although they were already stored',
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
    buckets: durationBuckets,
    summary: 'Duration of one insert into ClickHouse',
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
    summary: 'Tokens of the language model charged to organizations',
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
    buckets: durationBuckets,
    summary: 'Duration of management API requests',
  },
  oiq_queries_running: {
    type: 'gauge',
    unit: '{query}',
    labels: [],
    summary: 'Telemetry queries running on this instance',
  },
  oiq_queries_waiting: {
    type: 'gauge',
    unit: '{query}',
    labels: [],
    summary: 'Telemetry queries waiting for a slot on this instance',
  },
  oiq_queries_refused_total: {
    type: 'counter',
    unit: '{query}',
    labels: ['reason'],
    summary:
      'Queries rejected before they started: waited (longer than OIQ_QUERY_WAIT_SECONDS), too-many (too many queries of the organization were waiting)',
  },
  oiq_query_wait_seconds: {
    type: 'histogram',
    unit: 's',
    labels: [],
    buckets: durationBuckets,
    summary: 'Time from the arrival of a query to its start or rejection',
  },
  oiq_query_duration_seconds: {
    type: 'histogram',
    unit: 's',
    labels: ['outcome'],
    buckets: [...durationBuckets, 30],
    summary: 'Telemetry queries by outcome: answered, failed, cancelled',
  },
  oiq_query_rows_read_total: {
    type: 'counter',
    unit: '{row}',
    labels: [],
    summary: 'Table rows read by queries',
  },
  oiq_query_bytes_read_total: {
    type: 'counter',
    unit: 'By',
    labels: [],
    summary: 'Decompressed column bytes read by queries',
  },
  oiq_live_tail_connections: {
    type: 'gauge',
    unit: '{connection}',
    labels: [],
    summary: 'Open live tails on this instance',
  },
  oiq_live_tail_records_total: {
    type: 'counter',
    unit: '{record}',
    labels: ['signal', 'outcome'],
    summary:
      'Records of live tails by outcome: sent, dropped (the client reads too slowly), skipped (not matched against the filter, because of too little processor time)',
  },
  oiq_notification_deliveries_pending: {
    type: 'gauge',
    unit: '{notification}',
    labels: [],
    summary: 'Notifications waiting for their channel',
  },
  oiq_notification_attempts_total: {
    type: 'counter',
    unit: '{attempt}',
    labels: ['type', 'outcome'],
    summary: 'Attempts to notify a channel, by its type and outcome: delivered, retry, failed',
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
    buckets: durationBuckets,
    summary: 'Duration of one run of a scheduled job',
  },
  oiq_job_last_success_timestamp_seconds: {
    type: 'gauge',
    unit: 's',
    labels: ['job'],
    summary: 'Time of the last successful run of a scheduled job in this process, in seconds since the epoch',
  },
  oiq_schedule_runs_total: {
    type: 'counter',
    unit: '{run}',
    labels: ['schedule', 'outcome'],
    summary:
      'Runs of scheduled tasks by outcome: success, failure, late (exceeded its time), waits (a catch-up run that is retried because a store is unavailable), skipped (a missed due time), not-entitled',
  },
  oiq_schedule_run_duration_seconds: {
    type: 'histogram',
    unit: 's',
    labels: ['schedule'],
    buckets: durationBuckets,
    summary: 'Duration of one run of a scheduled task',
  },
  oiq_schedule_delay_seconds: {
    type: 'histogram',
    unit: 's',
    labels: ['schedule'],
    buckets: [...durationBuckets, 30, 60, 300],
    summary: 'Delay from the due time of a scheduled task to the start of its run',
  },
  oiq_schedule_oldest_due_seconds: {
    type: 'gauge',
    unit: 's',
    labels: ['schedule'],
    summary: 'Longest time that a scheduled task of this process has been due without a successful run',
  },
  oiq_event_loop_blocked_seconds: {
    type: 'histogram',
    unit: 's',
    labels: ['work'],
    buckets: [0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    summary: 'Event loop blockages longer than 0.2 seconds, by the running work: an operation, a job, a sink',
  },
  oiq_license_keys_stale_seconds: {
    type: 'gauge',
    unit: 's',
    labels: [],
    summary:
      'Time since a receiver had current license keys, plans and limits; above 5 while the document store is unreachable',
  },
  oiq_counters_degraded: {
    type: 'gauge',
    unit: '1',
    labels: [],
    summary: '1 while the shared counters are unreachable and limits apply per instance',
  },
  oiq_store_server_up: {
    type: 'gauge',
    unit: '1',
    labels: ['store', 'server'],
    summary: 'Whether a server of ClickHouse, Kafka, MongoDB or Redis responds to this process',
  },
} as const satisfies Record<string, MetricDefinition>;

export type MetricName = keyof typeof metricDefinitions;
type Labels<Name extends MetricName> = {
  readonly [label in (typeof metricDefinitions)[Name]['labels'][number]]: string;
};

/** Interface for reporting metrics. Cheap enough for once per request; never use it per record. */
export interface Metrics {
  /** Adds to a counter. */
  add<Name extends MetricName>(name: Name, value: number, labels: Labels<Name>): void;
  /** Sets a gauge. */
  set<Name extends MetricName>(name: Name, value: number, labels: Labels<Name>): void;
  /** Records a value in a histogram. */
  observe<Name extends MetricName>(name: Name, value: number, labels: Labels<Name>): void;
}

/** A running metrics provider. `text` returns the Prometheus exposition of all metrics. */
export interface MetricsProvider extends Metrics {
  text(): Promise<string>;
  /** Exports a last time and stops. */
  close(): Promise<void>;
}

/** Discards everything. */
export const silentMetrics: Metrics = { add() {}, set() {}, observe() {} };
