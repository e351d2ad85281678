/** OpAMP over real WebSockets and HTTP: each MUST of the specification for servers, and invalid behavior of agents. */
import { gunzipSync, gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { startReceivers } from '../../receivers/index.ts';
import { AgentRegistry } from '../../receivers/opamp/agent-registry.ts';
import { readAgentMessage } from '../../receivers/opamp/read-message.ts';
import type { FleetAgentReport } from '../../schemas/fleet-agents.ts';
import { generateLicenseKey } from '../../schemas/license-key-format.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { buildLicenseKey, licenseKeys } from '../../schemas/resources/license-key.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { topics } from '../../schemas/topics.ts';
import { eventually, stretched } from '../waiting.ts';
import {
  agentToServerType,
  capabilities,
  connect,
  decode,
  describe,
  encode,
  type Fields,
  fullState,
  post,
  type Reply,
  reportsAll,
  uidOf,
} from './opamp-client.ts';
import { type Fixture, manyRequests, running, tenantId } from './receivers-fixture.ts';

const reportFullState = '1';
const maxBytes = 1_000_000;
const environment = { OIQ_OPAMP_MAX_MESSAGE_BYTES: String(maxBytes) };

const urlOf = ({ http }: Pick<Fixture, 'http'>): string => `${http}/v1/opamp`;
const keyOf = ({ secret }: Pick<Fixture, 'secret'>) => ({ 'x-license-key': secret });
const open = (fixture: Pick<Fixture, 'http' | 'secret'>) => connect(urlOf(fixture), keyOf(fixture));

const reportsIn = ({ bus }: Pick<Fixture, 'bus'>): FleetAgentReport[] =>
  bus.messages
    .filter(({ topic }) => topic === topics.fleetAgents.name)
    .flatMap(({ value }) => topics.fleetAgents.value.parse(JSON.parse(Buffer.from(value).toString())));
const uuidOf = (uid: Buffer): string => uid.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
const partsOf = (fixture: Pick<Fixture, 'bus'>, number: number) =>
  reportsIn(fixture)
    .filter(({ instanceUid }) => instanceUid === uuidOf(uidOf(number)))
    .flatMap(({ parts }) => parts);
const kindsOf = (fixture: Pick<Fixture, 'bus'>, number: number): string[] =>
  partsOf(fixture, number).map(({ kind }) => kind);

const heartbeat = (number: number, sequenceNum: number): Fields => ({
  instanceUid: uidOf(number),
  sequenceNum,
  capabilities: reportsAll,
});

/** A transport sends a message, and resolves with the reply. */
type Send = (fields: Fields) => Promise<Reply>;
let lastNumber = 1_000;
const newNumber = (): number => ++lastNumber;

/** Requirements for both transports, quoted from the specification. */
const requirements: Readonly<Record<string, (t: ExecutionContext, send: Send, fixture: Fixture) => Promise<void>>> = {
  'The Server MUST respond to the AgentToServer message by sending a ServerToAgent message': async (t, send) => {
    const reply = await send(fullState({ instanceUid: uidOf(newNumber()) }));
    t.is(reply.errorResponse, undefined);
  },
  'instance_uid MUST match the instance_uid field previously received': async (t, send) => {
    const number = newNumber();
    const reply = await send(fullState({ instanceUid: uidOf(number) }));
    t.is(reply.instanceUid, uidOf(number).toString('base64'));
  },
  'capabilities MUST be set in the first ServerToAgent; AcceptsStatus MUST be set; all bits that are not defined MUST be 0':
    async (t, send) => {
      const reply = await send(fullState({ instanceUid: uidOf(newNumber()) }));
      // AcceptsStatus and AcceptsEffectiveConfig: the server offers nothing.
      t.is(reply.capabilities, '5');
    },
  'If the status report is processed successfully then error_response MUST be unset, and nothing is offered': async (
    t,
    send,
  ) => {
    const reply = await send(fullState({ instanceUid: uidOf(newNumber()), capabilities: 0xffff }));
    t.deepEqual(Object.keys(reply).sort(), ['capabilities', 'instanceUid']);
  },
  'If the status report processing failed then error_response MUST be set; other fields must be unset': async (
    t,
    send,
  ) => {
    const reply = await send(fullState({ instanceUid: Buffer.alloc(15, 1) }));
    t.is(reply.errorResponse?.type, 'ServerErrorResponseType_BadRequest');
    t.regex(reply.errorResponse?.errorMessage ?? '', /must have 16 bytes, and has 15/);
    t.is(reply.flags, undefined);
    t.is(reply.capabilities, undefined);
  },
  'instance_uid MUST be 16 bytes long: text of 26 characters is refused with what to do': async (t, send) => {
    const reply = await send(fullState({ instanceUid: Buffer.from('01ARZ3NDEKTSV4RRFFQ69G5FAV') }));
    t.is(reply.errorResponse?.type, 'ServerErrorResponseType_BadRequest');
    t.regex(reply.errorResponse?.errorMessage ?? '', /use a UUID/);
  },
  'a sequence_num that is not greater by exactly one: the Server MUST set ReportFullState': async (t, send) => {
    const number = newNumber();
    t.is((await send(fullState({ instanceUid: uidOf(number), sequenceNum: 1 }))).flags, undefined);
    t.is((await send(heartbeat(number, 2))).flags, undefined);
    t.is((await send(heartbeat(number, 4))).flags, reportFullState);
    t.is((await send(fullState({ instanceUid: uidOf(number), sequenceNum: 5 }))).flags, undefined);
    t.is((await send(heartbeat(number, 6))).flags, undefined);
    t.is((await send(heartbeat(number, 1))).flags, reportFullState);
  },
  'a Server that does not know the Agent MUST request the omitted data': async (t, send) => {
    const number = newNumber();
    t.is((await send(heartbeat(number, 71))).flags, reportFullState);
    const partial = newNumber();
    const reply = await send({ ...heartbeat(partial, 1), agentDescription: describe({ 'service.name': 'a' }) });
    t.is(reply.flags, reportFullState);
    const small = newNumber();
    const complete = {
      ...heartbeat(small, 1),
      capabilities: capabilities.status,
      agentDescription: describe({ 'service.name': 'a' }),
    };
    t.is((await send(complete)).flags, undefined);
  },
  'if the Server receives the same message more than once the Server MUST respond to each message': async (t, send) => {
    const message = fullState({ instanceUid: uidOf(newNumber()) });
    for (let count = 0; count < 3; count++) t.not(await send(message), undefined);
  },
  'an Agent that never increments its number does not get ReportFullState for each complete status': async (
    t,
    send,
  ) => {
    const message = fullState({ instanceUid: uidOf(newNumber()) });
    await send(message);
    t.is((await send(message)).flags, reportFullState);
    t.is((await send(message)).flags, undefined);
  },
  'The Server MUST respect the Agent’s changes of capabilities': async (t, send, fixture) => {
    const number = newNumber();
    const before = { ...fullState({ instanceUid: uidOf(number) }), capabilities: capabilities.status };
    await send({ ...before, health: undefined, effectiveConfig: undefined });
    const reply = await send({ ...heartbeat(number, 2), health: { healthy: true } });
    t.is(reply.errorResponse, undefined);
    t.true(kindsOf(fixture, number).includes('health'));
  },
  'new_instance_uid MUST be 16 bytes long: for an Agent that requests one': async (t, send, fixture) => {
    const number = newNumber();
    const reply = await send({ ...fullState({ instanceUid: uidOf(number) }), flags: 1 });
    const uid = Buffer.from(reply.agentIdentification?.newInstanceUid ?? '', 'base64');
    t.is(uid.length, 16);
    t.is((uid[6] as number) >> 4, 7);
    t.is(reply.instanceUid, uidOf(number).toString('base64'));
    t.deepEqual(kindsOf(fixture, number), []);
    const next = await send(fullState({ instanceUid: uid, sequenceNum: 2 }));
    t.is(next.flags, undefined);
    t.is(next.agentIdentification, undefined);
  },
  'fields that this version does not know are ignored': async (t, send, fixture) => {
    const number = newNumber();
    const known = agentToServerType.fromObject(fullState({ instanceUid: uidOf(number) }));
    const unknown = Buffer.from([0xfa, 0x01, 2, 1, 2, 0x80, 0x02, 5]);
    const message = Buffer.concat([agentToServerType.encode(known).finish(), unknown]);
    const reply = await send({ raw: message });
    t.is(reply.errorResponse, undefined);
    t.deepEqual(kindsOf(fixture, number), ['description', 'health', 'configuration', 'heartbeat']);
  },
  'a heartbeat touches memory only, and a part that did not change is not stored again': async (t, send, fixture) => {
    const number = newNumber();
    await send(fullState({ instanceUid: uidOf(number) }));
    const before = kindsOf(fixture, number).length;
    for (let sequence = 2; sequence < 6; sequence++) await send(heartbeat(number, sequence));
    await send(fullState({ instanceUid: uidOf(number), sequenceNum: 6 }));
    t.is(kindsOf(fixture, number).length, before);
    await send({ ...heartbeat(number, 7), health: { healthy: false, lastError: 'disk full' } });
    t.deepEqual(kindsOf(fixture, number).slice(before), ['health', 'heartbeat']);
  },
  'an Agent that disconnects is reported at once, and is new when it returns': async (t, send, fixture) => {
    const number = newNumber();
    await send(fullState({ instanceUid: uidOf(number) }));
    const reply = await send({ ...heartbeat(number, 2), agentDisconnect: {} });
    t.is(reply.errorResponse, undefined);
    t.like(partsOf(fixture, number).at(-1), { kind: 'heartbeat', connection: 'disconnected' });
    t.is((await send(heartbeat(number, 3))).flags, reportFullState);
  },
};

let shared: Fixture;
test.before(async () => {
  shared = await running({ environment, plan: manyRequests });
});
test.after.always(() => shared[Symbol.asyncDispose]());

for (const [title, check] of Object.entries(requirements)) {
  test(`over a WebSocket: ${title}`, async (t) => {
    const { socket, send, sendRaw, next } = await open(shared);
    await check(
      t,
      (fields) => {
        if (!(fields['raw'] instanceof Buffer)) return send(fields);
        sendRaw(Buffer.concat([Buffer.from([0]), fields['raw']]));
        return next();
      },
      shared,
    );
    socket.terminate();
  });
  test(`over HTTP: ${title}`, async (t) => {
    await check(
      t,
      async (fields) =>
        (await post(urlOf(shared), shared.secret, fields['raw'] instanceof Buffer ? fields['raw'] : fields)).reply,
      shared,
    );
  });
}

test('both transports are served on the OTLP address and on the main address, with every form of the license key', async (t) => {
  const credentials = [
    keyOf(shared),
    { authorization: `Bearer ${shared.secret}` },
    { authorization: `Basic ${Buffer.from(`any:${shared.secret}`).toString('base64')}` },
  ];
  for (const url of [`${shared.http}/v1/opamp`, `${shared.main}/otlp/v1/opamp`])
    for (const headers of credentials) {
      const { socket, send } = await connect(url, headers);
      t.is((await send(fullState({ instanceUid: uidOf(newNumber()) }))).capabilities, '5');
      socket.terminate();
      const response = await post(url, '', fullState({ instanceUid: uidOf(newNumber()) }), headers);
      t.is(response.status, 200);
      t.is(response.headers.get('content-type'), 'application/x-protobuf');
    }
});

test('the Server MUST respond with 401 Unauthorized if the authentication fails, before the upgrade', async (t) => {
  const unknown = generateLicenseKey();
  for (const headers of [{}, { 'x-license-key': unknown }, { authorization: 'Bearer nothing' }]) {
    const error = await t.throwsAsync(() => connect(urlOf(shared), headers as Record<string, string>));
    t.like(error, { status: 401 });
  }
  const response = await post(urlOf(shared), unknown, heartbeat(1, 1));
  t.is(response.status, 401);
  t.is(response.headers.get('www-authenticate'), 'Bearer');
  t.like(await t.throwsAsync(() => connect(urlOf(shared), { 'x-license-key': shared.browserSecret })), { status: 403 });
});

test('other methods, content types, encodings and paths are refused', async (t) => {
  const table: readonly (readonly [init: RequestInit & { path?: string }, status: number])[] = [
    [{ method: 'PUT' }, 405],
    [{ method: 'GET' }, 405],
    [{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }, 415],
    [{ method: 'POST', headers: { 'content-encoding': 'br' }, body: 'x' }, 415],
    [{ method: 'POST', headers: { 'content-encoding': 'gzip' }, body: 'no gzip' }, 400],
    [{ method: 'POST', path: '/v1/opamp/', body: '' }, 404],
    [{ method: 'POST', path: '/v1/opamp2', body: '' }, 404],
  ];
  for (const [{ path = '/v1/opamp', headers, ...init }, status] of table) {
    const response = await fetch(shared.http + path, {
      ...init,
      headers: { ...keyOf(shared), 'content-type': 'application/x-protobuf', ...(headers as Record<string, string>) },
    });
    t.is(response.status, status, JSON.stringify(init));
  }
  t.is(
    (
      await fetch(`${shared.http}/v1/opamp?x=1`, {
        method: 'POST',
        headers: { ...keyOf(shared), 'content-type': 'application/x-protobuf; charset=x' },
        body: new Uint8Array(encode(heartbeat(newNumber(), 1))),
      })
    ).status,
    200,
  );
});

test('Server implementations MUST honour Content-Encoding, and compress the response for clients that accept it', async (t) => {
  const body = gzipSync(encode(fullState({ instanceUid: uidOf(newNumber()) })));
  t.is((await post(urlOf(shared), shared.secret, body, { 'content-encoding': 'gzip' })).status, 200);
  const { request } = await import('node:http');
  const bytesOf = (acceptEncoding: string) =>
    new Promise<readonly [encoding: string | undefined, body: Buffer]>((resolve, reject) => {
      const sent = request(
        urlOf(shared),
        {
          method: 'POST',
          headers: { ...keyOf(shared), 'content-type': 'application/x-protobuf', 'accept-encoding': acceptEncoding },
        },
        async (response) => resolve([response.headers['content-encoding'], Buffer.concat(await response.toArray())]),
      );
      sent.on('error', reject).end(encode(fullState({ instanceUid: uidOf(newNumber()) })));
    });
  const [encoding, compressed] = await bytesOf('deflate, gzip;q=0.5');
  t.is(encoding, 'gzip');
  t.is(decode(gunzipSync(compressed)).capabilities, '5');
  for (const refusing of ['identity', 'gzip;q=0']) {
    const [none, plain] = await bytesOf(refusing);
    t.is(none, undefined);
    t.is(decode(plain).capabilities, '5');
  }
});

test('size limits MUST be enforced: 1009 for a WebSocket, 413 for HTTP, also after decompression', async (t) => {
  const large = encode(fullState({ instanceUid: uidOf(newNumber()), health: { lastError: 'x'.repeat(maxBytes) } }));
  const { sendRaw, closed } = await open(shared);
  sendRaw(Buffer.concat([Buffer.from([0]), large]));
  t.is(await closed, 1009);
  for (const [body, headers] of [
    [large, {}],
    [gzipSync(large), { 'content-encoding': 'gzip' }],
  ] as const) {
    const response = await post(urlOf(shared), shared.secret, body, headers);
    t.is(response.status, 413);
    t.true(response.content.length < 4_096);
    t.is(response.reply.errorResponse?.type, 'ServerErrorResponseType_BadRequest');
  }
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array(large.subarray(0, maxBytes)));
      controller.enqueue(new Uint8Array(large.subarray(maxBytes)));
      controller.close();
    },
  });
  const headers = { ...keyOf(shared), 'content-type': 'application/x-protobuf' };
  t.is(
    (await fetch(urlOf(shared), { method: 'POST', headers, body: stream, duplex: 'half' } as RequestInit)).status,
    413,
  );
  const fitting = encode(
    fullState({ instanceUid: uidOf(newNumber()), health: { lastError: 'x'.repeat(maxBytes - 2_000) } }),
  );
  t.is((await post(urlOf(shared), shared.secret, fitting)).status, 200);
});

