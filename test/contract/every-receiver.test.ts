/** Contract of every registered receiver. Each is tested with its examples (`receiver-examples.ts`). */
import test from 'ava';
import { errorKinds } from '../../receivers/engine/error-responses.ts';
import type { ListenAddress } from '../../receivers/engine/receiver.ts';
import { republishRejected } from '../../receivers/index.ts';
import { receivers, requireFormat } from '../../receivers/registry.ts';
import { decompress } from '../../schemas/compression.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { generateLicenseKey } from '../../schemas/license-key-format.ts';
import { scanRequest } from '../../schemas/otlp/scan.ts';
import type { Message } from '../../schemas/ports/bus.ts';
import { scanWriteRequest } from '../../schemas/prometheus/scan.ts';
import { decodeHeaders } from '../../schemas/telemetry-message.ts';
import { topics } from '../../schemas/topics.ts';
import { countRows } from '../../sinks/native/rows.ts';
import { createDeadLetterScanner } from '../../sinks/scan/dead-letter-scanner.ts';
import { type FormatExample, packed, type ReceiverExample, receiverExamples } from './receiver-examples.ts';
import { call } from './receivers-calls.ts';
import {
  browserOrigin,
  type Fixture,
  openBody,
  projectId,
  running,
  secretBox,
  storeBody,
  tenantId,
} from './receivers-fixture.ts';

/** A response of any protocol. */
interface Answered {
  readonly isAccepted: boolean;
  /** Status over HTTP, code over gRPC. */
  readonly code: number;
  /** Error message of a refusal. */
  readonly message: string;
  /** Whether the response has a retry delay. */
  readonly retry: boolean;
}

/** Sends an encoded body to the address of a receiver. */
type Send = (fixture: Fixture, body: Buffer, secret?: string) => Promise<Answered>;

const overGrpc =
  (path: string, { encoding }: FormatExample): Send =>
  async ({ grpc, secret: known }, body, secret = known) => {
    // The client compresses the body itself.
    const plain = encoding === 'gzip' ? decompress('gzip', body, 1e9) : body;
    const { error } = await call({ grpc, secret }, path, plain, { gzip: encoding === 'gzip' });
    const details = error?.metadata.get('grpc-status-details-bin')[0]?.toString() ?? '';
    return {
      isAccepted: error === undefined,
      code: error?.code ?? 0,
      message: error?.details ?? '',
      retry: details.includes('google.rpc.RetryInfo'),
    };
  };

const overHttp =
  (
    { setting }: ListenAddress,
    path: string,
    { contentType, encoding }: FormatExample,
    { success, messageOf }: ReceiverExample,
  ): Send =>
  async ({ http, main, secret: serverSecret, browserSecret }, body, givenSecret) => {
    const isBrowser = path.includes('{key}');
    const secret = givenSecret ?? (isBrowser ? browserSecret : serverSecret);
    const response = await fetch((setting === 'HTTP_ADDRESS' ? main : http) + path.replace('{key}', secret), {
      method: 'POST',
      headers: {
        ...(isBrowser ? { origin: browserOrigin } : { 'x-license-key': secret }),
        'content-type': contentType,
        ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
      },
      body: body as Uint8Array<ArrayBuffer>,
    });
    const apiResponse = Buffer.from(await response.arrayBuffer());
    const isAccepted = response.status === success;
    return {
      isAccepted,
      code: response.status,
      message: isAccepted ? '' : messageOf(response.headers.get('content-type'), apiResponse),
      retry: Number(response.headers.get('retry-after')) >= 1,
    };
  };

/** Records of messages; each member is scanned as a sink does. */
const recordsIn = (messages: readonly Pick<Message, 'headers' | 'value'>[]): number => {
  let records = 0;
  for (const { headers: encoded, value } of messages) {
    const { signal, format, encoding, members } = decodeHeaders(encoded);
    let at = 0;
    for (const member of members) {
      const body = decompress(encoding, value.subarray(at, at + member.length), 1e9);
      at += member.length;
      const { samples, histograms } =
        format === 'otlp'
          ? { samples: scanRequest(signal, body).records, histograms: 0 }
          : scanWriteRequest(format === 'remote-write-1' ? 1 : 2, body);
      if (samples + histograms !== member.records) throw new Error('a member has not the records that it says');
      records += member.records;
    }
  }
  return records;
};

