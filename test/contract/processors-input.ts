/** Seeded input for any processor, by the topics that it reads. */

import { agentEvents } from '../../processors/agents/agent-events.ts';
import { agentLogReports } from '../../processors/agents/agent-log-reports.ts';
import { correlations } from '../../processors/detections/correlations.ts';
import { detections } from '../../processors/detections/detections.ts';
import { callEnds } from '../../processors/edges/call-ends.ts';
import type { Processor } from '../../processors/engine/definition.ts';
import { Task } from '../../processors/engine/task.ts';
import { logErrors } from '../../processors/errors/log-errors.ts';
import { spanErrors } from '../../processors/errors/span-errors.ts';
import { llmCalls } from '../../processors/llm/llm-calls.ts';
import { nestedLlmCalls } from '../../processors/llm/nested-llm-calls.ts';
import { rumLogEvents } from '../../processors/rum/log-events.ts';
import { rumSpanEvents } from '../../processors/rum/span-events.ts';
import type { BusRecord } from '../../schemas/ports/bus.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import { alertRoutingId, alertRoutings, defaultRouting } from '../../schemas/resources/alert-routing.ts';
import { detectionRules } from '../../schemas/resources/detection-rule.ts';
import { syntheticChecks } from '../../schemas/resources/synthetic-check.ts';
import { indicatorBlocks } from '../../schemas/resources/threat-intel.ts';
import { topics } from '../../schemas/topics.ts';
import { CheckFields } from '../../subjects/synthetics/check.ts';
import { encodeBlock } from '../../subjects/threat-intel/block.ts';
import { detectionRulesForTests, stored } from '../cases/detection-rules.ts';
import { visits } from '../cases/made-up-processor.ts';
import type { Random } from '../cases/random.ts';
import { otlpMessage } from '../cases/run-task.ts';
import { text } from '../cases/sink-tables.ts';

export type Input = Pick<BusRecord, 'key' | 'value' | 'headers' | 'timestampMs'>;
export const tenants = ['tenant-a', 'tenant-b', 'tenant-c', 'tenant-without-plan'] as const;
const services = ['cart', 'checkout', 'mail', 'search'] as const;

const words = ['connected', 'evil.example', 'refused', 'payment', 'of', 'user', 'for', 'order', 'failed', 'after'];

const pick = <Each>(random: Random, from: readonly Each[]): Each => from[random(from.length)] as Each;
const bytes = (random: Random, count: number): Uint8Array => Uint8Array.from({ length: count }, () => random(256));
/** Most records are a few seconds old; some are late, and some have clocks that are hours off. */
const timeOf = (random: Random, atMs: number): number => {
  const drawn = random(40);
  if (drawn === 0) return atMs - 3_600_000;
  if (drawn === 1) return atMs + 7_200_000;
  return atMs - random(drawn < 6 ? 200_000 : 3_000);
};
const ns = (timeMs: number): string => `${timeMs}000000`;

interface Call {
  readonly traceId: Uint8Array;
  readonly spanId: Uint8Array;
}

const exceptionOf = (random: Random, startMs: number): object => ({
  name: 'exception',
  timeUnixNano: ns(startMs),
  attributes: [
    text('exception.type', pick(random, ['TypeError', 'RangeError'])),
    text('exception.message', `no stock of ${random(3)}`),
    text('exception.stacktrace', `Error: x\n    at ${pick(random, words)} (/srv/app/src/cart.js:1:${random(90)})`),
  ],
});