test('a malformed message is a BadRequest with what is wrong and where, on a connection that stays usable', async (t) => {
  const valid = encode(fullState({ instanceUid: uidOf(newNumber()) }));
  const wrongLength = Buffer.from(valid);
  wrongLength[1] = 200;
  const field = (number: number, content: Buffer): Buffer =>
    Buffer.concat([Buffer.from([(number << 3) | 2, (content.length & 127) | 128, content.length >> 7]), content]);
  let nested: Buffer = Buffer.from([0x08, 1]);
  for (let depth = 0; depth < 40; depth++)
    nested = field(6, Buffer.concat([Buffer.from([0x0a, 1, 97]), field(2, nested)]));
  const table: readonly (readonly [what: string, bytes: Buffer, problem: RegExp])[] = [
    ['a length beyond the message', wrongLength, /exceeds|remaining|wire type|group|field/],
    ['a message cut short', valid.subarray(0, valid.length - 3), /exceeds|cut off/],
    ['only one byte of a tag', Buffer.from([0x80]), /cut off/],
    ['a field number of 0', Buffer.from([0x02, 0x01, 0x00]), /field number/],
    ['a wire type that does not exist', Buffer.from([0x0f]), /wire type/],
    ['a number where a message belongs', Buffer.from([0x18, 1]), /wire type/],
    ['a varint of eleven bytes', Buffer.from([0x10, ...Array.from({ length: 11 }, () => 0xff)]), /64 bits/],
    ['text that is not UTF-8', Buffer.from([0x2a, 3, 0x1a, 1, 0xff]), /UTF-8/],
    ['health that nests too deep', field(5, nested), /nest/],
    ['900 kB of one byte', Buffer.alloc(900_000, 0xff), /./],
    ['nothing at all', Buffer.alloc(0), /has 0/],
  ];
  const { socket, send, sendRaw, next } = await open(shared);
  for (const [what, bytes, problem] of table) {
    sendRaw(Buffer.concat([Buffer.from([0]), bytes]));
    const reply = await next();
    t.is(reply.errorResponse?.type, 'ServerErrorResponseType_BadRequest', what);
    t.regex(reply.errorResponse?.errorMessage ?? '', problem, what);
    const response = await post(urlOf(shared), shared.secret, bytes);
    t.is(response.status, 400, what);
    t.is(response.reply.errorResponse?.type, 'ServerErrorResponseType_BadRequest', what);
    t.true(response.content.length < 2_048, what);
  }
  for (const raw of [Buffer.concat([Buffer.from([1]), valid]), Buffer.alloc(0), Buffer.alloc(11, 0x80), 'text']) {
    sendRaw(raw);
    t.is((await next()).errorResponse?.type, 'ServerErrorResponseType_BadRequest');
  }
  sendRaw(Buffer.concat([Buffer.from([...Array.from({ length: 9 }, () => 0x80), 0]), valid]));
  t.is((await next()).errorResponse, undefined, 'a header of ten bytes');
  t.is((await send(fullState({ instanceUid: uidOf(newNumber()) }))).errorResponse, undefined);
  socket.terminate();
});

