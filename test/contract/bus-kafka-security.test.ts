/** Kafka with TLS and SASL: the bus works with the correct password, and reports a wrong password as such. */
import { execFileSync } from 'node:child_process';
import { pbkdf2Sync, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { alterUserScramCredentialsV0, Connection, ScramMechanisms } from '@platformatic/kafka';
import test, { type ExecutionContext } from 'ava';
import { type KafkaBusOptions, openKafkaBus } from '../../adapters/bus-kafka/bus-kafka.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import { runOiq } from '../end-to-end/oiq-process.ts';
import { freePorts } from '../services/ports.ts';
import { type Instance, startService } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { consume, messageTo, someTopic } from './bus-harness.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-kafka-security-'));
const username = 'oiq';
const password = 'se"cret ü';
const offered = ['plain', 'scram-sha-512'] as const;
let kafka: Instance;
let brokers: string[];
/** The listener that requires client certificates. */
let certified: string[];

const file = (name: string): string => join(directory, name);
const openssl = (...args: string[]): void => {
  execFileSync('openssl', args, { stdio: 'ignore', cwd: directory });
};

/** A test CA in `authority.crt`, and the certificates that it issued: `broker` and `client`. */
const certify = (): void => {
  const newKey = ['-newkey', 'rsa:2048', '-nodes'];
  const authority = ['-subj', '/CN=authority', '-addext', 'basicConstraints=critical,CA:TRUE'];
  openssl('req', '-x509', ...newKey, '-days', '2', ...authority, '-keyout', 'authority.key', '-out', 'authority.crt');
  writeFileSync(file('extensions'), 'subjectAltName=IP:127.0.0.1');
  const signed = ['-CA', 'authority.crt', '-CAkey', 'authority.key', '-CAcreateserial', '-extfile', 'extensions'];
  for (const name of ['broker', 'client']) {
    openssl('req', ...newKey, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`);
    openssl('x509', '-req', '-in', `${name}.csr`, ...signed, '-days', '2', '-out', `${name}.crt`);
  }
};
const pem = (name: string): string => readFileSync(file(name), 'utf8');

/** A text as a value in the format of Java properties. */
const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('ü', '\\u00fc');

/** Creates the SCRAM user over the listener without authentication. */
const addScramUser = async (port: number): Promise<void> => {
  const connection = new Connection('test');
  await connection.connect('127.0.0.1', port);
  const [iterations, salt] = [4096, randomBytes(16)];
  const saltedPassword = pbkdf2Sync(password, salt, iterations, 64, 'sha512');
  const user = { name: username, mechanism: ScramMechanisms.SCRAM_SHA_512, iterations, salt, saltedPassword };
  await alterUserScramCredentialsV0.api.async(connection, [], [user]);
  await connection.close();
};

const trusted = getCACertificates('default');
const trustAuthority = (): void => setDefaultCACertificates([...trusted, readFileSync(file('authority.crt'), 'utf8')]);

test.before(async () => {
  const [port = 0, , secure = 0, mutual = 0] = await freePorts(4);
  certify();
  trustAuthority();
  const place = join(directory, 'kafka');
  mkdirSync(place);
  const user = `org.apache.kafka.common.security.plain.PlainLoginModule required user_oiq="${password.replaceAll('"', '\\"')}";`;
  writeFileSync(
    join(place, 'more.properties'),
    `listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${port + 1},SECURE://127.0.0.1:${secure},MUTUAL://127.0.0.1:${mutual}
advertised.listeners=PLAINTEXT://127.0.0.1:${port},SECURE://127.0.0.1:${secure},MUTUAL://127.0.0.1:${mutual}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL,MUTUAL:SSL
listener.name.mutual.ssl.client.auth=required
listener.name.mutual.ssl.truststore.type=PEM
listener.name.mutual.ssl.truststore.certificates=${escaped(pem('authority.crt'))}
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512
listener.name.secure.plain.sasl.jaas.config=${escaped(user)}
listener.name.secure.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
ssl.keystore.type=PEM
ssl.keystore.certificate.chain=${escaped(pem('broker.crt'))}
ssl.keystore.key=${escaped(pem('broker.key'))}
`,
  );
  kafka = await startService('kafka', { port, directory: place });
  brokers = [`127.0.0.1:${secure}`];
  certified = [`127.0.0.1:${mutual}`];
  await addScramUser(port);
});

test.after.always(async () => {
  await kafka?.stop();
  rmSync(directory, { recursive: true, force: true });
});

type Mechanism = NonNullable<KafkaBusOptions['sasl']>['mechanism'];

const open = async (t: ExecutionContext, mechanism: Mechanism, { secret = password, tls = true } = {}) => {
  const bus = await openKafkaBus({ brokers, tls, sasl: { mechanism, username, password: secret } });
  t.teardown(() => bus.close());
  return bus;
};

/** Every request that the bus sends to Kafka. */
const goesThrough = async (t: ExecutionContext, bus: Bus): Promise<void> => {
  const topic = someTopic();
  await bus.ensureTopics([topic]);
  const producer = await bus.producer();
  await producer.publish([messageTo(topic, 'guarded')]);
  await producer.transaction(topic.name, (publish) => publish([messageTo(topic, 'together')]));
  const consumer = consume(bus, [topic], { group: topic.name });
  await eventually('the messages', () => consumer.texts.length === 2);
  await consumer.stop();
  t.deepEqual(consumer.texts, ['guarded', 'together']);
  t.is((await bus.lag(topic.name, [topic.name]))[0]?.lag, 0);
  await bus.check();
};

for (const mechanism of offered) {
  test.serial(`${mechanism}: topics are created, messages are published and consumed, and lag is known`, async (t) => {
    await goesThrough(t, await open(t, mechanism));
  });

  test.serial(`${mechanism}: a wrong password is refused, and the setting is named`, async (t) => {
    const bus = await open(t, mechanism, { secret: 'wrong' });
    const topic = someTopic();
    const message = /authentication failed.*OIQ_KAFKA_SASL_PASSWORD/i;
    await t.throwsAsync(bus.check(), { name: 'Error', message });
    await t.throwsAsync(bus.ensureTopics([topic]), { name: 'Error', message });
    const publishing = (await bus.producer()).publish([messageTo(topic, 'x')]);
    await t.throwsAsync(publishing, { instanceOf: UnavailableError, message });
  });
}

test.serial('a mechanism that the brokers do not offer is named with its setting', async (t) => {
  const bus = await open(t, 'scram-sha-256');
  const expected = { name: 'Error', message: /OIQ_KAFKA_SASL_MECHANISM/ };
  await t.throwsAsync(bus.check(), expected);
  await t.throwsAsync(bus.ensureTopics([someTopic()]), expected);
});

test.serial('a broker that requires TLS is not reachable without it, and the setting is named', async (t) => {
  const bus = await open(t, 'plain', { tls: false });
  await t.throwsAsync(bus.check(), { instanceOf: UnavailableError, message: /OIQ_KAFKA_SSL/ });
});

test.serial('a certificate of an unknown authority is refused, and the error explains how to trust it', async (t) => {
  setDefaultCACertificates(trusted);
  t.teardown(trustAuthority);
  const bus = await open(t, 'plain');
  const expected = { instanceOf: UnavailableError, message: /NODE_EXTRA_CA_CERTS/ };
  await t.throwsAsync(bus.check(), expected);
  await t.throwsAsync(bus.ensureTopics([someTopic()]), expected);
});

const openCertified = async (t: ExecutionContext, tls: KafkaBusOptions['tls']): Promise<Bus> => {
  const bus = await openKafkaBus({ brokers: certified, ...(tls !== undefined && { tls }) });
  t.teardown(() => bus.close());
  return bus;
};

test.serial(
  'client certificate: topics are created, messages are published and consumed, and lag is known',
  async (t) => {
    await goesThrough(t, await openCertified(t, { cert: pem('client.crt'), key: pem('client.key') }));
  },
);

test.serial(
  'brokers that require a client certificate are not reachable without one, and the settings are named',
  async (t) => {
    const bus = await openCertified(t, true);
    await t.throwsAsync(bus.check(), { instanceOf: UnavailableError });
    await t.throwsAsync(bus.ensureTopics([someTopic()]), {
      instanceOf: UnavailableError,
      message: /alert bad certificate.*OIQ_KAFKA_SSL_CERT_FILE/s,
    });
  },
);

test.serial('a process presents the certificate from its files, and names a missing file', async (t) => {
  const settings = {
    OIQ_CLUSTER: 'false',
    OIQ_DATA_DIR: file('data-certified'),
    OIQ_KAFKA_BROKERS: certified.join(','),
    OIQ_KAFKA_SSL: 'true',
    OIQ_KAFKA_SSL_CERT_FILE: file('client.crt'),
    OIQ_KAFKA_SSL_KEY_FILE: file('client.key'),
    NODE_EXTRA_CA_CERTS: file('authority.crt'),
  };
  const { code, errors } = await runOiq(['migrate'], settings);
  t.is(code, 0, errors);
  const refused = await runOiq(['migrate'], { ...settings, OIQ_KAFKA_SSL_KEY_FILE: file('none.key') });
  t.not(refused.code, 0);
  t.regex(refused.errors, /OIQ_KAFKA_SSL_KEY_FILE: .*none\.key cannot be read/);
});

test.serial('a process authenticates with its settings and the CA file', async (t) => {
  const settings = {
    OIQ_CLUSTER: 'false',
    OIQ_DATA_DIR: file('data'),
    OIQ_KAFKA_BROKERS: brokers.join(','),
    OIQ_KAFKA_SSL: 'true',
    OIQ_KAFKA_SASL_MECHANISM: 'scram-sha-512',
    OIQ_KAFKA_SASL_USERNAME: username,
    OIQ_KAFKA_SASL_PASSWORD: password,
    NODE_EXTRA_CA_CERTS: file('authority.crt'),
  };
  const { code, errors } = await runOiq(['migrate'], settings);
  t.is(code, 0, errors);
  const refused = await runOiq(['migrate'], { ...settings, OIQ_KAFKA_SASL_PASSWORD: 'wrong' });
  t.not(refused.code, 0);
  t.regex(refused.errors, /OIQ_KAFKA_SASL_PASSWORD/);
});