/** A span of a client, or of a server for a recent call. */
const spanOf = (random: Random, atMs: number, calls: Call[]): object => {
  const startMs = timeOf(random, atMs);
  const call = random(2) === 0 ? calls.splice(random(calls.length), 1)[0] : undefined;
  const own = { traceId: call?.traceId ?? bytes(random, 16), spanId: bytes(random, 8) };
  if (call === undefined) calls.push(own);
  return {
    ...own,
    ...(call === undefined ? { kind: 3 } : { kind: 2, parentSpanId: call.spanId }),
    name: random(9) === 0 ? secretText(random) : 'GET /',
    startTimeUnixNano: ns(startMs),
    endTimeUnixNano: ns(startMs + random(900)),
    attributes:
      random(3) === 0
        ? [text('db.system', 'postgresql'), text('server.address', 'db.internal')]
        : random(4) === 0
          ? llmAttributesOf(random)
          : [],
    status: { code: random(4) === 0 ? 2 : 0 },
    ...(random(6) === 0 && { events: [exceptionOf(random, startMs)] }),
  };
};

const browserResource = {
  attributes: [text('service.name', 'shop-web'), text('telemetry.sdk.language', 'webjs')],
};
const sessionOf = (random: Random): object => text('session.id', `session-${random(6)}`);
const pageOf = (random: Random): object => text('url.full', `https://shop.example/${pick(random, words)}/${random(9)}`);

/** Page loads and requests, as spans. */
const pageSpanOf = (random: Random, atMs: number): object => {
  const startMs = timeOf(random, atMs);
  return {
    traceId: bytes(random, 16),
    spanId: bytes(random, 8),
    kind: 3,
    name: pick(random, ['documentLoad', 'HTTP GET']),
    startTimeUnixNano: ns(startMs),
    endTimeUnixNano: ns(startMs + random(900)),
    attributes: [sessionOf(random), pageOf(random)],
    ...(random(6) === 0 && { events: [exceptionOf(random, startMs)] }),
  };
};

/** Views, vitals, clicks and errors of a page, as log records. */
const pageEventOf = (random: Random, atMs: number): object => {
  const event = pick(random, ['browser.navigation', 'browser.web_vital', 'browser.user_action.click', 'exception']);
  const attributes: Readonly<Record<string, readonly object[]>> = {
    'browser.navigation': [pageOf(random)],
    'browser.web_vital': [
      text('browser.web_vital.name', pick(random, ['lcp', 'inp', 'cls'])),
      text('browser.web_vital.value', String(random(5_000))),
      text('browser.web_vital.id', `v-${random(9)}`),
    ],
    'browser.user_action.click': [text('browser.css_selector', pick(random, ['#pay', '#buy']))],
    exception: [text('exception.type', 'TypeError'), text('exception.message', `no ${pick(random, words)}`)],
  };
  return {
    timeUnixNano: ns(timeOf(random, atMs)),
    eventName: event,
    severityNumber: event === 'exception' ? 17 : 9,
    attributes: [...(random(8) === 0 ? [] : [sessionOf(random)]), ...(attributes[event] ?? [])],
  };
};
/** A call of a model, possibly nested, and possibly with the response of another call. */
const llmAttributesOf = (random: Random): object[] => [
  text('gen_ai.operation.name', pick(random, ['chat', 'chat', 'invoke_agent'])),
  text('gen_ai.request.model', pick(random, ['gpt-4o', 'o3', 'house-model'])),
  text('gen_ai.provider.name', 'openai'),
  ...(random(3) === 0 ? [] : [text('gen_ai.response.id', `response-${random(40)}`)]),
  ...(random(3) === 0
    ? []
    : [text('gen_ai.usage.input_tokens', String(random(900))), text('gen_ai.usage.output_tokens', String(random(90)))]),
];

const spansOf = (random: Random, atMs: number, calls: Call[]): object => ({
  resourceSpans: Array.from({ length: 1 + random(2) }, () =>
    random(4) === 0
      ? { resource: browserResource, scopeSpans: [{ spans: [pageSpanOf(random, atMs)] }] }
      : {
          resource: { attributes: [text('service.name', pick(random, services))] },
          scopeSpans: [
            {
              scope: { name: pick(random, ['test', 'test', 'agentsight']) },
              spans: Array.from({ length: 1 + random(4) }, () => spanOf(random, atMs, calls)),
            },
          ],
        },
  ),
});