test('10 MB of random bytes are refused within the limit of a large setting', async (t) => {
  await using fixture = await running({ environment: { OIQ_OPAMP_MAX_MESSAGE_BYTES: '20000000' }, plan: manyRequests });
  const { send, sendRaw, next, socket } = await open(fixture);
  const large = Buffer.alloc(10_000_000, 0x2a);
  sendRaw(Buffer.concat([Buffer.from([0]), large]));
  t.is((await next()).errorResponse?.type, 'ServerErrorResponseType_BadRequest');
  t.is((await send(fullState({ health: { lastError: 'x'.repeat(9_000_000) } }))).errorResponse, undefined);
  t.true(JSON.stringify(reportsIn(fixture)).length < 10_000);
  t.is((await post(urlOf(fixture), fixture.secret, large)).status, 400);
  socket.terminate();
});

test('of two live connections with one UID, the second gets another; a lost connection does not count', async (t) => {
  const number = newNumber();
  const first = await open(shared);
  await first.send(fullState({ instanceUid: uidOf(number) }));
  const second = await open(shared);
  const reply = await second.send(fullState({ instanceUid: uidOf(number) }));
  const newUid = Buffer.from(reply.agentIdentification?.newInstanceUid ?? '', 'base64');
  t.is(newUid.length, 16);
  t.is((await second.send(fullState({ instanceUid: newUid, sequenceNum: 2 }))).agentIdentification, undefined);
  t.is((await first.send(heartbeat(number, 2))).flags, undefined, 'the first is not disturbed');
  first.socket.close();
  await first.closed;
  second.socket.close();
  await second.closed;
  // A client that does not respond to pings has lost its connection.
  const lost = await connect(urlOf(shared), keyOf(shared), false);
  await lost.send(fullState({ instanceUid: uidOf(number), sequenceNum: 3 }));
  const returned = await open(shared);
  t.is((await returned.send(heartbeat(number, 4))).agentIdentification, undefined);
  t.is((await returned.send(heartbeat(number, 5))).flags, undefined);
  returned.socket.terminate();
});

