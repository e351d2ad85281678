/** Common HTTP/1.1 clients. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { body, good, type Sender, sending } from './http1-client.ts';
import { request } from './receivers-bodies.ts';

const large = request('logs', 4_000, 'x'.repeat(500));
const headersOf = ({ secret }: Sender) => ({ 'x-license-key': secret, 'content-type': 'application/x-protobuf' });

interface Got {
  readonly status: number | undefined;
  readonly port: number | undefined;
}
const recordsIn = ({ bus }: Sender): number => bus.members().reduce((sum, { records }) => sum + records, 0);

/** Sends a request with Node's client. */
const sent = (sender: Sender, agent: Agent, bytes: Buffer, headers: Record<string, string | number> = {}) =>
  new Promise<Got>((resolve, reject) => {
    const request = httpRequest(`${sender.http}/v1/logs`, {
      agent,
      method: 'POST',
      headers: { ...headersOf(sender), ...headers },
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const { statusCode: status } = response;
      const got = { status, port: response.socket.localPort };
      response.resume().on('end', () => resolve(got));
    });
    if (headers['expect'] === undefined) request.end(bytes);
    else request.on('continue', () => request.end(bytes)).flushHeaders();
  });

test("Node's agent keeps a connection open, whatever it sends", async (t) => {
  await using sender = await sending();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ports = new Set<number | undefined>();
  const length = { 'content-length': body.length };
  for (const headers of [
    length,
    length,
    { 'transfer-encoding': 'chunked' },
    length,
    { ...length, expect: '100-continue' },
    length,
  ]) {
    const { status, port } = await sent(sender, agent, body, headers);
    t.is(status, 200);
    ports.add(port);
  }
  agent.destroy();
  t.is(ports.size, 1);
  t.is(sender.bus.members().length, 6);
});

test("Node's agent sends many concurrent requests over few connections", async (t) => {
  await using sender = await sending();
  sender.bus.storesMessages = false;
  const agent = new Agent({ keepAlive: true, maxSockets: 10 });
  const sizes = Array.from({ length: 400 }, (_, n) => (n % 40 === 0 ? large : body));
  const responses = await Promise.all(
    sizes.map((each) => sent(sender, agent, each, { 'content-length': each.length })),
  );
  t.true(responses.every(({ status }) => status === 200));
  agent.destroy();
});

test('fetch sends bodies of known and unknown length, and receives refusals', async (t) => {
  await using sender = await sending();
  const url = `${sender.http}/v1/logs`;
  const headers = headersOf(sender);
  const statuses: number[] = [];
  const post = async (init: RequestInit): Promise<void> => {
    const response = await fetch(url, { method: 'POST', ...init });
    await response.arrayBuffer();
    statuses.push(response.status);
  };
  const stream = (): ReadableStream => new Blob([new Uint8Array(large)]).stream();
  for (let n = 0; n < 10; n++) {
    await post({ headers, body: new Uint8Array(body) });
    await post({ headers, body: new Uint8Array(large) });
    await post({ headers, body: stream(), duplex: 'half' });
    await post({ headers: { ...headers, 'content-type': 'text/plain' }, body: new Uint8Array(large) });
  }
  t.deepEqual(statuses, Array.from({ length: 10 }, () => [200, 200, 200, 415]).flat());
  t.is(recordsIn(sender), 10 + 20 * 4_000);
});

test('a client that expects 100 Continue gets its responses in order', async (t) => {
  await using sender = await sending();
  const wire = sender.open().send(sender.bytes(good));
  t.is((await wire.next())?.status, 200);
  const expecting = sender.bytes(good.replace('Host', 'Expect: 100-continue\r\nHost'));
  wire.send(expecting.subarray(0, expecting.indexOf('\r\n\r\n') + 4));
  t.is((await wire.next())?.status, 100);
  wire.send(body);
  t.is((await wire.next())?.status, 200);
});

const curl = (process.env['PATH'] ?? '')
  .split(path.delimiter)
  .map((folder) => path.join(folder, 'curl'))
  .find((file) => existsSync(file));

if (curl !== undefined)
  test('curl sends small and large bodies over one connection', async (t) => {
    await using sender = await sending();
    const directory = await mkdtemp(path.join(tmpdir(), 'oiq-curl-'));
    const [small, big] = [path.join(directory, 'small'), path.join(directory, 'big')];
    await Promise.all([writeFile(small, body), writeFile(big, large)]);
    const fields = Object.entries(headersOf(sender)).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
    const post = (file: string): string[] => {
      const shown = ['-s', '-o', path.join(directory, 'answer'), '-w', '%{http_code} %{num_connects}\n'];
      return [...shown, ...fields, '--data-binary', `@${file}`, `${sender.http}/v1/logs`];
    };
    const files = [small, small, big, small, big];
    const run = spawn(curl, [
      '--http1.1',
      ...files.flatMap((file, n) => [...(n > 0 ? ['--next'] : []), ...post(file)]),
    ]);
    let transcript = '';
    run.stdout.on('data', (chunk: Buffer) => {
      transcript += chunk;
    });
    await new Promise((resolve) => run.once('close', resolve));
    await rm(directory, { recursive: true });
    t.deepEqual(transcript.trim().split('\n'), ['200 1', '200 0', '200 0', '200 0', '200 0']);
    t.is(recordsIn(sender), 3 + 2 * 4_000);
  });
