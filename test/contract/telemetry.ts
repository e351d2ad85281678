/** One log record, pattern, span, metric and dead letter of an organization, each with a unique word. */
import { type DeadLetterHeaders, encodeDeadLetter } from '../../schemas/dead-letter.ts';
import { topics } from '../../schemas/topics.ts';
import type { Harness } from '../end-to-end/api-harness.ts';
import { seedCalls } from './telemetry-calls.ts';
import { seedHosts } from './telemetry-hosts.ts';

/** The word in every name and text of an organization's telemetry. */
export const canaryOf = (tenant: string): string => `canary-of-${tenant}`;

const offset = 77;
/** By tenant, so that the IDs of organizations differ. */
const ordinalOf = (tenant: string): number => tenant.charCodeAt(0);
const digitOf = (tenant: string): string => (ordinalOf(tenant) % 16).toString(16);

export const traceIdOf = (tenant: string): string => digitOf(tenant).repeat(32);
export const patternIdOf = (tenant: string): string => digitOf(tenant).repeat(16);
export const errorIdOf = (tenant: string): string => `f1-${digitOf(tenant).repeat(16)}`;
export const otherErrorIdOf = (tenant: string): string => `f1-${digitOf(tenant).repeat(15)}0`;
export const signalIdOf = (tenant: string): string => `signal-${digitOf(tenant).repeat(16)}`;
export const threatIdOf = (tenant: string): string => `threat-${digitOf(tenant).repeat(16)}`;
export const secretIdOf = (tenant: string): string => digitOf(tenant).repeat(32);
const anomalyBeganMs = Math.floor(Date.now() / 1000) * 1000 - 60_000;
export const anomalyIdOf = (tenant: string): string =>
  `detector-${tenant}.${digitOf(tenant).repeat(16)}.${anomalyBeganMs.toString(36)}`;
const llmCalledMs = Math.floor(Date.now() / 1000) * 1000 - 5_000;
export const llmRequestIdOf = (tenant: string): string =>
  `${llmCalledMs}000000-${traceIdOf(tenant)}-${digitOf(tenant).repeat(16)}`;
/** Agents have IDs of 32 digits. */
export const agentIdOf = (tenant: string): string => digitOf(tenant).repeat(32);
export const deadLetterIdOf = (tenant: string): string => `letter-${tenant}`;
export const deadLetterToDiscardOf = (tenant: string): string => `letter-to-discard-${tenant}`;

const bury = async (harness: Harness, tenant: string, id: string): Promise<void> => {
  const canary = canaryOf(tenant);
  const value = Buffer.from(`${canary} no protobuf`);
  const [place] = await harness.bus.offsets(topics.deadLetter.name);
  const headers: DeadLetterHeaders = {
    id,
    tenantId: tenant,
    projectId: 'default',
    keyId: 'k1',
    signal: 'logs',
    origin: 'otlp-http',
    kind: 'refused',
    reason: 'malformed',
    message: canary,
    position: 7,
    receivedAtMs: Date.now() - 5000,
    source: '10.0.0.1',
    contentType: 'application/x-protobuf',
    contentEncoding: 'identity',
    topic: '',
    partition: 0,
    offset: 0,
    originalHeaders: {},
    chunk: 0,
    chunks: 1,
    size: value.length,
    cut: false,
  };
  const producer = await harness.bus.producer();
  await producer.publish([
    { topic: topics.deadLetter.name, key: tenant, value, headers: encodeDeadLetter({ ...headers, chunk: 0 }) },
  ]);
  await producer.close();
  await harness.columns.execute(
    `INSERT INTO dead_letters (tenant_id, id, project_id, key_id, signal, origin, kind, reason, message, position, received_at, source, size, cut, chunks, partition, offset) VALUES
      ('${tenant}', '${id}', 'default', 'k1', 'logs', 'otlp-http', 'refused', 'malformed', '${canary}', 7, now64(3), '10.0.0.1', ${value.length}, false, 1, ${place?.partition ?? 0}, ${place?.end ?? 0})`,
  );
};