test('two agents that poll with one UID are distinguished by their sequence numbers', async (t) => {
  const number = newNumber();
  const send = async (fields: Fields) => (await post(urlOf(shared), shared.secret, fields)).reply;
  await send(fullState({ instanceUid: uidOf(number), sequenceNum: 100 }));
  t.is((await send(fullState({ instanceUid: uidOf(number), sequenceNum: 5 }))).agentIdentification, undefined);
  const reply = await send(heartbeat(number, 101));
  t.not(reply.agentIdentification, undefined);
  t.is((await send(heartbeat(number, 6))).flags, undefined, 'the other agent goes on');
  const restarted = newNumber();
  for (const sequenceNum of [1, 2, 3, 1, 2, 3, 4, 5])
    t.is((await send(heartbeat(restarted, sequenceNum))).agentIdentification, undefined, 'a restart is no duplicate');
});

test('an agent that reaches another instance, or a restarted one, is asked for its full state', async (t) => {
  await using fixture = await running({ environment, plan: manyRequests });
  const startOther = () =>
    startReceivers({
      bus: fixture.bus as unknown as Bus,
      documents: fixture.documents,
      counters: createMemoryCounters({ clock: systemClock }),
      metrics: silentMetrics,
      log: silentLog,
      clock: systemClock,
      settings: parseSettings({
        OIQ_OTLP_HTTP_ADDRESS: '127.0.0.1:0',
        OIQ_OTLP_GRPC_ADDRESS: '127.0.0.1:0',
        OIQ_SECRET_KEY: 'secret key of the receivers in tests',
      }),
    });
  const other = await startOther();
  const there = { http: `http://${other.addresses.OTLP_HTTP_ADDRESS}`, secret: fixture.secret };
  const send = async (at: { http: string; secret: string }, fields: Fields) =>
    (await post(urlOf(at), at.secret, fields)).reply;
  await send(fixture, fullState());
  t.is((await send(fixture, heartbeat(1, 2))).flags, undefined);
  t.is((await send(there, heartbeat(1, 3))).flags, reportFullState);
  t.is((await send(there, fullState({ sequenceNum: 4 }))).flags, undefined);
  t.is((await send(fixture, heartbeat(1, 5))).flags, reportFullState);
  const { closed, send: sendThere } = await open(there);
  await sendThere(fullState({ instanceUid: uidOf(2) }));
  await other.stop();
  t.is(await closed, 1001);
  const ids = new Set(
    reportsIn(fixture)
      .filter(({ instanceUid }) => instanceUid === uuidOf(uidOf(1)))
      .map(({ agentId }) => agentId),
  );
  t.is(ids.size, 1, 'the agent has one id on all instances');
});