/** Dead letters as the list returns them. */
const rowsOf = (messages: readonly Message[]): number => {
  const scanner = createDeadLetterScanner();
  const deadLetters = messages.filter(({ topic }) => topic === topics.deadLetter.name);
  for (const [offset, { headers = {}, value }] of deadLetters.entries())
    scanner.scan({ headers, value, offset, timestampMs: 0 }, 0);
  const [rows] = scanner.tables;
  return rows === undefined ? 0 : countRows(rows);
};

const published = ({ bus }: Fixture): Message[] =>
  bus.messages.filter(({ topic }) => topic !== topics.deadLetter.name && topic !== topics.usage.name);

const malformedBody = new PermanentError('malformed', 'a malformed body');

/** Receivers whose malformed bodies are stored. */
const storing = receivers.filter(({ formats }) => formats.every(({ isSensitive }) => !isSensitive?.(malformedBody)));

for (const receiver of storing) {
  const { name, listens, maxBodyBytes, formats, signals } = receiver;
  const example = receiverExamples[name];
  const keyIdOf = ({ keyId, browserKeyId }: Fixture): string =>
    listens.some(({ paths }) => Object.values(paths).some((path) => path.includes('{key}'))) ? browserKeyId : keyId;

  test(`${name} has a unique name, a summary, a path for each signal and an example of each format`, (t) => {
    t.is(receivers.filter((other) => other.name === name).length, 1);
    t.true(receiver.summary.length > 10);
    t.true(signals.length > 0);
    for (const { paths } of listens) t.deepEqual(Object.keys(paths).sort(), [...signals].sort());
    for (const format of formats) t.is(requireFormat(format.name), format, 'another format has this name');
    t.deepEqual(Object.keys(example?.formats ?? {}).sort(), formats.map((format) => format.name).sort());
  });

  for (const [format, bodies] of Object.entries(example?.formats ?? {})) {
    const { signal, encoding, records } = bodies;
    const good = packed(bodies.good, encoding);
    const sends = listens.map((listen): [string, Send] => {
      const path = listen.paths[signal] ?? '';
      const send =
        listen.protocol === 'grpc'
          ? overGrpc(path, bodies)
          : overHttp(listen, path, bodies, example as ReceiverExample);
      return [listen.setting, send];
    });
    const [[, send] = []] = sends;
    if (send === undefined) throw new Error(`${name} listens nowhere`);
    const isGrpc = listens[0]?.protocol === 'grpc';
    const codeOf = (kind: keyof typeof errorKinds): number => errorKinds[kind][isGrpc ? 'grpc' : 'http'];
    const title = `${name}, ${format}`;

    for (const [setting, sendThere] of sends) {
      test(`${title}: a valid body is on the bus when the response is sent (${setting})`, async (t) => {
        await using fixture = await running();
        const { isAccepted, message } = await sendThere(fixture, good);
        t.true(isAccepted, message);
        t.is(recordsIn(published(fixture)), records);
        for (const { headers } of published(fixture))
          t.like(decodeHeaders(headers), { tenantId, projectId, keyId: keyIdOf(fixture), signal });
        t.deepEqual(fixture.bus.deadLetters(), []);
      });
    }

    test(`${title}: a body without records is accepted, and nothing of it is stored`, async (t) => {
      await using fixture = await running();
      t.true((await send(fixture, packed(bodies.nothing, encoding))).isAccepted);
      t.is(recordsIn(published(fixture)), 0);
    });

    test(`${title}: a malformed body is refused in the protocol's form, and its dead letter contains the reason, the position and the format`, async (t) => {
      await using fixture = await running();
      const body = packed(bodies.malformed, encoding);
      const { code, message } = await send(fixture, body);
      t.is(code, codeOf('malformed'));
      t.deepEqual(published(fixture), []);
      const [deadLetter, ...others] = fixture.bus.deadLetters();
      t.is(others.length, 0);
      t.deepEqual(decompress(encoding, deadLetter ? openBody(deadLetter) : Buffer.alloc(0), 1e6), bodies.malformed);
      t.like(deadLetter?.headers, {
        tenantId,
        projectId,
        keyId: keyIdOf(fixture),
        signal,
        origin: name,
        kind: 'refused',
        format,
        cut: false,
        contentEncoding: encoding,
      });
      t.is(typeof deadLetter?.headers.position, 'number');
      t.true(message.includes(deadLetter?.headers.message ?? 'no message'), message);
      t.is(rowsOf(fixture.bus.messages), 1);
      const again = t.throws(() => deadLetter && republishRejected(deadLetter.headers, deadLetter.body, { secretBox }));
      t.is(again?.message ?? '', deadLetter?.headers.message ?? 'none');
    });

    test(`${title}: a dead letter whose body has become valid is replayed to exactly its records`, async (t) => {
      await using fixture = await running();
      await send(fixture, packed(bodies.malformed, encoding));
      const headers = fixture.bus.deadLetters()[0]?.headers;
      if (headers === undefined) return t.fail('there is no dead letter');
      await send(fixture, good);
      const messages = republishRejected(headers, storeBody(headers, good), { secretBox });
      t.is(recordsIn(messages), records);
      const place = ({ topic, key, value }: Message) => ({ topic, key, value: Buffer.from(value).toString('hex') });
      t.deepEqual(messages.map(place), published(fixture).map(place));
      // A body that is parsed as another format must not count as replayed.
      const reason = { instanceOf: Error, message: /contains no .* records/ };
      t.throws(
        () => republishRejected(headers, storeBody(headers, packed(bodies.nothing, encoding)), { secretBox }),
        reason,
      );
      t.throws(() => republishRejected({ ...headers, format: 'no-such-format' }, good, { secretBox }), {
        message: /no-such-format/,
      });
    });

    test(`${title}: a body above the size limit is refused as too large, and nothing of it is stored`, async (t) => {
      await using fixture = await running();
      t.is((await send(fixture, packed(Buffer.alloc(maxBodyBytes + 1, 0x20), encoding))).code, codeOf('too-large'));
      t.deepEqual(published(fixture), []);
    });

    test(`${title}: without a known key nothing is accepted and nothing is stored`, async (t) => {
      await using fixture = await running();
      for (const secret of ['', generateLicenseKey()]) {
        t.is((await send(fixture, good, secret)).code, codeOf('unauthenticated'));
        t.is((await send(fixture, packed(bodies.malformed, encoding), secret)).code, codeOf('unauthenticated'));
      }
      t.deepEqual(fixture.bus.messages, []);
    });

    test(`${title}: while the bus is down nothing is acknowledged, and the response asks the sender to retry`, async (t) => {
      await using fixture = await running();
      fixture.bus.broken = 'everything';
      for (const body of [good, packed(bodies.malformed, encoding)])
        t.like(await send(fixture, body), { isAccepted: false, code: codeOf('unavailable'), retry: true });
      t.deepEqual(fixture.bus.messages, []);
      fixture.bus.broken = undefined;
      t.true((await send(fixture, good)).isAccepted);
      t.is(recordsIn(published(fixture)), records);
    });

    test(`${title}: a permanent refusal by the bus is not blamed on the body: nothing is acknowledged, and the sender keeps the body`, async (t) => {
      await using fixture = await running();
      await send(fixture, good);
      fixture.bus.refuses = published(fixture)[0]?.topic;
      t.like(await send(fixture, good), { isAccepted: false, code: codeOf('unavailable'), retry: true });
      t.is(recordsIn(published(fixture)), records);
      t.deepEqual(fixture.bus.deadLetters(), []);
      fixture.bus.refuses = topics.deadLetter.name;
      const malformed = packed(bodies.malformed, encoding);
      t.like(await send(fixture, malformed), { isAccepted: false, code: codeOf('unavailable'), retry: true });
    });

    test(`${title}: when publishing fails intermittently, acknowledged requests are on the bus, once each`, async (t) => {
      await using fixture = await running();
      fixture.bus.failsEvery = 3;
      const responses: Answered[] = [];
      for (let index = 0; index < 9; index++) responses.push(await send(fixture, good));
      const acknowledged = responses.filter(({ isAccepted }) => isAccepted).length;
      t.true(acknowledged > 0 && acknowledged < 9, `${acknowledged}`);
      t.is(recordsIn(published(fixture)), acknowledged * records);
      for (const { isAccepted, code, retry } of responses)
        t.true(isAccepted || (retry && code === codeOf('unavailable')), `${code}`);
    });
  }
}

test('receivers on one address have different paths', (t) => {
  const places = receivers.flatMap(({ listens }) =>
    listens.flatMap(({ setting, paths }) => Object.values(paths).map((path) => `${setting} ${path}`)),
  );
  t.is(new Set(places).size, places.length);
});
