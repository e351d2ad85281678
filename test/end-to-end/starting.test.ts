/** What a start refuses and prints: settings, damaged or missing files, and the installation. */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { type DirectoryVersion, versionFile } from '../../commands/directory-version.ts';
import { freePorts } from '../services/ports.ts';
import { embeddedDeployment } from './deployment.ts';
import { type OiqOptions, type OiqProcess, type Ran, runOiq, startOiq } from './oiq-process.ts';
import { logsRequest } from './oracle.ts';
import { waitUntilDrained } from './reliability.ts';

const parent = mkdtempSync(join(tmpdir(), 'oiq-starting-'));
test.after.always(() => rmSync(parent, { recursive: true, force: true }));

/** A stopped installation that contains a log record. */
const original = join(parent, 'original');
test.before(async () => {
  const licenseKey = await embeddedDeployment(original);
  const oiq = await startOiq({ dataDirectory: original });
  const sent = await fetch(`${oiq.otlp}/v1/logs`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf', 'x-license-key': licenseKey },
    body: logsRequest('shop', ['one']),
  });
  if (sent.status !== 200) throw new Error(`logs returned ${sent.status}`);
  await waitUntilDrained(oiq.http);
  await oiq.stop();
});

let copies = 0;
const copy = (): string => {
  const directory = join(parent, `copy-${++copies}`);
  cpSync(original, directory, { recursive: true });
  return directory;
};

/** Runs a start that is expected to exit by itself. */
const refused = async (dataDirectory: string, settings: Readonly<Record<string, string>> = {}): Promise<Ran> => {
  const [http, grpc, otlp] = await freePorts(3);
  return runOiq(['start'], {
    OIQ_DATA_DIR: dataDirectory,
    OIQ_HTTP_ADDRESS: `127.0.0.1:${http}`,
    OIQ_OTLP_GRPC_ADDRESS: `127.0.0.1:${grpc}`,
    OIQ_OTLP_HTTP_ADDRESS: `127.0.0.1:${otlp}`,
    ...settings,
  });
};

const started = async (t: ExecutionContext, options: OiqOptions): Promise<OiqProcess> => {
  const oiq = await startOiq(options);
  t.teardown(() => oiq.kill());
  return oiq;
};

for (const [what, settings, expected] of [
  [
    'a license key that is none',
    { OIQ_BOOTSTRAP_LICENSE_KEY: 'secret' },
    /OIQ_BOOTSTRAP_LICENSE_KEY: not a license key/,
  ],
  [
    'a file of plans that is missing',
    { OIQ_PLANS_FILE: '/no/such/file' },
    /OIQ_PLANS_FILE: \/no\/such\/file cannot be read/,
  ],
] as const) {
  test.serial(`${what} is refused before anything is created`, async (t) => {
    const directory = join(parent, 'never-made');
    const { code, output, errors } = await refused(directory, settings);
    t.is(code, 2);
    t.regex(errors, expected);
    t.is(output, '');
    t.false(existsSync(directory));
  });
}

test.serial(
  'a first start prints where to send telemetry, with the address it serves, and only if it serves one',
  async (t) => {
    const whole = await started(t, { dataDirectory: join(parent, 'whole') });
    t.true(whole.output().includes(`OTEL_EXPORTER_OTLP_ENDPOINT=${whole.otlp} `), whole.output());
    const api = await started(t, { args: ['api'], dataDirectory: join(parent, 'api') });
    t.regex(api.output(), /license key +oiq_lk_/);
    t.notRegex(api.output(), /OTEL_EXPORTER_OTLP_ENDPOINT/);
  },
);

test.serial('a data directory that others can read is restricted to its owner', async (t) => {
  const dataDirectory = copy();
  chmodSync(dataDirectory, 0o755);
  const oiq = await started(t, { dataDirectory });
  t.is(statSync(dataDirectory).mode & 0o777, 0o700);
  t.regex(oiq.output(), /other users could read the data directory: their access was removed/);
});

test.serial('a data directory with foreign files keeps its permissions, with a warning', async (t) => {
  const dataDirectory = copy();
  chmodSync(dataDirectory, 0o755);
  writeFileSync(join(dataDirectory, 'notes.txt'), '');
  const oiq = await started(t, { dataDirectory });
  t.is(statSync(dataDirectory).mode & 0o777, 0o755);
  t.regex(
    oiq.output(),
    /it contains notes\.txt, which OIQ did not create[\s\S]*other users can read the data directory/,
  );
});

const secretKey = 'k'.repeat(40);

