/** The lifecycle of a process: first start, health, refusals at start, and shutdown. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { freePorts } from '../services/ports.ts';
import { eventually } from '../waiting.ts';
import { embeddedDeployment } from './deployment.ts';
import { type OiqProcess, read, runOiq, signIn, startOiq } from './oiq-process.ts';
import { logsRequest } from './oracle.ts';

const directoryOf = (t: ExecutionContext): string => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-running-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
};

const started = async (t: ExecutionContext, options: Parameters<typeof startOiq>[0]): Promise<OiqProcess> => {
  const process = await startOiq(options);
  t.teardown(() => process.kill());
  return process;
};

/** One installation shared by tests that do not change it; the last of them stops its process. */
const shared = mkdtempSync(join(tmpdir(), 'oiq-running-'));
let sharedKey: string;
let running: OiqProcess;

test.before(async () => {
  sharedKey = await embeddedDeployment(shared);
  running = await startOiq({ dataDirectory: shared });
});
test.after.always(async () => {
  await running?.kill();
  rmSync(shared, { recursive: true, force: true });
});

/** Runs a command until it exits. */
const run = async (args: readonly string[], environment: Readonly<Record<string, string>>) => {
  const { code, output, errors } = await runOiq(args, environment);
  return { code, output: `${output}${errors}` };
};

