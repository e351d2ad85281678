/** Our HTTP/2 server with recorded calls, and tables of conversations with it. */
import { type AddressInfo, connect } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { createHttp2Server, type Http2Server, type Http2Stream } from '../../receivers/http2/server.ts';
import { createNodeServer } from '../../receivers/otlp-grpc/node-server.ts';
import { eventually } from '../waiting.ts';
import { Peer, patienceMs, request, type Settings } from './http2-client.ts';

interface Call {
  readonly stream: Http2Stream;
  readonly path: string;
  bytes: number;
  ended: number;
  closed: number;
  /** Request events after the call was closed. */
  late: number;
}

export interface Serving extends AsyncDisposable {
  readonly port: number;
  readonly calls: Call[];
  readonly http2: Http2Server;
  /** A client that has sent the preface and its settings. */
  greeted(...settings: Settings): Peer;
  /** Resolves once no connection and no call is left. */
  empty(): Promise<void>;
}

const response = Object.freeze({ ':status': '200', 'content-type': 'text/plain' });
const trailers = Object.freeze({ 'grpc-status': '0' });

/** `/` returns the length of the body, `/bytes/N` returns N bytes, and `/silent` never responds. */
const reply = ({ stream, path, bytes }: Call): void => {
  const size = /^\/bytes\/(\d+)$/.exec(path)?.[1];
  if (path === '/silent' || stream.hasResponded) return;
  stream.respond(response);
  stream.write(size === undefined ? Buffer.from(`${bytes} bytes`) : Buffer.alloc(Number(size), 'x'));
  stream.end(trailers);
};

/** Responses that do not wait for the body. */
const replyEarly = (call: Call): void => {
  if (call.path === '/only-headers') call.stream.respond(response, true);
  if (call.path === '/early') reply(call);
};

type CreateServer = typeof createHttp2Server;

/** Every server that gRPC may use. Features that only our streams have are tested for our server only. */
const servers = { own: createHttp2Server, node: createNodeServer as unknown as CreateServer };

/** A test on every server; the server is the test context. */
export const onEach = (title: string, run: (t: ExecutionContext<CreateServer>) => Promise<void>): void => {
  for (const [name, create] of Object.entries(servers))
    test(`${name}: ${title}`, (t) => {
      t.context = create;
      return run(t as ExecutionContext<CreateServer>);
    });
};

export const serving = async (
  options?: Parameters<CreateServer>[1],
  create: CreateServer = createHttp2Server,
): Promise<Serving> => {
  const calls: Call[] = [];
  const http2 = create((stream) => {
    const call: Call = { stream, path: stream.headers[':path'] ?? '', bytes: 0, ended: 0, closed: 0, late: 0 };
    calls.push(call);
    replyEarly(call);
    return {
      data(chunk) {
        call.bytes += chunk.length;
        call.late += call.closed;
        if (call.path === '/first-bytes') reply(call);
      },
      end() {
        call.ended++;
        call.late += call.closed;
        reply(call);
      },
      closed() {
        call.closed++;
      },
    };
  }, options);
  await new Promise<void>((resolve) => http2.server.listen(0, '127.0.0.1', resolve));
  const { port } = http2.server.address() as AddressInfo;
  const peers: Peer[] = [];
  const connections = (): Promise<number> =>
    new Promise((resolve, reject) =>
      http2.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
    );
  const empty = async (): Promise<void> => {
    const isEmpty = async () => (await connections()) === 0 && calls.every(({ closed }) => closed > 0);
    await eventually('no connection is left', isEmpty);
  };
  return {
    port,
    calls,
    http2,
    empty,
    greeted(...settings) {
      const peer = new Peer(port).greet(...settings);
      peers.push(peer);
      return peer;
    },
    async [Symbol.asyncDispose]() {
      for (const { socket } of peers) socket.destroy();
      http2.destroy();
      await new Promise<void>((resolve) => http2.server.close(() => resolve()));
    },
  };
};

/** Every accepted call was closed exactly once, after all other events, and no body ended twice. */
export const closedOnce = (t: ExecutionContext, { calls }: Serving): void => {
  t.deepEqual(
    calls
      .filter(({ closed, ended, late }) => closed !== 1 || ended > 1 || late > 0)
      .map(({ path, closed, late }) => `${path}: closed ${closed} times, told ${late} times more`),
    [],
  );
};

/** A separate connection gets a response. */
export const stillServes = async (t: ExecutionContext, fixture: Serving): Promise<void> => {
  const peer = fixture.greeted().send(request(1));
  await peer.untilEvent('end 1');
  t.true(peer.events.includes('answer 1 200'));
  peer.socket.destroy();
};

export interface Conversation {
  readonly title: string;
  readonly settings?: Settings;
  readonly send: readonly Uint8Array[];
  /** Expected events in the format of `Peer.events`, separated by `|`; one of them must occur. `closed` is one. */
  readonly answers: string;
  /** An event that must not occur. */
  readonly never?: RegExp;
}

/**
 * Each conversation uses a separate connection. If no allowed event is a GOAWAY, the connection must stay usable;
 * if all are, it must end.
 */
export const conversations = (rows: readonly Conversation[]): void => {
  for (const { title, settings = [], send, answers, never } of rows)
    test(title, async (t) => {
      await using fixture = await serving();
      const peer = fixture.greeted(...settings).send(...send);
      await peer.settled();
      const allowed = answers.split(' | ');
      const came = peer.events.join(', ');
      t.true(
        allowed.some((one) => peer.events.includes(one)),
        `${came}; allowed: ${answers}`,
      );
      if (allowed.every((one) => one.startsWith('goaway'))) await peer.closed();
      if (!allowed.some((one) => /^(goaway|closed)/.test(one)))
        t.false(
          peer.events.some((one) => /^(goaway|closed)/.test(one)),
          came,
        );
      if (never !== undefined) t.notRegex(came, never);
      peer.socket.destroy();
      await fixture.empty();
      closedOnce(t, fixture);
      await stillServes(t, fixture);
    });
};

/** Resolves with everything that a server sends in response to bytes that need not be HTTP/2. */
export const readAllFrom = (port: number, bytes: Uint8Array | string): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the connection stays open; said: ${Buffer.concat(parts)}`));
    }, patienceMs);
    socket.on('data', (part: Buffer) => parts.push(part));
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve(Buffer.concat(parts));
    });
  });