/** Records about changes of files and packages; those of auditd are in any order, and some are incomplete. */
const fileLine = (random: Random, atMs: number): string => {
  const audit = `msg=audit(${Math.floor(atMs / 1000)}.100:${random(6)})`;
  return pick(random, [
    `type=SYSCALL ${audit}: arch=c000003e syscall=257 success=yes a2=241 items=1 pid=${random(9)} uid=0 exe="/usr/bin/vim" key="etc"`,
    `type=PATH ${audit}: item=0 name="/etc/${pick(random, words)}" mode=0100644 ouid=0 ogid=0 nametype=NORMAL`,
    JSON.stringify({
      agent: { name: pick(random, services) },
      syscheck: { path: `/etc/${pick(random, words)}`, event: 'added', size_after: String(random(900)) },
    }),
    `2026-01-01 10:00:00 status installed ${pick(random, words)}:amd64 1.${random(9)}`,
  ]);
};

/** Events of AgentSight about an agent, its processes and its traffic. */
const agentLine = (random: Random, atMs: number): string => {
  const pid = 100 + random(6);
  const [source, data] = pick<readonly [string, object]>(random, [
    [
      'process',
      { event: 'EXEC', ppid: 100 + random(6), filename: pick(random, ['/bin/claude', '/bin/sh', '/bin/curl']) },
    ],
    ['process', { event: 'EXIT', exit_code: random(2) }],
    ['process', { event: 'FILE_OPEN', filepath: `/srv/${pick(random, words)}`, flags: random(2), count: 1 }],
    ['process', { event: 'SUMMARY', type: 'NET_CONNECT', detail: `${pick(random, words)}.example:443`, count: 1 }],
    ['ssl', { function: 'READ/RECV', len: random(900) }],
    [
      'http_parser',
      {
        method: 'POST',
        path: '/v1/messages',
        body: JSON.stringify({
          model: 'claude-sonnet-4-5',
          tools: [{}],
          messages: [{ role: 'user', content: `read ${pick(random, words)}` }],
        }),
      },
    ],
    [
      'http_parser',
      {
        status_code: 200,
        body: JSON.stringify({
          type: 'message',
          id: `msg_${random(90)}`,
          content: [
            { type: 'tool_use', id: `call_${random(90)}`, name: 'Bash', input: { command: pick(random, words) } },
          ],
        }),
      },
    ],
  ]);
  return JSON.stringify({ timestamp: timeOf(random, atMs), source, pid, comm: pick(random, ['claude', 'sh']), data });
};

const alphanumerics = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A text with one of four tokens in the format of GitHub. */
const secretText = (random: Random): string => {
  const variant = random(4);
  const characters = Array.from({ length: 36 }, (_, index) => alphanumerics[(index * 7 + variant * 5) % 62]);
  return `login with ghp_${characters.join('')} of ${pick(random, words)}`;
};

/** Event of Falco about a rule that a program violated. */
const threatLine = (random: Random, atMs: number): string =>
  JSON.stringify({
    output: `a shell was spawned by ${pick(random, words)}`,
    priority: pick(random, ['Notice', 'Critical']),
    rule: pick(random, ['Terminal shell in container', 'Read sensitive file']),
    source: 'syscall',
    tags: ['container', 'T1059'],
    time: new Date(timeOf(random, atMs)).toISOString(),
    output_fields: { 'container.id': `c${random(4)}`, 'proc.name': pick(random, words), 'fd.name': '/etc/shadow' },
  });