test('a status is acknowledged once it is durable: until then Unavailable with a time, and then its full state', async (t) => {
  await using fixture = await running({ environment, plan: manyRequests });
  const { send, socket } = await open(fixture);
  await send(fullState());
  fixture.bus.broken = topics.fleetAgents.name;
  const reply = await send({ ...heartbeat(1, 2), health: { healthy: false } });
  t.is(reply.errorResponse?.type, 'ServerErrorResponseType_Unavailable');
  t.true(Number(reply.errorResponse?.retryInfo?.retryAfterNanoseconds) >= 30e9);
  t.is((await send(heartbeat(1, 3))).errorResponse?.type, 'ServerErrorResponseType_Unavailable');
  const response = await post(urlOf(fixture), fixture.secret, fullState({ instanceUid: uidOf(2) }));
  t.is(response.status, 503);
  t.true(Number(response.headers.get('retry-after')) >= 30);
  fixture.bus.broken = undefined;
  t.is((await send(heartbeat(1, 4))).flags, reportFullState);
  socket.terminate();
});

test('messages above the limits of the plan are throttled with a time', async (t) => {
  const limits = { requestsPerSecond: 1, requestsBurst: 5, requestsPerMinute: 1000, bytesPerDay: null };
  await using fixture = await running({ environment, plan: { limits } });
  const { send, socket } = await open(fixture);
  const replies: Reply[] = [];
  for (let sequence = 1; sequence < 20; sequence++) replies.push(await send(heartbeat(1, sequence)));
  const throttled = replies.find(({ errorResponse }) => errorResponse !== undefined);
  t.is(throttled?.errorResponse?.type, 'ServerErrorResponseType_Unavailable');
  t.true(Number(throttled?.errorResponse?.retryInfo?.retryAfterNanoseconds) >= 30e9);
  // On a busy machine this may take longer than a second, and then one more request is within the limit.
  const responses = await Promise.all(
    Array.from({ length: 12 }, (_, index) => post(urlOf(fixture), fixture.secret, heartbeat(1, 21 + index))),
  );
  const response = responses.find(({ status }) => status === 429);
  t.true(Number(response?.headers.get('retry-after')) >= 30);
  socket.terminate();
});