test.serial('the first start prints the password and the key once, and later starts print neither', async (t) => {
  const dataDirectory = join(directoryOf(t), 'data');
  const first = await started(t, { dataDirectory, environment: { OIQ_BOOTSTRAP_PASSWORD: '' } });
  const password = /password +(\S+)/.exec(first.output())?.[1] ?? '';
  const key = /license key +(oiq_lk_[0-9A-Za-z]+)/.exec(first.output())?.[1] ?? '';
  t.true(password.length >= 20);
  const login = await fetch(`${first.http}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'owner@example.com', password }),
  });
  t.is(login.status, 200);
  const sent = await fetch(`${first.otlp}/v1/logs`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf', 'x-license-key': key },
    body: logsRequest('first', ['hello']),
  });
  t.is(sent.status, 200);
  t.is(await first.stop(), 0);

  const second = await started(t, { dataDirectory, environment: { OIQ_BOOTSTRAP_PASSWORD: '' } });
  t.false(/oiq_lk_|password +\S+/.test(second.output()), second.output());
  t.is(await second.stop(), 0);
});

test.serial('health, readiness and metrics respond, and telemetry that was sent can be read back', async (t) => {
  t.is((await fetch(`${running.http}/healthz`)).status, 200);
  let ready: unknown;
  // On a busy machine a store may respond late.
  await eventually('it is ready', async () => {
    const response = await fetch(`${running.http}/readyz`);
    ready = await response.json();
    return response.status === 200;
  });
  t.deepEqual(ready, { status: 'ready' });
  t.is((await fetch(`${running.http}/readyz`, { method: 'POST' })).status, 405);
  await fetch(`${running.otlp}/v1/logs`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf', 'x-license-key': sharedKey },
    body: logsRequest('shop', ['one', 'two']),
  });
  const token = await signIn(running.http);
  let items: { body: string }[] = [];
  await eventually('both records', async () => {
    ({ items } = await read<{ items: { body: string }[] }>(running.http, '/api/logs?service=shop', token));
    return items.length >= 2;
  });
  t.deepEqual(items.map(({ body }) => body).sort(), ['one', 'two']);
  const metricPatterns = [
    /^oiq_ingest_records_total\{[^}]*outcome="accepted"[^}]*\} 2$/m,
    /^oiq_landed_rows_total\{table="logs"\} 2$/m,
    /^oiq_bus_published_messages_total\{topic="otlp.logs"\} 1$/m,
    /^oiq_consumer_lag_messages\{group="sinks\.logs"/m,
  ];
  let metrics = '';
  // Rows are counted shortly after they are readable, and lag is measured every few seconds.
  await eventually('the metrics', async () => {
    metrics = await (await fetch(`${running.http}/metrics`)).text();
    return metricPatterns.every((each) => each.test(metrics));
  }).catch((cause: Error) => t.log(cause.message));
  for (const each of metricPatterns) t.regex(metrics, each);
});

test.serial('a second process on the same data directory is refused with a remedy', async (t) => {
  const [http = 0, grpc = 0, otlp = 0] = await freePorts(3);
  const { code, output } = await run(['start'], {
    OIQ_DATA_DIR: shared,
    OIQ_HTTP_ADDRESS: `127.0.0.1:${http}`,
    OIQ_OTLP_GRPC_ADDRESS: `127.0.0.1:${grpc}`,
    OIQ_OTLP_HTTP_ADDRESS: `127.0.0.1:${otlp}`,
  });
  t.is(code, 1);
  t.regex(
    output,
    /in use by another running oiq \(pid \d+\): stop that process first, or use another data directory for this one/,
  );
});

test.serial(
  'the demo sends to the running instance of the data directory, whatever its own settings are',
  async (t) => {
    const { code, output } = await run(['demo', '--minutes', '0.01'], { OIQ_DATA_DIR: shared });
    t.is(code, 0, output);
    t.regex(output, /done: \d+ log records/);
  },
);

test.serial(
  'demo data is loaded into a separate project, and the project and its keys are deleted with it',
  async (t) => {
    const headers = { authorization: `Bearer ${await signIn(running.http)}` };
    const call = async (method: string, path: string) => {
      const response = await fetch(`${running.http}${path}`, { method, headers });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    const loaded = await call('POST', '/api/onboarding/demo');
    t.is(loaded.status, 200, JSON.stringify(loaded.body));
    t.like(loaded.body, { isAvailable: true, isLoaded: true, projectId: 'demo' });
    await eventually(
      'traces of the demo',
      async () => (await call('GET', '/api/onboarding/received?projectId=demo')).body['traces'] !== null,
    );
    const deleted = await call('DELETE', '/api/onboarding/demo');
    t.like(deleted.body, { isLoaded: false, sending: null }, JSON.stringify(deleted.body));
    t.is((await call('GET', '/api/projects/demo')).status, 404);
    const keys = (await call('GET', '/api/license-keys')).body['items'] as readonly { projectId: string }[];
    t.deepEqual(
      keys.filter(({ projectId }) => projectId === 'demo'),
      [],
    );
  },
);

test.serial('ingesting roles stop before the roles that store the ingested data', async (t) => {
  t.is(await running.stop(), 0);
  const stopped = [...running.output().matchAll(/^\{.*"role stopped".*\}$/gm)].map(
    ([line]) => (JSON.parse(line) as { role: string }).role,
  );
  t.deepEqual(stopped, ['probes', 'api', 'receivers', 'processors', 'sinks']);
});

test.serial(
  'an ingest address in use is named, and a first start that fails for this reason has shown its secrets',
  async (t) => {
    const directory = directoryOf(t);
    const occupant = createServer().listen(0, '127.0.0.1');
    await once(occupant, 'listening');
    t.teardown(() => occupant.close());
    const { port } = occupant.address() as AddressInfo;
    const { code, output } = await run(['start'], {
      OIQ_DATA_DIR: directory,
      OIQ_BOOTSTRAP_PASSWORD: '',
      OIQ_HTTP_ADDRESS: '127.0.0.1:0',
      OIQ_OTLP_GRPC_ADDRESS: `127.0.0.1:${port}`,
      OIQ_OTLP_HTTP_ADDRESS: '127.0.0.1:0',
    });
    t.regex(output, /password +\S{20}\n +license key +oiq_lk_/);
    t.is(code, 1);
    t.regex(
      output,
      /cannot listen on 127\.0\.0\.1:\d+: another program uses the address; set another address with OIQ_OTLP_GRPC_ADDRESS/,
    );
  },
);

for (const [what, args, environment, expected] of [
  ['an unknown variable', ['start'], { OIQ_DATADIR: 'x' }, /OIQ_DATADIR is not a setting; did you mean OIQ_DATA_DIR\?/],
  ['an unknown command', ['strat'], {}, /no such command/],
  [
    'a malformed license key for the first start',
    ['start'],
    { OIQ_BOOTSTRAP_LICENSE_KEY: 'secret' },
    /OIQ_BOOTSTRAP_LICENSE_KEY: not a license key/,
  ],
  [
    'an argument of a command that takes none',
    ['start', 'sinks'],
    {},
    /Unexpected argument 'sinks'[\s\S]*oiq sinks \[NAME/,
  ],
  ['an unknown option of the demo', ['demo', '--unknown'], {}, /Unknown option '--unknown'[\s\S]*oiq demo \[--minutes/],
  [
    'a signal that does not exist',
    ['dead-letter', 'discard', '--signal', 'lgos'],
    {},
    /lgos is not a valid signal; use one of: logs/,
  ],
  ['a limit that is no number', ['dead-letter', 'list', '--limit', 'all'], {}, /--limit must be at least 1/],
  ['a time that is none', ['dead-letter', 'list', '--from', 'yesterday'], {}, /yesterday is not a time/],
  [
    'a list of dead letters where nothing was ever installed',
    ['dead-letter', 'list'],
    { OIQ_DATA_DIR: join(tmpdir(), 'oiq-never-installed') },
    /there is no installation in .*oiq-never-installed: set OIQ_DATA_DIR/,
  ],
  [
    'a data directory that is a file',
    ['start'],
    { OIQ_DATA_DIR: fileURLToPath(import.meta.url) },
    /OIQ_DATA_DIR: .*running\.test\.ts cannot be used: EEXIST/,
  ],
  ['a dead-letter replay of nothing in particular', ['dead-letter', 'replay'], {}, /needs ids, a filter, or --all/],
] as const) {
  test.serial(`${what} is refused with status 2`, async (t) => {
    const { code, output } = await run(args, { OIQ_DATA_DIR: directoryOf(t), ...environment });
    t.is(code, 2, output);
    t.regex(output, expected);
  });
}

for (const args of [
  ['start', '--help'],
  ['sinks', '--help'],
  ['api', '-h'],
  ['settings', '--help'],
]) {
  test.serial(`oiq ${args.join(' ')} prints the commands and starts nothing`, async (t) => {
    const { code, output } = await run(args, { OIQ_DATA_DIR: join(directoryOf(t), 'data') });
    t.is(code, 0, output);
    t.regex(output, /^oiq, an open observability platform/);
  });
}

test.serial('the process exports its own logs and metrics over OTLP/gRPC when an endpoint is set', async (t) => {
  const directory = directoryOf(t);
  const licenseKey = await embeddedDeployment(join(directory, 'target'));
  const target = await started(t, { dataDirectory: join(directory, 'target') });
  const source = await started(t, {
    dataDirectory: join(directory, 'source'),
    environment: {
      OIQ_OTLP_EXPORT_ENDPOINT: `http://${target.grpc}`,
      OIQ_OTLP_EXPORT_HEADERS: `x-license-key=${licenseKey}`,
    },
  });
  await eventually('a measurement of lag', async () =>
    (await (await fetch(`${source.http}/metrics`)).text()).includes('oiq_consumer_lag_messages{'),
  );
  // The last metrics are exported during shutdown.
  t.is(await source.stop(), 0);
  const token = await signIn(target.http);
  const names = async (path: string): Promise<string> =>
    JSON.stringify((await read<{ items: unknown[] }>(target.http, path, token)).items);
  let logs = '';
  let metrics = '';
  await eventually('logs and metrics of the source', async () => {
    logs = await names('/api/logs?service=oiq&limit=1000');
    metrics = await names('/api/metrics?service=oiq');
    return logs.includes('migration applied') && metrics.includes('oiq_consumer_lag_messages');
  });
  t.regex(logs, /migration applied/);
  t.regex(metrics, /oiq_consumer_lag_messages/);
});