const logsOf = (random: Random, atMs: number): object => ({
  resourceLogs: [
    ...(random(4) === 0
      ? [
          {
            resource: browserResource,
            scopeLogs: [{ logRecords: Array.from({ length: 1 + random(5) }, () => pageEventOf(random, atMs)) }],
          },
        ]
      : []),
    {
      resource: { attributes: [text('service.name', pick(random, services))] },
      scopeLogs: [
        {
          logRecords: Array.from({ length: 1 + random(6) }, () => ({
            timeUnixNano: ns(timeOf(random, atMs)),
            severityNumber: pick(random, [9, 13, 17]),
            body: {
              stringValue:
                random(5) === 0
                  ? pick(random, [fileLine, agentLine, threatLine, secretText])(random, atMs)
                  : `${pick(random, words)} ${pick(random, words)} ${random(900)} ${pick(random, words)}`,
            },
          })),
        },
      ],
    },
  ],
});

const pointsOf = (random: Random, atMs: number): object => ({
  resourceMetrics: [
    {
      resource: { attributes: [text('service.name', pick(random, services))] },
      scopeMetrics: [
        {
          metrics: [
            {
              name: pick(random, ['queue.length', 'memory.used']),
              gauge: { dataPoints: [{ timeUnixNano: ns(timeOf(random, atMs)), asDouble: random(100) }] },
            },
          ],
        },
      ],
    },
  ],
});

const visitsOf = (random: Random, atMs: number, tenantId: string): object[] =>
  Array.from({ length: random(6) }, (_, serial) => {
    const page = random(300) === 0 ? 'poison' : `/page/${random(random(4) === 0 ? 60 : 8)}`;
    return { tenantId, page, timeMs: timeOf(random, atMs), serial };
  });

/** Alerts with a few names that start to fire, and resolve. */
const transitionsOf = (random: Random, atMs: number, tenantId: string): object[] =>
  Array.from({ length: 1 + random(4) }, () => {
    const labels = { alertname: pick(random, words), service: pick(random, services), instance: String(random(5)) };
    const to = pick(random, ['firing', 'firing', 'inactive', 'pending']);
    return {
      tenantId,
      id: `transition-${random(1e9)}`,
      alertId: Object.values(labels).join('/'),
      ruleId: labels.alertname,
      ruleVersion: 1,
      ruleName: labels.alertname,
      labels,
      annotations: {},
      severity: 'error',
      from: 'inactive',
      to,
      atMs,
      value: random(100),
      reason: 'as the story goes',
      ...(to === 'firing' && { startedAtMs: atMs - random(90_000) }),
    };
  });

/** Heartbeats of a few jobs whose runs overlap, fail, or do not end, mostly with a pulse. */
const heartbeatsOf = (random: Random, atMs: number, tenantId: string): object[] => [
  ...Array.from({ length: random(4) }, () => ({
    tenantId,
    kind: 'beat',
    checkId: `job-${random(3)}`,
    projectId: 'shop',
    receivedMs: atMs - random(3_000),
    signal: pick(random, ['start', 'end', 'end', 'fail']),
    exitCode: pick(random, [null, 0, 1]),
    runId: pick(random, ['', `run-${random(30)}`]),
    message: pick(random, words),
  })),
  ...(random(10) === 0 ? [] : [{ tenantId, kind: 'pulse', receivedMs: atMs }]),
];

/** Runs of a few checks at two locations. */
const runsOf = (random: Random, atMs: number, tenantId: string): object[] =>
  Array.from({ length: random(4) }, () => {
    const phases = { connect: 1 + random(20), wait: 5 + random(200) };
    const outcome = pick(random, ['passed', 'passed', 'degraded', 'failed', 'unknown'] as const);
    const step = { name: '', outcome, phases, message: '', status: 200 };
    return {
      tenantId,
      projectId: pick(random, ['', 'shop']),
      checkId: `check-${random(5)}`,
      checkName: 'Shop answers',
      checkType: 'http',
      labels: {},
      location: pick(random, ['local', 'there']),
      isManual: random(20) === 0,
      dueMs: atMs - 500,
      acceptedMs: atMs,
      startedAtMs: atMs - 400,
      attempts: 1,
      outcome,
      phases,
      steps: [step],
      durationMs: phases.connect + phases.wait,
      message: '',
      traceId: random(2 ** 31)
        .toString(16)
        .padStart(32, 'a'),
    };
  });

