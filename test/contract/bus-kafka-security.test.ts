/** Kafka behind TLS and SASL: both drivers get through with the right password, and neither with a wrong one. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import test from 'ava';
import { kafkaBus } from '../../processors/adapters/bus-kafka.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import { freePorts } from '../end-to-end/oiq-process.ts';
import { type Instance, startService } from '../services/services.ts';
import { consume, eventually, messageTo, someTopic } from './bus-harness.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-kafka-security-'));
const password = 'se"cret ü';
let kafka: Instance;
let brokers: string[];

const certificate = (): { key: string; certificate: string } => {
  const file = (name: string): string => join(directory, name);
  const subject = ['-subj', '/CN=broker', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      ...subject,
      '-keyout',
      file('key'),
      '-out',
      file('crt'),
    ],
    { stdio: 'ignore' },
  );
  return { key: readFileSync(file('key'), 'utf8'), certificate: readFileSync(file('crt'), 'utf8') };
};

/** A text as a value of Java's properties. */
const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('ü', '\\u00fc');

test.before(async (t) => {
  t.timeout(180_000);
  const [port = 0, secure = 0] = await freePorts(2);
  const { key, certificate: chain } = certificate();
  setDefaultCACertificates([...getCACertificates('default'), chain]);
  const place = join(directory, 'kafka');
  mkdirSync(place);
  const user = `org.apache.kafka.common.security.plain.PlainLoginModule required user_oiq="${password.replaceAll('"', '\\"')}";`;
  writeFileSync(
    join(place, 'more.properties'),
    `listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${port + 1},SECURE://127.0.0.1:${secure}
advertised.listeners=PLAINTEXT://127.0.0.1:${port},SECURE://127.0.0.1:${secure}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL
sasl.enabled.mechanisms=PLAIN
listener.name.secure.plain.sasl.jaas.config=${escaped(user)}
ssl.keystore.type=PEM
ssl.keystore.certificate.chain=${escaped(chain)}
ssl.keystore.key=${escaped(key)}
`,
  );
  kafka = await startService('kafka', { port, directory: place });
  brokers = [`127.0.0.1:${secure}`];
});

test.after.always(async () => {
  await kafka?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const open = (secret: string, tls = true) =>
  kafkaBus({ brokers, tls, sasl: { mechanism: 'plain', username: 'oiq', password: secret } });

test('topics are made, and messages go out and come back', async (t) => {
  t.timeout(60_000);
  const bus = await open(password);
  t.teardown(() => bus.close());
  const topic = someTopic();
  await bus.ensureTopics([topic]);
  await (await bus.producer()).publish([messageTo(topic, 'guarded')]);
  const consumer = consume(bus, [topic], { group: topic.name });
  await eventually('the message', 30_000, () => consumer.texts.length === 1);
  await consumer.stop();
  t.deepEqual(consumer.texts, ['guarded']);
  await bus.check();
});

test('a wrong password is refused', async (t) => {
  t.timeout(60_000);
  const bus = await open('wrong');
  t.teardown(() => bus.close());
  const error = await t.throwsAsync(bus.check(), { instanceOf: UnavailableError });
  t.regex(error?.message ?? '', /authentication/i);
});

test('a broker that wants TLS is not reached without', async (t) => {
  t.timeout(60_000);
  const bus = await open(password, false);
  t.teardown(() => bus.close());
  await t.throwsAsync(bus.check(), { instanceOf: UnavailableError });
});