export const seedTelemetry = async (harness: Harness, tenant: string): Promise<void> => {
  const { columns } = harness;
  const canary = canaryOf(tenant);
  const ordinal = ordinalOf(tenant);
  await columns.execute(
    `INSERT INTO resources (tenant_id, resource_id, service, attributes, attribute_types, first_seen, last_seen) VALUES
      ('${tenant}', 7, '${canary}', map('service.name', '${canary}', 'telemetry.distro.name', 'beyla'), 'ss', now64(3), now64(3))`,
  );
  await columns.execute(
    `INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, resource_id, severity_number, severity_text, body, body_type, attributes, attribute_types, trace_id) VALUES
      ('${tenant}', 'default', now64(3), 0, ${offset}, ${ordinal}, now64(9) - 5, now64(9), '${canary}', 7, 17, 'ERROR', '${canary} body', 's', map('key', '${canary}'), 's', unhex('${traceIdOf(tenant)}'))`,
  );
  await columns.execute(
    `INSERT INTO spans (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, duration, service, resource_id, trace_id, span_id, parent_span_id, name, kind, status_code, attributes, attribute_types) VALUES
      ('${tenant}', 'default', now64(3), 0, ${offset}, ${ordinal}, now64(9) - 5, 1000000, '${canary}', 7, unhex('${traceIdOf(tenant)}'), unhex('${digitOf(tenant).repeat(16)}'), unhex('${'0'.repeat(16)}'), '${canary} span', 2, 0, map('key', '${canary}'), 's')`,
  );
  await columns.execute(
    `INSERT INTO series (tenant_id, project_id, metric, series_id, kind, temporality, monotonic, unit, description, source, service, resource_id, attributes, attribute_types, first_seen, last_seen) VALUES
      ('${tenant}', 'default', '${canary}.metric', ${ordinal}, 'gauge', 2, true, 's', '${canary}', 'otlp', '${canary}', 7, map('key', '${canary}'), 's', now64(3), now64(3))`,
  );
  await columns.execute(
    `INSERT INTO samples (tenant_id, project_id, received_at, partition, offset, metric, series_id, timestamp, value) VALUES
      ('${tenant}', 'default', now64(3), 0, ${offset}, '${canary}.metric', ${ordinal}, now64(9) - 5, 1)`,
  );
  await columns.execute(
    `INSERT INTO exemplars (tenant_id, project_id, received_at, partition, offset, metric, series_id, timestamp, value, trace_id, attributes, attribute_types) VALUES
      ('${tenant}', 'default', now64(3), 0, ${offset}, '${canary}.metric', ${ordinal}, now64(9) - 5, 1, unhex('${traceIdOf(tenant)}'), map('key', '${canary}'), 's')`,
  );
  await columns.execute(
    `INSERT INTO rum_events (tenant_id, project_id, timestamp, service, environment, release, kind, name, session_id, view_id, page, url, user_id, value, rating, event_id, target, resource_type, host, message, error_type, stack, fingerprint, trace_id, browser, topic, received_at, partition, offset, ordinal) VALUES ${[
      "'view', ''",
      "'vital', 'LCP'",
      "'error', ''",
      "'resource', ''",
    ]
      .map(
        (event, index) =>
          `('${tenant}', 'default', now64(9) - 5, '${canary}', '${canary}', '${canary}', ${event}, '${canary}', '${canary}', '${canary}', 'https://${canary}.example/', '${canary}', 1200, 'good', '${canary}', 'https://${canary}.example/app.js', 'script', '${canary}.example', '${canary}', '${canary}', 'at ${canary} (/${canary}.js:1:1)', '${errorIdOf(tenant)}', '${traceIdOf(tenant)}', '${canary}', 'rum-events', now64(3), 0, ${offset}, ${index})`,
      )
      .join(', ')}`,
  );
  await columns.execute(
    `INSERT INTO service_edges (tenant_id, project_id, server_project_id, received_at, minute, connection, client, client_kind, server, server_kind, requests, timed, duration_sum, duration_max, duration_buckets) VALUES
      ('${tenant}', 'default', 'default', now64(3), toStartOfMinute(now()), 'request', '${canary}', 'service', '${canary}.shop', 'service', 1, 1, 1000, 1000, map(79, 1))`,
  );
  await columns.execute(
    `INSERT INTO fields (tenant_id, project_id, topic, hour, kind, key, type, records, first_seen, last_seen, received_at, partition, offset, last_offset) VALUES ${[
      ...['otlp.logs', 'otlp.traces'].flatMap((topic) =>
        ["'record', '', ''", "'attribute', 'key', 's'", `'resource', '${canary}', 's'`].map(
          (named) =>
            `('${tenant}', 'default', '${topic}', toStartOfHour(now()), ${named}, 1, now64(3), now64(3), now64(3), 0, ${offset}, ${offset})`,
        ),
      ),
    ].join(', ')}`,
  );
  await columns.execute(
    `INSERT INTO events (tenant_id, id, kind, time, severity, title, service, details, actor_type, received_at, offset) VALUES
      ('${tenant}', 'event-${tenant}', 'custom', now64(3), 'info', '${canary} event', '${canary}', '{}', 'system', now64(3), ${offset}),
      ('${tenant}', 'deployment-${tenant}', 'deployment', now64(3), 'info', '${canary} 1', '${canary}', '{"version":"1"}', 'system', now64(3), ${offset + 1})`,
  );
  await columns.execute(
    `INSERT INTO log_patterns (tenant_id, service, structure, pattern_id, places, shard, template, sample, parameters, first_seen, last_seen) VALUES
      ('${tenant}', '${canary}', 1, '${patternIdOf(tenant)}', [1], 0, '${canary} <*>', '${canary} body', '[{"name":"1","seen":1,"top":[["${canary}",1]],"numbers":0,"min":null,"max":null}]', now64(3), now64(3))`,
  );
  await columns.execute(
    `INSERT INTO log_pattern_counts (tenant_id, project_id, minute, service, pattern_id, severity, count, topic, received_at, partition, offset) VALUES
      ('${tenant}', 'default', toStartOfMinute(now()), '${canary}', '${patternIdOf(tenant)}', 'error', 1, 'log-pattern-counts', now64(3), 0, ${offset})`,
  );
  await columns.execute(
    `INSERT INTO anomalies (tenant_id, project_id, time, id, revision, detector_id, detector_name, signals, step_ms, series, name, unit, labels, sign, direction, end_ms, changed_ms, why, score, peak_ms, value, expected, low, high, before) VALUES
      ('${tenant}', 'default', fromUnixTimestamp64Milli(toInt64(${anomalyBeganMs}), 'UTC'), '${anomalyIdOf(tenant)}', 1, 'detector-${tenant}', '${canary}', ['logs'], 60000, '${digitOf(tenant).repeat(16)}', 'count', '', map('service', '${canary}'), 'up', 'up', 0, ${anomalyBeganMs}, '', 0.999, ${anomalyBeganMs}, 40, 10, 5, 15, 10)`,
  );
  await columns.execute(
    `INSERT INTO signals (tenant_id, project_id, received_at, partition, offset, id, kind, time, rule_id, rule_version, rule_title, severity, risk_score, events, event_count, entities, tactics, techniques, group_by, suppressed_by) VALUES
      ('${tenant}', 'default', now64(3), 0, ${offset}, '${signalIdOf(tenant)}', 'rule', now64(3), '${canary}', 1, '${canary}', 'high', 75, '[]', 1, ['host ${canary}'], [], [], map(), '')`,
  );
  await columns.execute(
    `INSERT INTO threat_matches (tenant_id, project_id, received_at, partition, offset, id, type, value, source, score, field, observed, record_id, time, last_time, count, service, host, user) VALUES
      ('${tenant}', 'default', now64(3), 0, ${offset}, 'match-${tenant}', 'domain', '${canary}.example', '${canary}', 75, 'url.domain', '${canary}.example', '1-0-0-0', now64(3), now64(3), 1, '${canary}', '${canary}', '${canary}')`,
  );
  await columns.execute(
    `INSERT INTO file_changes (tenant_id, project_id, received_at, offset, id, record_id, time, service, source, action, path, host, user, after) VALUES
      ('${tenant}', 'default', now64(3), ${offset}, 'file-${tenant}', '1-0-0-0', now64(3) - 5, '${canary}', 'wazuh', 'changed', '/etc/${canary}', '${canary}', '${canary}', map('mode', '0644'))`,
  );
  await columns.execute(
    `INSERT INTO runtime_threats (tenant_id, project_id, received_at, offset, id, group_id, record_id, time, source, rule, severity, message, service, host, workload) VALUES
      ('${tenant}', 'default', now64(3), ${offset}, 'threat-${tenant}', '${threatIdOf(tenant)}', '1-0-0-0', now64(3) - 5, 'falco', '${canary}', 'high', '${canary}', '${canary}', '${canary}', '${canary}')`,
  );
  await columns.execute(
    `INSERT INTO vulnerability_findings (tenant_id, project_id, hour, finding_id, time, vulnerability, title, package, target, status, state, first_time, received_at) VALUES
      ('${tenant}', '', toStartOfHour(now64(3) - 5), 'finding-${tenant}', now64(3) - 5, '${canary}', '${canary}', '${canary}', '${canary}', 'open', 'open', now64(3) - 5, now64(3))`,
  );
  await columns.execute(
    `INSERT INTO secret_findings (tenant_id, project_id, received_at, offset, id, finding_id, time, signal, record_id, service, field, rule, fingerprint, preview, occurrences) VALUES
      ('${tenant}', 'default', now64(3), ${offset}, 'secret-${tenant}', '${secretIdOf(tenant)}', now64(3) - 5, 'logs', '1-0-0-0', '${canary}', 'attribute.${canary}', 'github-pat', '${canary}', 'ghp_', 1)`,
  );
  await columns.execute(
    `INSERT INTO llm_calls (tenant_id, timestamp, trace_id, span_id, project_id, kind, service, operation, provider, model, user_id, conversation_id, duration_ns, input, output, cost_text, currency, convention, attribute_json, received_at) VALUES
      ('${tenant}', fromUnixTimestamp64Milli(toInt64(${llmCalledMs}), 'UTC'), '${traceIdOf(tenant)}', '${digitOf(tenant).repeat(16)}', 'default', 'call', '${canary}', 'chat', 'openai', '${canary}', '${canary}', '${canary}', 1000000, 5, 7, '0.5', 'USD', 'opentelemetry', '{"key":"${canary}"}', now64(3))`,
  );
  await columns.execute(
    `INSERT INTO agent_events (tenant_id, project_id, timestamp, id, version, service, record_id, source, kind, host, pid, process_id, program, command, agent_id, agent, session_id, conversation_id, turn, link, reason, path, model, text, received_at) VALUES
      ('${tenant}', 'default', now64(9) - 5, '${agentIdOf(tenant)}', 0, '${canary}', '1-0-0-0', 'agentsight', 'process_start', '${canary}', 7, '${agentIdOf(tenant)}', '/usr/bin/${canary}', '${canary}', '${agentIdOf(tenant)}', '${canary}', '${agentIdOf(tenant)}', '${canary}', 1, 'stated', '${canary}', '/${canary}', '${canary}', '${canary}', now64(3))`,
  );
  for (const fingerprint of [errorIdOf(tenant), otherErrorIdOf(tenant)]) {
    await columns.execute(
      `INSERT INTO error_occurrences (tenant_id, project_id, timestamp, fingerprint, source, service, environment, release, type, message, stack, user_id, tags, topic, received_at, partition, offset, ordinal) VALUES
        ('${tenant}', 'default', now64(9) - 5, '${fingerprint}', 'log', '${canary}', '${canary}', '${canary}', '${canary}', '${canary}', 'at ${canary} (/${canary}.js:1:1)', '${canary}', map('host.name', '${canary}'), 'error-occurrences', now64(3) - 5, 0, ${offset}, 0)`,
    );
    await columns.execute(
      `INSERT INTO error_groups (tenant_id, project_id, fingerprint, source, service, environment, release, type, message, culprit, components, first_seen, last_seen)
        SELECT tenant_id, project_id, fingerprint, source, service, environment, release, type, message, '${canary}', '[["type","${canary}"]]', timestamp, timestamp
        FROM error_occurrences WHERE tenant_id = '${tenant}' AND fingerprint = '${fingerprint}'`,
    );
  }
  await seedHosts(harness, tenant, canary);
  await seedCalls(harness, tenant, canary);
  for (const id of [deadLetterIdOf(tenant), deadLetterToDiscardOf(tenant)]) await bury(harness, tenant, id);
};