/** Minutes of two services that a detector counts, with spikes and gaps, after a message with their history. */
const anomalyPointsOf = (random: Random, atMs: number, tenantId: string, index: number): object[] => {
  const stepMs = 60_000;
  const toMs = Math.floor(atMs / stepMs) * stepMs;
  const steps = index < 24 ? 700 : 1;
  const value = (): number | null => pick(random, [10, 11, 12, 10, 11, 12, 13, 9, 500, null]);
  const series = services
    .slice(0, 1 + random(services.length))
    .map((service) => ({ name: 'count', unit: '', labels: { service }, values: Array.from({ length: steps }, value) }));
  return [
    {
      tenantId,
      detectorId: pick(random, ['one', 'other']),
      question: random(40) === 0 ? 'new' : 'old',
      stepMs,
      detector: {
        name: 'Records',
        projectId: '',
        labels: {},
        direction: 'both',
        leastChange: 0,
        falseAlarmsPerWeek: 100,
        signals: ['logs'],
      },
      fromMs: toMs - steps * stepMs,
      toMs,
      lookMs: atMs,
      mode: steps > 1 ? 'learning' : 'now',
      part: 0,
      isLast: true,
      counts: ['count'],
      gaps: random(9) === 0 ? [toMs - stepMs] : [],
      learntFromMs: 0,
      error: '',
      learnsUntilMs: null,
      seriesCount: series.length,
      series,
    },
  ];
};

type Values = (random: Random, atMs: number, tenantId: string, index: number) => object[];

/** Values of topics that processors and receivers write. */
const emittedValues: Readonly<Record<string, Values>> = {
  [topics.syntheticHeartbeats.name]: heartbeatsOf,
  [topics.syntheticRuns.name]: runsOf,
  [topics.alertTransitions.name]: transitionsOf,
  [topics.anomalyPoints.name]: anomalyPointsOf,
};

const messagesOf = (topic: string, count: number, sinceMs: number, random: Random): Input[] => {
  let timestampMs = sinceMs;
  const calls: Call[] = [];
  return Array.from({ length: count }, (_, index): Input => {
    timestampMs += random(random(10) === 0 ? 60_000 : 4_000);
    const tenantId = pick(random, tenants);
    const from = { tenantId, atMs: timestampMs };
    // Sharded: messages of a tenant are in several partitions.
    const key = `${tenantId}/${random(3)}`;
    if (topic === topics.traces.name)
      return { key, timestampMs, ...otlpMessage('traces', spansOf(random, timestampMs, calls), from) };
    if (topic === topics.logs.name)
      return { key, timestampMs, ...otlpMessage('logs', logsOf(random, timestampMs), from) };
    if (topic === topics.metrics.name)
      return { key, timestampMs, ...otlpMessage('metrics', pointsOf(random, timestampMs), from) };
    if (topic === visits.name) {
      const value = Buffer.from(JSON.stringify(visitsOf(random, timestampMs, tenantId)));
      return { key, timestampMs, value, headers: { tenant: tenantId } };
    }
    const values = emittedValues[topic];
    if (values !== undefined) {
      const value = Buffer.from(JSON.stringify(values(random, timestampMs, tenantId, index)));
      return { key: tenantId, timestampMs, value, headers: { tenant: tenantId } };
    }
    throw new Error(`there is no made-up input for topic ${topic}: make some in processors-input.ts`);
  });
};

/** A document of a collection that processors follow, as the store returns it when it is new. */
export interface FollowedDocument {
  readonly collection: string;
  readonly tenantId: string;
  readonly id: string;
  readonly document: object & StoredMetadata;
}

const defaultRoutingWithChannels = {
  id: alertRoutingId,
  ...defaultRouting,
  version: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  route: { ...defaultRouting.route, groupWait: '10s', groupInterval: '30s', repeatInterval: '5m' },
  receivers: [{ name: 'default', channelIds: ['mail', 'chat'], sendResolved: true }],
};

