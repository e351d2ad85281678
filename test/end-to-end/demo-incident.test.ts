/** The incident of the demo on a standalone: its cause, and debugging tasks of a coding agent over MCP. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import test from 'ava';
import { sendShopTelemetry } from '../../commands/demo/send-telemetry.ts';
import { eventually } from '../waiting.ts';
import { type OiqProcess, signIn, startOiq } from './oiq-process.ts';

const historySeconds = 20 * 60;
/** Age of the incident when the history ends */
const incidentSeconds = 60;

let directory: string;
let oiq: OiqProcess;
let token = '';
let client: Client;

// biome-ignore lint/suspicious/noExplicitAny: of responses of the API
const post = async (path: string, body: object): Promise<any> => {
  const response = await fetch(`${oiq.http}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text);
};

test.before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'oiq-demo-incident-'));
  oiq = await startOiq({ dataDirectory: directory });
  token = await signIn(oiq.http);
  const { key } = await post('/api/license-keys', { name: 'demo', projectId: 'default' });
  await sendShopTelemetry({
    endpoint: oiq.otlp,
    key,
    historySeconds,
    liveSeconds: 0,
    visits: 8,
    incident: { start: 1 - incidentSeconds / historySeconds, end: 2 },
  });
  client = new Client({ name: 'test', version: '1' });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${oiq.http}/mcp`), { requestInit: { headers } }));
});
test.after.always(async () => {
  await client?.close();
  await oiq?.stop();
  if (directory !== undefined) await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

test.serial('the cause of the incident is found from the first minute of its telemetry', async (t) => {
  const findCause = () => post('/api/ai/root-cause', { service: 'shop/checkout', from: 'now-30m' });
  await eventually('the calls between services are stored', async () => (await findCause()).state === 'found');
  const { causes, others, symptom } = await findCause();
  t.like(causes[0], { kind: 'deployment', at: 'service:shop/payments', path: ['shop/checkout', 'shop/payments'] });
  t.regex(causes[0].title, /2\.4\.0/);
  t.regex(symptom.degradations.join(), /^shop\/checkout: /);
  t.true(others.length > 0, 'excluded causes are listed');
});

/** An agent with a budget: counts its calls and the tokens that it reads. */
class Agent {
  calls = 0;
  tokens = 0;

  // biome-ignore lint/suspicious/noExplicitAny: results of every shape
  async call(name: string, args: Record<string, unknown> = {}): Promise<any> {
    this.calls++;
    const result = await client.callTool({ name, arguments: args });
    const [{ text }] = result.content as [{ text: string }];
    this.tokens += Math.ceil(Buffer.byteLength(text) / 4);
    if (result.isError === true) throw new Error(text);
    return JSON.parse(text).data;
  }
}

type Task = readonly [question: string, solve: (agent: Agent) => Promise<unknown>, answer: RegExp];

const tasks: readonly Task[] = [
  [
    'which service fails most',
    async (agent) => {
      const { items } = await agent.call('list_services', { sort: '-errorRate', limit: 3 });
      return items.map(({ name }: { name: string }) => name).join();
    },
    /shop\/payments|shop\/checkout/,
  ],
  [
    'why checkout fails',
    async (agent) =>
      (await agent.call('find_root_cause', { service: 'shop/checkout', from: 'now-30m' })).causes[0].title,
    /payments 2\.4\.0/,
  ],
  [
    'why payments is slow, in words',
    async (agent) =>
      (await agent.call('ask', { question: 'why is payments slow in the last 30 minutes?' })).investigation.cause
        .causes[0].title,
    /payments 2\.4\.0/,
  ],
  [
    'what changed',
    async (agent) =>
      (await agent.call('ask', { question: 'what changed in the last 10 minutes?' })).investigation.changes[0].title,
    /payments 2\.4\.0/,
  ],
  [
    'what was deployed last',
    async (agent) => {
      const { items } = await agent.call('list_deployments', { from: 'now-1h', limit: 3 });
      return `${items[0].service} ${items[0].version}`;
    },
    /payments 2\.4\.0/,
  ],
  [
    'which exception is most frequent',
    async (agent) => (await agent.call('search_errors', { service: 'shop/payments', limit: 3 })).items[0].type,
    /CardDeclined/,
  ],
  [
    'what the exception says, and where it is thrown',
    async (agent) => {
      const { items } = await agent.call('search_errors', { service: 'shop/payments', limit: 3 });
      return agent.call('get_error', { id: items[0].id });
    },
    /do not honour.*shop\/payments|shop\/payments.*do not honour/s,
  ],
  [
    'where a failed order fails',
    async (agent) => {
      const { items } = await agent.call('search_traces', { search: 'service:"shop/checkout" status:error', limit: 2 });
      return (await agent.call('get_trace', { id: items[0].traceId })).tree.join('\n');
    },
    /shop\/payments: .*error/,
  ],
  [
    'what a failed order logged',
    async (agent) => {
      const { items } = await agent.call('search_traces', { search: 'service:"shop/checkout" status:error', limit: 1 });
      return agent.call('get_trace_logs', { id: items[0].traceId });
    },
    /payment was not accepted/,
  ],
  [
    'which error logs payments writes',
    async (agent) =>
      (await agent.call('search_logs', { search: 'service:"shop/payments" severity:error', limit: 3 })).items[0].body,
    /declined/,
  ],
  [
    'which services log errors',
    async (agent) => agent.call('count_logs', { search: 'severity:>=error', groupBy: 'service' }),
    /shop\/payments/,
  ],
  [
    'which pods run the new version',
    async (agent) =>
      agent.call('count_logs', { search: 'service:"shop/payments" service.version:2.4.0', groupBy: 'k8s.pod.name' }),
    /payments/,
  ],
  ['how slow the payments service is', async (agent) => agent.call('get_service', { name: 'shop/payments' }), /p95/],
  [
    'which calls of payments are slow',
    async (agent) => agent.call('ask', { question: 'slowest outgoing calls of payments in the last 10 minutes' }),
    /charges/,
  ],
  [
    'how many orders are placed a minute',
    async (agent) => {
      const { items } = await agent.call('list_metrics', { search: 'orders' });
      return agent.call('query_metrics', { query: `rate(${items[0].prometheusName ?? 'shop_orders_total'}[5m])` });
    },
    /"values"/,
  ],
  [
    'how much memory the pods use',
    async (agent) => agent.call('ask', { question: 'process memory usage by k8s.pod.name in the last 10 minutes' }),
    /payments/,
  ],
  [
    'how many requests failed since the deployment',
    async (agent) => (await agent.call('ask', { question: 'error rate of payments since the last deployment' })).answer,
    /"rows":\[\[\d/,
  ],
  [
    'which carriers ship',
    async (agent) => agent.call('search_logs', { search: 'service:"shop/shipping"', limit: 5 }),
    /carrier (?:DHL|UPS|La Poste)/,
  ],
  ['what needs attention', async (agent) => agent.call('get_overview'), /shop|services/],
  [
    'whether an alert, an SLO or a runbook is about it',
    async (agent) => [
      await agent.call('list_alerts'),
      await agent.call('list_slos'),
      await agent.call('search_runbooks', { query: 'card declined' }),
    ],
    /"items":\[\]/,
  ],
];

for (const [question, solve, answer] of tasks)
  test.serial(`an agent finds ${question} within 6 calls and 8,000 tokens`, async (t) => {
    const agent = new Agent();
    const found = await solve(agent);
    const text = typeof found === 'string' ? found : JSON.stringify(found);
    t.regex(text, answer);
    t.true(agent.calls <= 6, `${agent.calls} calls`);
    t.true(agent.tokens <= 8_000, `${agent.tokens} tokens`);
  });
