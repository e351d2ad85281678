import test from 'ava';
import { parseSettings, rejectLocalStores, SettingsError } from '../../schemas/settings.ts';

test('an empty environment gives the defaults', (t) => {
  const settings = parseSettings({});
  t.is(settings.DATA_DIR, '.oiq');
  t.is(settings.HTTP_ADDRESS, '127.0.0.1:8080');
  t.deepEqual(settings.KAFKA_BROKERS, []);
  t.is(settings.CLICKHOUSE_URL, undefined);
});

test('an empty value counts as unset', (t) => {
  t.is(parseSettings({ OIQ_MONGODB_URL: '', OIQ_DATA_DIR: '' }).DATA_DIR, '.oiq');
});

test('lists are comma-separated, and blank items are ignored', (t) => {
  t.deepEqual(parseSettings({ OIQ_KAFKA_BROKERS: 'a:9092, b:9092,' }).KAFKA_BROKERS, ['a:9092', 'b:9092']);
});

for (const [title, environment, message] of [
  ['without their cluster', { OIQ_CLICKHOUSE_URL: 'http://a:8123/oiq,http://b:8123/oiq' }, /OIQ_CLICKHOUSE_CLUSTER/],
  [
    'with several databases',
    { OIQ_CLICKHOUSE_URL: 'http://a:8123/oiq, http://b:8123/other', OIQ_CLICKHOUSE_CLUSTER: 'c' },
    /all URLs must use the same one/,
  ],
  ['with an invalid address', { OIQ_CLICKHOUSE_URL: 'http://a:8123/oiq,b', OIQ_CLICKHOUSE_CLUSTER: 'c' }, /address/],
] as const)
  test(`several ClickHouse servers ${title} are rejected`, (t) => {
    const error = t.throws(() => parseSettings(environment), { instanceOf: SettingsError });
    t.regex(error.message, message);
  });

test('an unknown variable is rejected with the nearest known name', (t) => {
  const error = t.throws(() => parseSettings({ OIQ_KAFKA_BROKER: 'a:9092' }), { instanceOf: SettingsError });
  t.regex(error.message, /OIQ_KAFKA_BROKER is not a setting; did you mean OIQ_KAFKA_BROKERS\?/);
});

test('all problems are reported at once', (t) => {
  const error = t.throws(() => parseSettings({ OIQ_HTTP_ADDRESS: 'nowhere', OIQ_SHUTDOWN_SECONDS: '-1', OIQ_X: '' }), {
    instanceOf: SettingsError,
  });
  t.is(error.message.split('\n').length, 3);
  t.regex(error.message, /OIQ_HTTP_ADDRESS: must be host:port \(got "nowhere"\)/);
});

for (const [variable, value] of [
  ['OIQ_HTTP_ADDRESS', '127.0.0.1:65536'],
  ['OIQ_TRUSTED_PROXIES', 'proxy'],
  ['OIQ_TRUSTED_PROXIES', '10.0.0.0/8, 10.0.0.1/33'],
  ['OIQ_OUTBOUND_NETWORKS', 'fd00::/129'],
  ['OIQ_OTLP_EXPORT_HEADERS', 'x-license-key'],
] as const) {
  test(`${variable} is rejected as ${value}, before any resource is opened`, (t) => {
    const error = t.throws(() => parseSettings({ [variable]: value }), { instanceOf: SettingsError });
    t.true(error.message.startsWith(`${variable}: `), error.message);
  });
}

for (const [variable, value, sentence] of [
  ['OIQ_BOOTSTRAP_PASSWORD', 'short', 'must have at least 12 characters'],
  ['OIQ_BOOTSTRAP_EMAIL', 'nobody', 'must be an e-mail address (got "nobody")'],
  ['OIQ_MONGODB_URL', 'http://db', 'must start with mongodb'],
  ['OIQ_KAFKA_SSL', 'maybe', 'must be true or false (got "maybe")'],
  ['OIQ_GRPC_SERVER', 'other', 'must be one of: own, node (got "other")'],
  ['OIQ_SHUTDOWN_SECONDS', '0', 'must be above 0 (got "0")'],
  ['OIQ_SHUTDOWN_SECONDS', 'soon', 'must be a number (got "soon")'],
  ['OIQ_SHUTDOWN_SECONDS', '1.5', 'must be a whole number (got "1.5")'],
  ['OIQ_BUS_PUBLISH_DELAY_MS', '1001', 'must be at most 1000 (got "1001")'],
] as const) {
  test(`${variable}=${value}: ${sentence}`, (t) => {
    const error = t.throws(() => parseSettings({ [variable]: value }), { instanceOf: SettingsError });
    t.is(error.message, `${variable}: ${sentence}`);
  });
}

