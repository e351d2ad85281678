/** Responses of every protocol to a sender that is too fast. A sender that respects them loses nothing. */
import { setTimeout as delay } from 'node:timers/promises';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import test from 'ava';
import { request, writeRequest2 } from '../contract/receivers-bodies.ts';
import { contentTypes, type Subject, snappy, startSubject } from './conformance.ts';

let subject: Subject;
let client: Client;
test.before(async () => {
  subject = await startSubject({ OIQ_KEY_REQUESTS_PER_SECOND: '2' });
  client = new Client(subject.oiq.grpc, credentials.createInsecure());
});
test.after.always(async () => {
  client?.close();
  await subject?.close();
});

/** The result of one attempt: accepted, or rejected with the seconds to wait. */
type Outcome = { readonly isAccepted: true } | { readonly isAccepted: false; readonly waitSeconds: number };

const overHttp = async (url: string, body: Uint8Array, headers: Readonly<Record<string, string>>): Promise<Outcome> => {
  const all = { 'x-license-key': subject.licenseKey, ...headers };
  const response = await fetch(url, { method: 'POST', headers: all, body: new Uint8Array(body) });
  await response.arrayBuffer();
  if (response.ok) return { isAccepted: true };
  if (response.status !== 429) throw new Error(`returned ${response.status}`);
  return { isAccepted: false, waitSeconds: Number(response.headers.get('retry-after')) };
};

/** Seconds of RetryInfo in a `google.rpc.Status`: Any.value is field 2, the delay field 1, its seconds field 1. */
const retrySeconds = (error: ServiceError): number => {
  const [bytes] = error.metadata.get('grpc-status-details-bin');
  if (!Buffer.isBuffer(bytes)) return Number.NaN;
  const type = Buffer.from('type.googleapis.com/google.rpc.RetryInfo');
  const at = bytes.indexOf(type);
  const [tag, , delayTag, , secondsTag, seconds] = bytes.subarray(at + type.length);
  return at > 0 && tag === 0x12 && delayTag === 0x0a && secondsTag === 0x08 ? (seconds ?? Number.NaN) : Number.NaN;
};

const overGrpc = (): Promise<Outcome> => {
  const metadata = new Metadata();
  metadata.set('x-license-key', subject.licenseKey);
  const same = (bytes: Buffer): Buffer => bytes;
  const path = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, same, same, request('traces'), metadata, (error) => {
      if (error === null) resolve({ isAccepted: true });
      else if (error.code === 8) resolve({ isAccepted: false, waitSeconds: retrySeconds(error) });
      else reject(error);
    });
  });
};

const protocols: Readonly<Record<string, () => Promise<Outcome>>> = {
  'OTLP over HTTP': () =>
    overHttp(`${subject.oiq.otlp}/v1/logs`, request('logs'), { 'content-type': 'application/x-protobuf' }),
  'OTLP over gRPC': overGrpc,
  'remote-write': () =>
    overHttp(`${subject.oiq.http}/api/v1/prom/write`, snappy(writeRequest2()), {
      'content-type': contentTypes[2],
      'content-encoding': 'snappy',
    }),
};

for (const [protocol, send] of Object.entries(protocols)) {
  test.serial(`${protocol}: a sender that is too fast gets a retry delay, and is accepted after it`, async (t) => {
    const outcomes = await Promise.all(Array.from({ length: 50 }, send));
    const waits = outcomes.flatMap((outcome) => (outcome.isAccepted ? [] : [outcome.waitSeconds]));
    t.true(waits.length > 0, 'fifty concurrent requests were accepted');
    t.true(
      waits.every((seconds) => seconds >= 1 && seconds <= 60),
      waits.join(),
    );
    await delay(Math.max(...waits) * 1000);
    t.true((await send()).isAccepted);
  });
}