test('a connection ends with 1008 when its key is revoked', async (t) => {
  await using fixture = await running({
    environment: { ...environment, OIQ_OPAMP_HEARTBEAT_SECONDS: '1' },
    plan: manyRequests,
  });
  const { send, closed } = await open(fixture);
  await send(fullState());
  const keys = fixture.documents.forTenant(tenantId).collection(licenseKeys);
  await keys.update(fixture.keyId, { revokedAt: new Date().toISOString() });
  t.is(await closed, 1008);
});

test('an agent of another organization with the same UID changes nothing, and is an agent of its own', async (t) => {
  await using fixture = await running({ environment, plan: manyRequests });
  const secret = generateLicenseKey();
  const { documents } = fixture;
  await documents
    .forTenant(organizationsTenant)
    .collection(organizations)
    .insert({ id: 'rival', name: 'Rival', planId: 'enterprise', retentionDays: {}, shards: 1, disabled: false });
  await documents
    .forTenant('rival')
    .collection(licenseKeys)
    .insert(buildLicenseKey(secret, { name: 'test', projectId: 'shop', expiresAt: null }));
  await eventually(
    'the key is known',
    async () => (await post(urlOf(fixture), secret, heartbeat(9, 1))).status === 200,
  );
  const ours = await open(fixture);
  await ours.send(fullState());
  const theirs = await open({ http: fixture.http, secret });
  t.is((await theirs.send(heartbeat(1, 2))).flags, reportFullState, 'our status is not theirs');
  t.is((await theirs.send({ ...heartbeat(1, 3), agentDisconnect: {} })).agentIdentification, undefined);
  t.is((await ours.send(heartbeat(1, 2))).flags, undefined);
  const ofOne = reportsIn(fixture).filter(({ instanceUid }) => instanceUid === uuidOf(uidOf(1)));
  t.deepEqual(
    ofOne
      .filter(({ parts }) => parts.some((part) => part.kind === 'heartbeat' && part.connection === 'disconnected'))
      .map((report) => report.tenantId),
    ['rival'],
  );
  ours.socket.terminate();
  theirs.socket.terminate();
});

