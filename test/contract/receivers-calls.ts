/** Requests to running receivers, over HTTP and gRPC. */
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { receivers } from '../../receivers/registry.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import type { Fixture } from './receivers-fixture.ts';

export const protobuf = 'application/x-protobuf';

export interface Sent {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

export const post = async (
  { http, secret }: Pick<Fixture, 'http' | 'secret'>,
  body: Uint8Array | string,
  { path = '/v1/logs', ...headers }: Record<string, string> = {},
): Promise<Sent> => {
  const response = await fetch(http + path, {
    method: 'POST',
    headers: { 'x-license-key': secret, 'content-type': protobuf, ...headers },
    body: body as Uint8Array<ArrayBuffer>,
  });
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) };
};

export const grpcPath = (signal: Signal): string => {
  const path = receivers.flatMap(({ listens }) => listens).find(({ protocol }) => protocol === 'grpc')?.paths[signal];
  if (path === undefined) throw new Error(`no gRPC receiver takes ${signal}`);
  return path;
};

/** One unary call; resolves with the error, or undefined on success. */
export const call = async (
  { grpc, secret }: Pick<Fixture, 'grpc' | 'secret'>,
  path: string,
  body: Buffer,
  { gzip = false, ...pairs }: { gzip?: boolean } & Record<string, string | boolean> = {},
): Promise<{ error: ServiceError | undefined; response: Buffer | undefined }> => {
  const client = new Client(
    grpc,
    credentials.createInsecure(),
    gzip ? { 'grpc.default_compression_algorithm': 2 } : {},
  );
  const metadata = new Metadata();
  metadata.set('x-license-key', secret);
  for (const [name, value] of Object.entries(pairs)) metadata.set(name, String(value));
  try {
    return await new Promise((resolve) => {
      client.makeUnaryRequest(
        path,
        (value: Buffer) => value,
        (value: Buffer) => value,
        body,
        metadata,
        { deadline: Date.now() + 600_000 },
        (error, response) => resolve({ error: error ?? undefined, response }),
      );
    });
  } finally {
    client.close();
  }
};