/** Deleted parts of a directory, the settings of the start, and the names in the error. */
const losses: readonly (readonly [lost: readonly string[], settings: Record<string, string>, named: RegExp])[] = [
  [['secret-key'], {}, /secret-key is missing, but this installation exists[\s\S]*oiq evidence sign/],
  [['bus/offsets.sqlite'], {}, /but bus\/offsets\.sqlite of this installation is missing[\s\S]*land twice/],
  [['bus'], {}, /but bus\/offsets\.sqlite of this installation is missing/],
  [['columns'], {}, /but columns of this installation is missing[\s\S]*telemetry is lost/],
  [['documents.sqlite'], {}, /but documents\.sqlite of this installation is missing[\s\S]*accounts/],
  [['bus', 'documents.sqlite'], {}, /bus\/offsets\.sqlite and documents\.sqlite of this installation is missing/],
  [[], { OIQ_SECRET_KEY: secretKey }, /OIQ_SECRET_KEY is not the key of this installation/],
  [
    ['documents.sqlite', 'secret-key'],
    { OIQ_SECRET_KEY: secretKey },
    /contains no installation, but data of an installation exists \(topic otlp\.logs[\s\S]*table logs/,
  ],
  [['bus', 'documents.sqlite', 'secret-key'], {}, /but bus\/offsets\.sqlite of this installation is missing/],
];
for (const [lost, settings, named] of losses)
  test.serial(
    `a directory without ${lost.join(', ') || 'its own key'}${settings['OIQ_SECRET_KEY'] === undefined ? '' : ', with OIQ_SECRET_KEY,'} is refused${lost.length === 1 ? ' until a new installation is requested' : ''}`,
    async (t) => {
      const dataDirectory = copy();
      for (const name of lost)
        for (const suffix of ['', '-wal', '-shm'])
          rmSync(join(dataDirectory, `${name}${suffix}`), { force: true, recursive: true });
      // With a single missing part, the fix does not depend on the other parts.
      const startsAgain = lost.length === 1;
      for (let tries = 0; tries < (startsAgain ? 2 : 1); tries++) {
        const { code, output, errors } = await refused(dataDirectory, settings);
        t.deepEqual([code, output], [2, '']);
        t.regex(errors, named);
        t.regex(errors, /OIQ_NEW_INSTALLATION=true/);
      }
      if (!startsAgain) return;
      const oiq = await started(t, { dataDirectory, environment: { ...settings, OIQ_NEW_INSTALLATION: 'true' } });
      t.is(/This is the first start/.test(oiq.output()), lost.includes('documents.sqlite'));
      await oiq.stop();
      await started(t, { dataDirectory, environment: settings });
    },
  );

for (const [what, change, named] of [
  [
    'tables',
    ({ tables }: DirectoryVersion) => ({ tables: tables + 1 }),
    /its tables are at version \d+, and this program/,
  ],
  [
    'documents',
    ({ documents }: DirectoryVersion) => ({ documents: [...documents, '999-newer'] }),
    /its documents were migrated by 999-newer/,
  ],
] as const)
  test.serial(`a data directory with newer ${what} is refused before a store opens, with what to do`, async (t) => {
    const dataDirectory = copy();
    const path = join(dataDirectory, versionFile);
    const version = JSON.parse(readFileSync(path, 'utf8')) as DirectoryVersion;
    writeFileSync(path, JSON.stringify({ ...version, ...change(version) }));
    // A store that opened would report this damage.
    writeFileSync(join(dataDirectory, 'bus', 'offsets.sqlite'), Buffer.alloc(20_000, 'garbage'));
    const { code, output, errors } = await refused(dataDirectory);
    t.deepEqual([code, output], [2, '']);
    t.regex(errors, named);
    t.regex(errors, /Run the newer version, or restore a backup from before the upgrade/);
  });

for (const [name, remedy] of [
  ['documents.sqlite', /restore the file from a backup[\s\S]*OIQ_NEW_INSTALLATION=true/],
  ['bus/offsets.sqlite', /Restore the data directory from a backup[\s\S]*move the whole log directory away/],
  ['lock.sqlite', /Remove it: it contains no data/],
  ['bus/lock.sqlite', /Remove it: it contains no data/],
] as const) {
  test.serial(`a damaged ${name} is named, with a remedy`, async (t) => {
    const dataDirectory = copy();
    const path = join(dataDirectory, name);
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
    writeFileSync(path, Buffer.alloc(20_000, 'garbage'));
    const { code, errors } = await refused(dataDirectory);
    t.not(code, 0);
    t.true(errors.includes(`${path} is damaged (file is not a database). `), errors);
    t.regex(errors, remedy);
  });
}

test.serial('a truncated documents file is named', async (t) => {
  const dataDirectory = copy();
  const path = join(dataDirectory, 'documents.sqlite');
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
  truncateSync(path, Math.floor(readFileSync(path).length / 8_192) * 4_096);
  const { code, errors } = await refused(dataDirectory);
  t.not(code, 0);
  t.true(errors.includes(`${path} is damaged (database disk image is malformed). `), errors);
});

test.serial('a command names the installation it acts on, in addition to its output', async (t) => {
  const dataDirectory = copy();
  const stopped = await runOiq(['organization', 'list'], { OIQ_DATA_DIR: dataDirectory });
  t.regex(stopped.output, /default/);
  t.true(stopped.errors.startsWith(`installation: data directory ${dataDirectory}\n`), stopped.errors);
  await started(t, { dataDirectory });
  const running = await runOiq(['organization', 'list'], { OIQ_DATA_DIR: dataDirectory });
  t.is(running.output, stopped.output);
  t.is(running.errors, `installation: data directory ${dataDirectory}\n`);
  const [port] = await freePorts(1);
  const cluster = await runOiq(['organization', 'list'], {
    OIQ_DATA_DIR: dataDirectory,
    OIQ_KAFKA_BROKERS: `127.0.0.1:${port}`,
    OIQ_CLICKHOUSE_URL: `http://user:secret@127.0.0.1:${port}/oiq`,
    OIQ_MONGODB_URL: `mongodb://user:secret@127.0.0.1:${port}/oiq?serverSelectionTimeoutMS=500`,
  });
  t.is(cluster.code, 1);
  t.is(cluster.output, '');
  t.true(
    cluster.errors.startsWith(
      `installation: Kafka 127.0.0.1:${port}, ClickHouse 127.0.0.1:${port}/oiq, MongoDB 127.0.0.1:${port}/oiq\n`,
    ),
    cluster.errors,
  );
  t.notRegex(cluster.errors, /secret/);
});