test('an agent is silent after three intervals without a message, and its last message is stored exactly', async (t) => {
  let nowMs = Date.now();
  await using fixture = await running({
    environment: { ...environment, OIQ_OPAMP_HEARTBEAT_SECONDS: '1' },
    plan: manyRequests,
    clock: { now: () => nowMs },
  });
  await post(urlOf(fixture), fixture.secret, fullState());
  nowMs += 1_000;
  await post(urlOf(fixture), fixture.secret, heartbeat(1, 2));
  const lastSeenMs = nowMs;
  nowMs += 2_900;
  await eventually('the last message is stored', () => {
    const last = partsOf(fixture, 1).at(-1);
    return last?.kind === 'heartbeat' && last.lastSeenMs === lastSeenMs;
  });
  const count = partsOf(fixture, 1).length;
  nowMs += 200;
  await eventually('the silence is stored', () => partsOf(fixture, 1).length > count);
  t.like(partsOf(fixture, 1).at(-1), { kind: 'heartbeat', lastSeenMs, intervalMs: 1_000, connection: 'polling' });
  await post(urlOf(fixture), fixture.secret, heartbeat(1, 3));
  t.like(partsOf(fixture, 1).at(-1), { lastSeenMs: nowMs }, 'a returned agent is stored at once');
  nowMs += 10_000;
  await post(urlOf(fixture), fixture.secret, heartbeat(1, 4));
  await eventually('an agent that polls less often has its own interval', () => {
    const last = partsOf(fixture, 1).at(-1);
    return last?.kind === 'heartbeat' && last.intervalMs === 10_000;
  });
});

