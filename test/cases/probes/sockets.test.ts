/** TCP, TLS and DNS checks against real local servers. */
import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import test, { type ExecutionContext } from 'ava';
import { run, serveSocket, soon } from './targets.ts';

const tcp = (settings: object, more: object = {}, around = {}) =>
  run({ type: 'tcp', tcp: { host: '127.0.0.1', ...settings }, ...more }, around);

test('a TCP check sends data, and evaluates the response', async (t) => {
  const port = await serveSocket(t, (socket) => {
    socket.write('220 mail.example ');
    setTimeout(() => socket.write('ESMTP\r\n'), 50);
    socket.on('data', (data) => socket.end(`250 ${String(data)}`));
  });
  const bodyContains = (value: string) => [{ source: 'body', operator: 'contains', value }];
  t.is((await tcp({ port })).outcome, 'passed');
  t.is((await tcp({ port, assertions: bodyContains('ESMTP') })).outcome, 'passed');
  t.is((await tcp({ port, send: 'EHLO {{uuid}}', assertions: bodyContains('250 EHLO') })).outcome, 'passed');
  const wrong = await tcp({ port, send: 'x', assertions: bodyContains('nothing') });
  t.is(wrong.outcome, 'failed');
  t.regex(wrong.message, /body is 220 mail\.example/);
  const hanging = await tcp({ port, assertions: bodyContains('nothing') }, { timeout: soon(300) });
  t.regex(hanging.message, /took too long \(receive\)/);
});

test('a TCP check reaches no private network, and reports refused connections', async (t) => {
  const port = await serveSocket(t, (socket) => socket.end());
  const none = { allowed: [] };
  t.is((await tcp({ port }, {}, none)).outcome, 'unknown');
  t.is((await tcp({ host: '::ffff:127.0.0.1', port }, {}, none)).outcome, 'unknown');
  const names = { 'db.example': [['10.0.0.1']] };
  t.is((await tcp({ host: 'db.example', port }, {}, { allowed: [], names })).outcome, 'unknown');
  const closed = await tcp({ host: '127.0.0.3', port });
  t.is(closed.outcome, 'failed');
  t.regex(closed.message, /refused the connection/);
});

const certified = (t: ExecutionContext): { readonly key: Buffer; readonly cert: Buffer } => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-certificate-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const names = ['-subj', '/CN=shop.example/O=Test CA', '-addext', 'subjectAltName=DNS:shop.example,IP:127.0.0.1'];
  const files = ['-keyout', 'k.pem', '-out', 'c.pem'];
  const created = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '11'];
  execFileSync('openssl', [...created, ...names, ...files], { cwd: directory, stdio: 'ignore' });
  return { key: readFileSync(join(directory, 'k.pem')), cert: readFileSync(join(directory, 'c.pem')) };
};

