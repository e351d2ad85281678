/** OpAMP messages compared with the published definition, masking of configurations, and the states of agents. */
import test from 'ava';
import protobuf from 'protobufjs';
import { maskConfiguration, maskText } from '../../receivers/opamp/mask.ts';
import { opampMessages } from '../../receivers/opamp/messages.ts';
import { readAgentMessage } from '../../receivers/opamp/read-message.ts';
import type { AgentHeartbeat } from '../../schemas/fleet-agents.ts';
import type { AgentHealthSummary } from '../../subjects/instrumentation/agent-health.ts';
import { type AgentState, determineOpampState } from '../../subjects/instrumentation/opamp-agents.ts';
import { agentToServerType } from '../contract/opamp-client.ts';
import { reachable } from './proto/load.ts';

const typeOf = (field: protobuf.Field): string => {
  if (field.resolvedType instanceof protobuf.Enum) return 'enum';
  return field.resolvedType?.name ?? field.type;
};

/** Fields by name; a map has messages as its entries. */
const fieldsOf = (type: protobuf.Type) =>
  Object.fromEntries(
    type.fieldsArray.map((field) => {
      const name = field instanceof protobuf.MapField ? `${typeOf(field)}Entry` : typeOf(field);
      return [field.name, [field.id, name, ...(field.repeated || field.map ? ['repeated'] : [])]];
    }),
  );

test('the declarations equal the published definition, field by field', (t) => {
  const published = [...reachable(agentToServerType)];
  for (const type of published)
    t.deepEqual(opampMessages[type.name as keyof typeof opampMessages] as object, fieldsOf(type), type.name);
  const entries = Object.keys(opampMessages).filter((name) => name.endsWith('Entry'));
  t.is(Object.keys(opampMessages).length, published.length + entries.length);
  for (const entry of entries)
    t.deepEqual(opampMessages[entry as keyof typeof opampMessages] as object, {
      key: [1, 'string'],
      value: [2, entry.slice(0, -'Entry'.length)],
    });
});

const masked: readonly (readonly [what: string, text: string, expected: string])[] = [
  ['YAML', 'a:\n  password: x\n  user: joe\n', 'a:\n  password: ****\n  user: joe\n'],
  ['all headers', 'headers:\n  X-Scope: a\nb: c', 'headers:\n  X-Scope: ****\nb: c'],
  [
    'headers at the end of an object',
    'e:\n  headers:\n    x: a\n  auth:\n    b: c',
    'e:\n  headers:\n    x: ****\n  auth:\n    b: c',
  ],
  ['an inline object', 'sasl: {username: me, password: x, b: [c]}', 'sasl: {username: me, password: "****", b: [c]}'],
  ['a list', 'tokens:\n- a\n- b\nc: d', 'tokens:\n- ****\n- ****\nc: d'],
  ['a block of text', 'key_pem: |\n  a\n  b: c\nd: e', 'key_pem: |\n  ****\n  ****\nd: e'],
  ['a quoted text over lines', 'password: "a\n  b"\nc: d', 'password: ****\n  ****\nc: d'],
  [
    'a name and its value',
    '- name: API_TOKEN\n  value: x\n- name: MODE\n  value: y',
    '- name: API_TOKEN\n  value: ****\n- name: MODE\n  value: y',
  ],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference to a variable of the collector
  ['a reference', 'token: ${env:TOKEN}', 'token: ${env:TOKEN}'],
  ['a file path', 'token_file: /etc/token', 'token_file: /etc/token'],
  ['a component', 'bearertokenauth/a:\n  filename: x\n  token: y', 'bearertokenauth/a:\n  filename: x\n  token: ****'],
  ['credentials in a URL', 'endpoint: https://joe:x@example.com/a', 'endpoint: https://example.com/a'],
  [
    'compact JSON',
    '{"a":{"token":"x","b":1},"headers":{"c":"d"}}',
    '{"a":{"token":"****","b":1},"headers":{"c":"****"}}',
  ],
  ['JSON with escapes', '{"password":"a\\"b","c":"d"}', '{"password":"****","c":"d"}'],
  [
    'a name and its value in JSON',
    '[{"name":"DB_PASSWORD","value":"x"},{"name":"A","value":"y"}]',
    '[{"name":"DB_PASSWORD","value":"****"},{"name":"A","value":"y"}]',
  ],
  ['indented JSON', '{\n  "password": "x",\n  "a": "b"\n}', '{\n  "password": "****",\n  "a": "b"\n}'],
  ['lines of name = value', 'token = "x"\nurl = "y"\n', 'token = ****\nurl = "y"\n'],
];

