/** gRPC checks against real servers of grpc.health.v1. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Metadata, Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import test, { type ExecutionContext } from 'ava';
import type { Outcome } from '../../../subjects/synthetics/state.ts';
import { run, serveHttp, serveSocket, soon } from './targets.ts';

const same = (bytes: Buffer): Buffer => bytes;
const health = {
  check: {
    path: '/grpc.health.v1.Health/Check',
    requestStream: false,
    responseStream: false,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  },
};
type Call = ServerUnaryCall<Buffer, Buffer>;

/**
 * Serves health checks: the server as a whole is serving, `cart` is not, `slow` never responds. Other services are not
 * found.
 */
const serveHealth = async (
  t: ExecutionContext,
  credentials = ServerCredentials.createInsecure(),
  onCall: (call: Call) => void = () => undefined,
): Promise<number> => {
  const server = new Server();
  server.addService(health, {
    check(call: Call, done: sendUnaryData<Buffer>) {
      onCall(call);
      const service = call.request.length === 0 ? '' : call.request.subarray(2).toString();
      if (service === 'slow') return;
      if (service === '') return done(null, Buffer.from([0x08, 1]));
      if (service === 'cart') return done(null, Buffer.from([0x08, 2]));
      if (service === 'none') return done(null, Buffer.alloc(0));
      done({ code: status.NOT_FOUND, details: 'there is no such service', metadata: new Metadata() });
    },
  });
  t.teardown(() => server.forceShutdown());
  return new Promise((bound, failed) =>
    server.bindAsync('127.0.0.1:0', credentials, (error, port) => (error === null ? bound(port) : failed(error))),
  );
};

const grpc = (settings: object, more: object = {}, around = {}) =>
  run({ type: 'grpc', grpc: { host: '127.0.0.1', tls: false, ...settings }, ...more }, around);

const code = (value: string) => [{ source: 'code', operator: 'is', value }];

test('a gRPC check requests the health of a service', async (t) => {
  const port = await serveHealth(t);
  const table: readonly (readonly [settings: object, outcome: Outcome, message: RegExp])[] = [
    [{}, 'passed', /^$/],
    [{ service: 'cart' }, 'failed', /cart of 127\.0\.0\.1 is NOT_SERVING, expected: SERVING/],
    [{ service: 'none' }, 'failed', /is UNKNOWN/],
    [{ service: 'other' }, 'failed', /is NOT_FOUND/],
    [{ service: 'cart', assertions: code('NOT_SERVING') }, 'passed', /^$/],
    [{ service: 'other', assertions: code('NOT_FOUND') }, 'passed', /^$/],
    [{ assertions: [{ source: 'duration', operator: 'lt', value: 0, level: 'degrade' }] }, 'degraded', /duration/],
  ];
  for (const [settings, outcome, message] of table) {
    const seen = await grpc({ port, ...settings });
    t.is(seen.outcome, outcome, JSON.stringify(settings));
    t.regex(seen.message, message);
  }
});

test('phases of a gRPC check add up to its duration, and its calls have a user agent', async (t) => {
  const calls: Call[] = [];
  const port = await serveHealth(t, undefined, (call) => calls.push(call));
  const names = { 'shop.example': [['127.0.0.1']] };
  const metadata = { authorization: 'Bearer {{variables.token}}' };
  const variables = { token: { value: 's3cret-t0ken', hosts: ['shop.example'] } };
  const seen = await grpc({ host: 'shop.example', port, metadata }, {}, { names, variables });
  t.is(seen.outcome, 'passed', seen.message);
  t.deepEqual(Object.keys(seen.phases), ['lookup', 'connect', 'wait']);
  const sum = Object.values(seen.phases).reduce((whole, ms) => whole + ms, 0);
  t.true(Math.abs(sum - seen.durationMs) < 0.01);
  const [call] = calls;
  t.is(call?.getHost(), `shop.example:${port}`);
  t.deepEqual(call?.metadata.get('authorization'), ['Bearer s3cret-t0ken']);
  t.deepEqual(call?.metadata.get('x-oiq-check'), ['c1']);
  t.regex(String(call?.metadata.get('traceparent')), new RegExp(`^00-${seen.traceId}-[0-9a-f]{16}-01$`));
  t.regex(String(call?.metadata.get('user-agent')), /^oiq-probe/);
  const elsewhere = { token: { value: 's3cret-t0ken', hosts: ['other.example'] } };
  const refused = await grpc({ host: 'shop.example', port, metadata }, {}, { names, variables: elsewhere });
  t.is(refused.outcome, 'failed');
  t.regex(refused.message, /a secret of the check is not bound to shop\.example/);
  t.is(calls.length, 1);
});

test('the TLS of a gRPC server is verified, and its certificate is evaluated', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-certificate-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const created = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '11'];
  const names = ['-subj', '/CN=shop.example', '-addext', 'subjectAltName=DNS:shop.example'];
  execFileSync('openssl', [...created, ...names, '-keyout', 'k.pem', '-out', 'c.pem'], {
    cwd: directory,
    stdio: 'ignore',
  });
  const pair = {
    private_key: readFileSync(join(directory, 'k.pem')),
    cert_chain: readFileSync(join(directory, 'c.pem')),
  };
  const port = await serveHealth(t, ServerCredentials.createSsl(null, [pair]));
  const around = { names: { 'shop.example': [['127.0.0.1']] } };
  const secure = (settings: object) => grpc({ host: 'shop.example', port, tls: true, ...settings }, {}, around);
  const untrusted = await secure({});
  t.is(untrusted.outcome, 'failed');
  t.regex(untrusted.message, /self-signed/);
  const left = [{ source: 'certificate', name: 'daysLeft', operator: 'gte', value: 14, level: 'degrade' }];
  const seen = await secure({ verifyCertificate: false, assertions: left });
  t.is(seen.outcome, 'degraded', seen.message);
  t.deepEqual(Object.keys(seen.phases), ['lookup', 'connect', 'tls', 'wait']);
  t.not((await grpc({ port, tls: false })).outcome, 'passed');
});

test('a target that hangs, refuses or speaks no gRPC is down, and private networks are not reached', async (t) => {
  const port = await serveHealth(t);
  const hanging = await grpc({ port, service: 'slow' }, { timeout: soon(300) });
  t.is(hanging.outcome, 'failed');
  t.regex(hanging.message, /took too long \(wait\)/);
  const silent = await serveSocket(t, () => undefined);
  t.regex((await grpc({ port: silent }, { timeout: soon(300) })).message, /took too long/);
  const closed = await grpc({ host: '127.0.0.3', port });
  t.is(closed.outcome, 'failed');
  t.regex(closed.message, /refused the connection/);
  const web = await serveHttp(t, (_, response) => response.end('hello'));
  t.is((await grpc({ port: web }, { timeout: soon(1000) })).outcome, 'failed');
  const none = { allowed: [], names: { 'inner.example': [['10.0.0.1']] } };
  t.is((await grpc({ port }, {}, none)).outcome, 'unknown');
  t.is((await grpc({ host: 'inner.example', port }, {}, none)).outcome, 'unknown');
  // The connection uses the checked address, even if the name resolves differently a moment later.
  const names = { 'shop.example': [['127.0.0.1'], ['10.0.0.1']] };
  t.is((await grpc({ host: 'shop.example', port }, {}, { names })).outcome, 'passed');
});