test('a TLS check reports the validity, the names and the missing trust of a certificate', async (t) => {
  const server = createServer(certified(t), (socket) => socket.on('error', () => undefined));
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  t.teardown(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const names = { 'shop.example': [['127.0.0.1']] };
  const tls = (settings: object) => run({ type: 'tls', tls: { host: 'shop.example', port, ...settings } }, { names });
  const left = { source: 'certificate', name: 'daysLeft', operator: 'gte', value: 14, level: 'degrade' };
  const issuer = { source: 'certificate', name: 'issuer', operator: 'contains', value: 'O=Test CA' };
  const named = { source: 'certificate', name: 'name', operator: 'is', value: 'shop.example' };
  const protocol = { source: 'protocol', operator: 'is', value: 'TLSv1.3' };
  const seen = await tls({ verifyCertificate: false, assertions: [issuer, named, protocol] });
  t.is(seen.outcome, 'passed', seen.message);
  t.deepEqual(Object.keys(seen.phases), ['lookup', 'connect', 'tls']);
  const { expiresAtMs = 0, ...certificate } = seen.steps[0]?.certificate ?? {};
  t.is(Math.round((expiresAtMs - Date.now()) / 86_400_000), 11);
  t.deepEqual(certificate, {
    target: `shop.example:${port}`,
    issuer: 'CN=shop.example, O=Test CA',
    commonName: 'shop.example',
    names: ['shop.example', '127.0.0.1'],
  });
  const soon = await tls({ verifyCertificate: false, assertions: [left] });
  t.is(soon.outcome, 'degraded');
  t.regex(soon.message, /daysLeft is 1[01], expected: gte 14/);
  const untrusted = await tls({});
  t.is(untrusted.outcome, 'failed');
  t.regex(untrusted.message, /self-signed/);
});

test('a target without TLS fails', async (t) => {
  const port = await serveSocket(t, (socket) => socket.end('hello\r\n'));
  const { outcome, message } = await run({ type: 'tls', tls: { host: '127.0.0.1', port } });
  t.is(outcome, 'failed');
  t.regex(message, /does not speak TLS|closed the connection|reset/);
});

/** A name server: `a.example` has two addresses, `none.example` does not exist, and other names get no response. */
const serveNames = async (t: ExecutionContext): Promise<number> => {
  const socket = createSocket('udp4');
  socket.on('message', (question, { port, address }) => {
    const name = String(question.subarray(13, 13 + (question[12] ?? 0)));
    if (name !== 'a' && name !== 'none') return;
    const isThere = name === 'a';
    const questionSection = question.subarray(12, question.indexOf(0, 12) + 5);
    const header = Buffer.alloc(12);
    question.copy(header, 0, 0, 2);
    header.writeUInt16BE(isThere ? 0x8180 : 0x8183, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(isThere ? 2 : 0, 6);
    const record = (last: number): Buffer => Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, last]);
    socket.send(Buffer.concat([header, questionSection, ...(isThere ? [record(1), record(2)] : [])]), port, address);
  });
  await new Promise<void>((ready) => socket.bind(0, '127.0.0.1', ready));
  t.teardown(() => void socket.close());
  return socket.address().port;
};

test('a DNS check evaluates records and the response code', async (t) => {
  const port = await serveNames(t);
  const dns = (settings: object, around = {}) =>
    run({ type: 'dns', timeout: soon(1000), dns: { server: '127.0.0.1', port, ...settings } }, around);
  t.is((await dns({ name: 'a.example' })).outcome, 'passed');
  const second = [{ source: 'record', operator: 'is', value: '192.0.2.2' }];
  t.is((await dns({ name: 'a.example', assertions: second })).outcome, 'passed');
  const missing = await dns({ name: 'none.example' });
  t.is(missing.outcome, 'failed');
  t.regex(missing.message, /none\.example has no record A \(NXDOMAIN\)/);
  const expected = [{ source: 'code', operator: 'is', value: 'NXDOMAIN' }];
  t.is((await dns({ name: 'none.example', assertions: expected })).outcome, 'passed');
  const silent = await dns({ name: 'silent.example' });
  t.is(silent.outcome, 'failed');
  t.regex(silent.message, /127\.0\.0\.1 took too long/);
  t.is((await dns({ name: 'a.example' }, { allowed: [] })).outcome, 'unknown');
});

test('the name servers of a location are not queried for the names of private addresses', async (t) => {
  const runLookup = (name: string, record: string, allowed: readonly string[] = []) =>
    run({ type: 'dns', timeout: soon(1000), dns: { name, record } }, { allowed });
  const local = `${'0.'.repeat(28)}0.0.c.f.ip6.arpa`;
  const names = ['4.3.0.10.in-addr.arpa', '4.3.0.10.IN-ADDR.arpa.', '168.192.in-addr.arpa', `1.${local.slice(2)}`];
  for (const name of names)
    for (const record of ['PTR', 'CNAME', 'NS']) {
      const seen = await runLookup(name, record);
      t.is(seen.outcome, 'unknown', `${name} ${record}: ${seen.message}`);
      t.regex(seen.message, /is in a private network, which this location does not report/);
    }
  const result = await runLookup('4.3.0.10.in-addr.arpa', 'PTR', ['10.0.0.0/8']);
  t.notRegex(result.message, /does not report/, 'where its network is allowed');
  t.notRegex((await runLookup('8.8.8.8.in-addr.arpa', 'PTR')).message, /does not report/, 'a public address');
});