/** A job that is expected often, a cron job, and a disabled job. */
const jobs = ['job-0', 'job-1', 'job-2'].map((id, index) => ({
  ...CheckFields.parse({
    name: id,
    type: 'heartbeat',
    every: '1m',
    enabled: index < 2,
    heartbeat: { maxRunDuration: '1m', ...(index === 1 && { cron: '*/2 * * * *', timeZone: 'Europe/Berlin' }) },
  }),
  id,
  locations: [],
  version: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
}));

/** Documents of each collection that processors follow. */
const followed: Readonly<Record<string, readonly (object & StoredMetadata)[]>> = {
  [detectionRules.name]: detectionRulesForTests.map((rule) => stored(rule)),
  [alertRoutings.name]: [defaultRoutingWithChannels],
  [syntheticChecks.name]: jobs,
  [indicatorBlocks.name]: [
    {
      ...encodeBlock([
        {
          type: 'domain',
          value: 'evil.example',
          source: 'feed',
          confidence: 80,
          validFrom: null,
          validUntil: null,
          isRevoked: false,
          seenAt: '2026-01-01T00:00:00.000Z',
          halfLifeDays: 3650,
          raisesSignals: true,
        },
      ]),
      id: 'block',
      version: 1,
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: '2026-01-01T00:00:00.000Z',
    },
  ],
};

/** Test data of the collections that processors follow. */
export const followedDocuments = ({ follows }: Processor): FollowedDocument[] =>
  Object.values(follows).flatMap(({ name }) =>
    tenants.flatMap((tenantId) =>
      (followed[name] ?? []).map((document) => ({ collection: name, tenantId, id: document.id, document })),
    ),
  );

/** Processors whose output is the input of others. */
const upstream: readonly Processor[] = [
  callEnds,
  spanErrors,
  logErrors,
  rumLogEvents,
  rumSpanEvents,
  detections,
  correlations,
  llmCalls,
  nestedLlmCalls,
  agentLogReports,
  agentEvents,
];

/** The output of another processor to a topic, for generated input. */
const emittedBy = (processor: Processor, topic: string, count: number, sinceMs: number, random: Random): Input[] => {
  const source = processor.reads.topics[0]?.name ?? '';
  const task = new Task(processor, { topic: source, partition: 0, emitter: `upstream-${random(1e9)}` });
  for (const { collection, tenantId, id, document } of followedDocuments(processor))
    task.applyChange(collection, tenantId, id, document);
  return inputOfTopic(source, count, sinceMs, random).flatMap((message, offset) => {
    const { messages } = task.batch([{ ...message, offset }]);
    return messages
      .filter((each) => each.topic === topic)
      .map(({ key, value, headers }) => ({
        key,
        value: Buffer.from(value),
        headers,
        timestampMs: message.timestampMs,
      }));
  });
};

const inputOfTopic = (topic: string, count: number, sinceMs: number, random: Random): Input[] => {
  const processors = upstream.filter(({ emits }) => Object.values(emits).some(({ name }) => name === topic));
  if (processors.length === 0) return messagesOf(topic, count, sinceMs, random);
  return processors
    .flatMap((processor) => emittedBy(processor, topic, count, sinceMs, random))
    .toSorted((left, right) => left.timestampMs - right.timestampMs);
};

/** Messages for a processor, with increasing times from `sinceMs`; on derived topics, some are duplicates. */
export const inputOf = ({ reads }: Processor, count: number, sinceMs: number, random: Random): [string, Input[]][] =>
  reads.topics.map(({ name }) => {
    const messages = inputOfTopic(name, count, sinceMs, random);
    const repeated = messages.flatMap((message) =>
      'emitter' in message.headers && random(10) === 0 ? [message, message] : [message],
    );
    return [name, repeated];
  });