/** Two instances with a fake clock: each check of the agents runs soon after a change. */
const startInstances = (t: ExecutionContext) => {
  let nowMs = Date.UTC(2026, 0, 1);
  const clock = { now: () => nowMs };
  const counters = createMemoryCounters({ clock });
  const openInstance = () => {
    const registry = new AgentRegistry({
      clock,
      intervalMs: 60,
      counters,
      publish: async () => undefined,
      isEnabled: () => true,
    });
    t.teardown(() => registry.close());
    return registry;
  };
  const openConnection = () => {
    const sent: Buffer[] = [];
    return {
      isOpen: true,
      probe: async () => true,
      terminate: () => undefined,
      send: (bytes: Buffer) => void sent.push(bytes),
      sent,
    };
  };
  const moveClock = async () => {
    nowMs += 120;
    await new Promise((resolve) => setTimeout(resolve, stretched(60)));
  };
  return { instances: [openInstance(), openInstance()] as const, openConnection, moveClock };
};
const anyCaller = { tenantId: 'a', projectId: 'default' } as Parameters<AgentRegistry['process']>[1];

test('two agents with one UID on two instances: one of them gets a new UID', async (t) => {
  const { instances, openConnection, moveClock } = startInstances(t);
  const message = readAgentMessage(encode(fullState({ instanceUid: uidOf(newNumber()) })), 0);
  const connections = [openConnection(), openConnection()] as const;
  for (const [index, instance] of instances.entries()) await instance.process(message, anyCaller, connections[index]);
  await eventually('an agent has a new UID', async () => {
    await moveClock();
    for (const instance of instances) instance.touch([instance.getKey(anyCaller, message.instanceUid)]);
    return connections.some(({ sent }) => sent.length > 0);
  });
  const [reply] = connections.flatMap(({ sent }) => sent.map((bytes) => decode(bytes.subarray(1))));
  t.is(reply?.instanceUid, Buffer.from(message.instanceUid).toString('base64'));
  t.is(Buffer.from(reply?.agentIdentification?.newInstanceUid ?? '', 'base64').length, 16);
});

test('an agent that moves to another instance keeps its UID', async (t) => {
  const { instances, openConnection, moveClock } = startInstances(t);
  const message = readAgentMessage(encode(fullState({ instanceUid: uidOf(newNumber()) })), 0);
  const key = instances[0].getKey(anyCaller, message.instanceUid);
  const connections: ReturnType<typeof openConnection>[] = [];
  for (let move = 0; move < 6; move++) {
    const instance = instances[move % 2] as AgentRegistry;
    const connection = openConnection();
    connections.push(connection);
    await instance.process(message, anyCaller, connection);
    await moveClock();
    connection.isOpen = false;
    instance.closeConnection(connection, [key]);
  }
  t.deepEqual(
    connections.flatMap(({ sent }) => sent),
    [],
  );
});