test('a Kafka certificate requires its key and TLS', (t) => {
  const files = { OIQ_KAFKA_SSL_CERT_FILE: 'a.crt', OIQ_KAFKA_SSL_KEY_FILE: 'a.key' };
  t.is(parseSettings({ ...files, OIQ_KAFKA_SSL: 'true' }).KAFKA_SSL_KEY_FILE, 'a.key');
  t.throws(() => parseSettings(files), { instanceOf: SettingsError, message: /OIQ_KAFKA_SSL=true/ });
  t.throws(() => parseSettings({ ...files, OIQ_KAFKA_SSL: 'true', OIQ_KAFKA_SSL_KEY_FILE: '' }), {
    instanceOf: SettingsError,
    message: /require each other/,
  });
});

test('networks are addresses or ranges of either family', (t) => {
  const { TRUSTED_PROXIES } = parseSettings({ OIQ_TRUSTED_PROXIES: '10.0.0.1, 10.0.0.0/8, ::1, fd00::/8' });
  t.deepEqual(TRUSTED_PROXIES, ['10.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8']);
});

for (const [variable, value] of [
  ['OIQ_BOOTSTRAP_PASSWORD', 'short'],
  ['OIQ_SECRET_KEY', 'short'],
  ['OIQ_CLICKHOUSE_URL', 'user:hidden-password'],
] as const) {
  test(`a rejected ${variable} is not shown`, (t) => {
    const error = t.throws(() => parseSettings({ [variable]: value }), { instanceOf: SettingsError });
    t.false(error.message.includes(value), error.message);
  });
}

const stores = {
  OIQ_KAFKA_BROKERS: 'kafka:9092',
  OIQ_CLICKHOUSE_URL: 'http://clickhouse:8123/oiq',
  OIQ_MONGODB_URL: 'mongodb://mongodb:27017/oiq',
};

for (const missing of Object.keys(stores)) {
  const settings = parseSettings({ ...stores, [missing]: '' });

  test(`a cluster process without ${missing} is rejected by that name`, (t) => {
    const error = t.throws(() => rejectLocalStores(settings, { isPart: true }), { instanceOf: SettingsError });
    t.is(error.message, `${missing} is not set: processes of a cluster share Kafka, ClickHouse and MongoDB`);
  });

  test(`an all-in-one process stores the data of ${missing} in its data directory`, (t) => {
    t.notThrows(() => rejectLocalStores(settings, { isPart: false }));
  });
}

test('a process can have either all or none of its stores in the data directory', (t) => {
  t.notThrows(() => rejectLocalStores(parseSettings({}), { isPart: true }));
  t.notThrows(() => rejectLocalStores(parseSettings(stores), { isPart: true }));
});

test('OIQ_CLUSTER=true rejects any store in the data directory, and OIQ_CLUSTER=false none', (t) => {
  for (const isPart of [true, false]) {
    const cluster = parseSettings({ OIQ_CLUSTER: 'true' });
    const error = t.throws(() => rejectLocalStores(cluster, { isPart }), { instanceOf: SettingsError });
    t.deepEqual(
      error.message.split('\n').map((line) => line.split(' ')[0]),
      Object.keys(stores),
    );
    t.notThrows(() => rejectLocalStores(parseSettings({ ...stores, OIQ_CLUSTER: 'true' }), { isPart }));
    t.notThrows(() =>
      rejectLocalStores(parseSettings({ ...stores, OIQ_MONGODB_URL: '', OIQ_CLUSTER: 'false' }), { isPart }),
    );
  }
});
