/** Live tail in an all-in-one process, while data is ingested. */
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { WebSocket } from 'ws';

import { logsOf } from '../contract/live-tail-harness.ts';
import { eventually } from '../waiting.ts';
import { embeddedDeployment } from './deployment.ts';
import { read, signIn, startOiq } from './oiq-process.ts';

test('a record is delivered at once, is stored as delivered, and a stop closes the connection', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'oiq-live-tail-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const licenseKey = await embeddedDeployment(dataDirectory);
  const oiq = await startOiq({ dataDirectory });
  t.teardown(() => oiq.kill());
  const token = await signIn(oiq.http);
  const socket = new WebSocket(`${oiq.http.replace('http', 'ws')}/ws/live-tail?search=hello`, {
    headers: { authorization: `Bearer ${token}` },
  });
  // biome-ignore lint/suspicious/noExplicitAny: a record in the form of the API
  const records: any[] = [];
  let live = false;
  socket.on('message', (text) => {
    const frame = JSON.parse(String(text));
    live ||= frame.live;
    records.push(...(frame.records ?? []));
  });
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await eventually('live records', () => live);

  // Java's client sends this: a request to upgrade to another protocol is served like any other request.
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = {
      'x-license-key': licenseKey,
      'content-type': 'application/x-protobuf',
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: 'h2c',
      'http2-settings': 'AAMAAABkAAQAoAAAAAIAAAAA',
    };
    const sent = request(`${oiq.http}/otlp/v1/logs`, { method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', reject).end(logsOf(['hello there', 'not this'], { tenantId: 'any' }).value);
  });
  t.is(status, 200);
  await eventually('the record', () => records.length > 0);
  t.is(records[0].body, 'hello there');
  let landed: unknown;
  await eventually('the record is stored', async () => {
    landed = await read(oiq.http, `/api/logs/${records[0].id}`, token).catch(() => undefined);
    return landed !== undefined;
  });
  t.deepEqual(landed, records[0]);
  t.is(await oiq.stop(), 0);
  t.is(await closed, 1001);
});

test('a process without the API accepts no WebSocket', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'oiq-live-tail-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  await embeddedDeployment(dataDirectory);
  const oiq = await startOiq({ args: ['receivers'], dataDirectory });
  t.teardown(() => oiq.kill());
  const socket = new WebSocket(`${oiq.http.replace('http', 'ws')}/ws/live-tail`);
  const status = await new Promise((resolve) => {
    socket.on('error', () => undefined);
    socket.on('unexpected-response', (_request, response) => resolve(response.statusCode));
  });
  t.is(status, 404);
});
