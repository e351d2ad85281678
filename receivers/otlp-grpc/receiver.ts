/** OTLP over gRPC, served on `node:http2` itself: half the CPU of a gRPC library for three unary methods. */
import { createServer, type Http2Session, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Signal } from '../../schemas/topics.ts';
import { bind } from '../engine/address.ts';
import { defineReceiver, type Engine, type Listener } from '../engine/receiver.ts';
import { ExportCall } from './export-call.ts';
import { code, fail } from './framing.ts';
import { Health } from './health.ts';
import { reflect } from './reflection.ts';

const maxBodyBytes = 50 * 1024 * 1024;
const receiver = 'otlp-grpc';
const setting = 'OTLP_GRPC_ADDRESS';
const sweepMs = 250;
const windowBytes = 4 * 1024 * 1024;

const paths = {
  logs: '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
  metrics: '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
  traces: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
} as const;
const signalOf = new Map<string, Signal>([
  [paths.logs, 'logs'],
  [paths.metrics, 'metrics'],
  [paths.traces, 'traces'],
]);
const services = [...signalOf.keys()].map((path) => path.slice(1, path.lastIndexOf('/')));

const ignore = (): void => undefined;

type Serve = (stream: ServerHttp2Stream) => void;

const otherMethods = (health: Health): ReadonlyMap<string, Serve> =>
  new Map<string, Serve>([
    ['/grpc.health.v1.Health/Check', (stream) => health.check(stream)],
    ['/grpc.health.v1.Health/Watch', (stream) => health.watch(stream)],
    ['/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', (stream) => reflect(stream, 'v1')],
    ['/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo', (stream) => reflect(stream, 'v1alpha')],
  ]);

/** Ends calls whose time is over: one timer for all. */
const sweep = (calls: ReadonlySet<ExportCall>): NodeJS.Timeout =>
  setInterval(() => {
    const now = performance.now();
    for (const call of calls) if (call.deadlineAt <= now) call.expire();
  }, sweepMs).unref();

const serverOf = () =>
  createServer({
    maxSessionMemory: 64,
    // Streams that are opened and reset at once cost the sender nothing: beyond this many a second the session ends.
    streamResetBurst: 1_000,
    streamResetRate: 100,
    maxSessionInvalidFrames: 100,
    settings: { maxConcurrentStreams: 256, initialWindowSize: windowBytes, maxHeaderListSize: 16 * 1024 },
  });

const listen = async (engine: Engine): Promise<Listener> => {
  const calls = new Set<ExportCall>();
  /** Peers' addresses by session: asking the socket goes through a proxy, too dear for each call. */
  const sessions = new Map<Http2Session, string | undefined>();
  const health = new Health(services);
  const others = otherMethods(health);
  const options = { engine, receiver, maxBodyBytes };
  const server = serverOf();

  const exported = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, signal: Signal): void => {
    const call = new ExportCall(options, stream, headers, signal, stream.session && sessions.get(stream.session));
    calls.add(call);
    engine.inFlight.enter();
    stream.once('close', () => {
      calls.delete(call);
      call.closed();
      engine.inFlight.leave();
    });
    call.start();
  };

  server.on('session', (session) => {
    sessions.set(session, session.socket.remoteAddress);
    session.once('close', () => sessions.delete(session));
    // A window of its own for the connection, so that one large message does not wait for a round trip each 64 KB.
    session.setLocalWindowSize(4 * windowBytes);
    session.on('error', () => undefined);
  });
  server.on('sessionError', () => undefined);
  server.on('stream', (stream, headers) => {
    // A reset is told by `close`; without a listener it would end the process.
    stream.on('error', ignore);
    const path = headers[':path'] ?? '';
    const contentType = headers['content-type'] ?? '';
    if (headers[':method'] !== 'POST' || !contentType.startsWith('application/grpc')) {
      stream.respond({ ':status': headers[':method'] === 'POST' ? 415 : 405, allow: 'POST' }, { endStream: true });
      return;
    }
    const signal = signalOf.get(path);
    if (signal !== undefined) return exported(stream, headers, signal);
    const other = others.get(path);
    if (other !== undefined) return other(stream);
    fail(stream, code.unimplemented, `there is no method ${path.slice(0, 256)}`);
  });

  const timer = sweep(calls);
  const address = await bind(server, setting, engine.settings[setting]);
  return {
    setting,
    address,
    close: () => {
      health.stop();
      return new Promise<void>((resolve) => {
        server.close(() => {
          clearInterval(timer);
          resolve();
        });
        // GOAWAY: calls in hand are answered, new ones go elsewhere.
        for (const session of sessions.keys()) session.close();
      });
    },
    destroy: () => {
      for (const session of sessions.keys()) session.destroy();
    },
  };
};

export const otlpGrpc = defineReceiver({
  name: receiver,
  summary: 'OTLP over gRPC on 4317, with health and reflection',
  signals: ['logs', 'metrics', 'traces'],
  listens: [{ setting, protocol: 'grpc', paths }],
  maxBodyBytes,
  open: (engine) => ({ listen: () => listen(engine) }),
});