for (const [what, text, expected] of masked)
  test(`secrets of a configuration are masked: ${what}`, (t) => t.is(maskConfiguration(text), expected));

test('errors and attributes have no credentials, and hostile configurations take time in proportion to their length', (t) => {
  t.is(maskText('cannot reach http://a:b@c/d'), 'cannot reach http://c/d');
  t.is(maskText('x', 'api_key'), '****');
  for (const unit of ['{', '"', 'a:', '${', ' ', '- ', 'headers:\n', '\\', 'password: ', '{a'])
    t.true(maskConfiguration(unit.repeat(100_000 / unit.length)).length > 0);
});

test('a message that repeats a field a million times is read in proportion to its length', (t) => {
  const { description } = readAgentMessage(Buffer.alloc(2_000_000, Buffer.of(0x1a, 0)), 0);
  t.is(description?.bytes.length, 0);
});

const nowMs = Date.UTC(2026, 2, 1);
const heartbeat = (fields: Partial<AgentHeartbeat> = {}): AgentHeartbeat => ({
  kind: 'heartbeat',
  lastSeenMs: nowMs - 45_000,
  intervalMs: 30_000,
  connection: 'open',
  isSilent: false,
  nextReportByMs: nowMs + 45_000,
  ...fields,
});
const health = (fields: Partial<AgentHealthSummary> = {}): AgentHealthSummary => ({
  kind: 'health',
  isHealthy: true,
  status: 'StatusOK',
  error: '',
  startedMs: 0,
  failingComponent: null,
  failingComponents: 0,
  ...fields,
});
const exporter = { path: ['pipeline:logs', 'exporter:otlp'], isHealthy: false, status: '', error: 'refused' };

const states: readonly (readonly [
  heartbeat: Partial<AgentHeartbeat>,
  health: AgentHealthSummary | undefined,
  state: AgentState['state'],
  reason: RegExp,
])[] = [
  [{}, undefined, 'healthy', /does not report its health/],
  [{}, health(), 'healthy', /reports that it is healthy/],
  [{}, health({ isHealthy: false, error: 'no memory' }), 'degraded', /not healthy: no memory/],
  [
    {},
    health({ failingComponent: exporter, failingComponents: 3 }),
    'degraded',
    /^pipeline:logs \/ exporter:otlp fails: refused \(2 more\)$/,
  ],
  [{ lastSeenMs: nowMs - 89_000, isSilent: false }, health(), 'healthy', /./],
  [{ lastSeenMs: nowMs - 90_000 }, health(), 'healthy', /./],
  [{ lastSeenMs: nowMs - 90_000, isSilent: true }, health(), 'silent', /open connection.*every 30 seconds/],
  [{ lastSeenMs: nowMs - 90_000, nextReportByMs: nowMs }, health(), 'silent', /./],
  [
    { lastSeenMs: nowMs - 300_000, isSilent: true, connection: 'polling' },
    health(),
    'silent',
    /not polled for 5 minutes/,
  ],
  [
    { lastSeenMs: nowMs - 300_000, isSilent: true, connection: 'polling', intervalMs: 120_000 },
    health(),
    'healthy',
    /./,
  ],
  [
    { lastSeenMs: nowMs - 100_000, isSilent: true, connection: 'closed' },
    health({ isHealthy: false }),
    'silent',
    /ended without a disconnect message, 100 seconds ago/,
  ],
  [{ lastSeenMs: nowMs - 3_600_000, isSilent: true }, health(), 'gone', /./],
  [{ lastSeenMs: nowMs - 1_000, connection: 'disconnected' }, health(), 'gone', /disconnected 1 second ago/],
  [{ lastSeenMs: nowMs + 60_000, connection: 'disconnected' }, health(), 'healthy', /./],
];

for (const [index, [fields, agentHealth, state, reason]] of states.entries())
  test(`an agent is ${state}: case ${index + 1}, ${JSON.stringify(fields)}`, (t) => {
    const agent = { id: 'a', instanceUid: 'b', heartbeat: heartbeat(fields), attributes: {}, health: agentHealth };
    const outcome = determineOpampState(agent, nowMs);
    t.is(outcome.state, state);
    t.regex(outcome.reason, reason);
  });
