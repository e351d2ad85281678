/** OTLP over gRPC. */

import { bind } from '../../runtime/bind.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { otlpProtobuf } from '../engine/body-format.ts';
import { defineReceiver, type Engine, type Listener } from '../engine/receiver.ts';
import { checkDeadlinesUntilClosed } from '../http2/deadlines.ts';
import { createHttp2Server } from '../http2/server.ts';
import { ExportCall, maxBodyBytes, receiverName } from './export-call.ts';
import { respondWithError, statusCode } from './framing.ts';
import type { CreateGrpcServer, ServerStream, StreamHandler } from './grpc-server.ts';
import { Health } from './health.ts';
import { createNodeServer } from './node-server.ts';
import { reflect } from './reflection.ts';

const setting = 'OTLP_GRPC_ADDRESS';
const sweepIntervalMs = 250;

const paths = {
  logs: '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
  metrics: '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
  traces: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
} as const;
const signalByPath = new Map<string, Signal>([
  [paths.logs, 'logs'],
  [paths.metrics, 'metrics'],
  [paths.traces, 'traces'],
]);
const services = [...signalByPath.keys()].map((path) => path.slice(1, path.lastIndexOf('/')));

/** Handler of calls whose response was determined by their headers. */
const ignoringHandler: StreamHandler = { data: () => undefined, end: () => undefined, closed: () => undefined };
const unsupportedTypeHeaders = Object.freeze({ ':status': '415', 'content-length': '0' });
const methodNotAllowedHeaders = Object.freeze({ ':status': '405', allow: 'POST', 'content-length': '0' });

const servers: Readonly<Record<'own' | 'node', CreateGrpcServer>> = { own: createHttp2Server, node: createNodeServer };

type HandleStream = (stream: ServerStream) => StreamHandler;

const createOtherMethods = (health: Health): ReadonlyMap<string, HandleStream> =>
  new Map<string, HandleStream>([
    ['/grpc.health.v1.Health/Check', (stream) => health.check(stream)],
    ['/grpc.health.v1.Health/Watch', (stream) => health.watch(stream)],
    ['/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', (stream) => reflect(stream, 'v1')],
    ['/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo', (stream) => reflect(stream, 'v1alpha')],
  ]);

const listen = async (engine: Engine): Promise<Listener> => {
  const calls = new Set<ExportCall>();
  const health = new Health(services);
  const otherHandlers = createOtherMethods(health);
  const forget = (call: ExportCall): void => void calls.delete(call);

  const startExport = (stream: ServerStream, signal: Signal): StreamHandler => {
    const call = new ExportCall(engine, stream, signal, forget);
    calls.add(call);
    call.start();
    return call;
  };

  const handleStream = (stream: ServerStream): StreamHandler => {
    const { ':path': path = '', ':method': method, 'content-type': contentType = '' } = stream.headers;
    if (method !== 'POST' || !contentType.startsWith('application/grpc')) {
      stream.respond(method === 'POST' ? unsupportedTypeHeaders : methodNotAllowedHeaders, true);
      return ignoringHandler;
    }
    const signal = signalByPath.get(path);
    if (signal !== undefined) return startExport(stream, signal);
    const handleOther = otherHandlers.get(path);
    if (handleOther !== undefined) return handleOther(stream);
    respondWithError(stream, statusCode.unimplemented, `there is no method ${path.slice(0, 256)}`);
    return ignoringHandler;
  };

  const http2 = servers[engine.settings.GRPC_SERVER](handleStream);
  checkDeadlinesUntilClosed(http2.server, sweepIntervalMs, calls);
  const address = await bind(http2.server, setting, engine.settings[setting]);
  return {
    setting,
    address,
    close: async () => {
      health.stop();
      await http2.close();
    },
    destroy: () => http2.destroy(),
  };
};

export const otlpGrpc = defineReceiver({
  name: receiverName,
  summary: 'OTLP over gRPC on port 4317, with health and reflection',
  signals: ['logs', 'metrics', 'traces'],
  listens: [{ setting, protocol: 'grpc', paths }],
  maxBodyBytes,
  formats: [otlpProtobuf],
  open: (engine) => ({ listen: () => listen(engine) }),
});
