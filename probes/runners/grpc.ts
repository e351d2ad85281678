import { isIP, type Socket } from 'node:net';
import { connect } from 'node:tls';
import { CallCredentials, ChannelCredentials, Client, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import type { z } from 'zod';
import { WireReader } from '../../schemas/protobuf/reader.ts';
import { WireWriter } from '../../schemas/protobuf/writer.ts';
import type { Observation } from '../../subjects/synthetics/assertions.ts';
import type { grpc } from '../../subjects/synthetics/types/grpc.ts';
import { certificateOf } from '../certificate.ts';
import { ownHeadersOf, userAgent } from '../own-headers.ts';
import type { PhaseClock } from '../phases.ts';
import { bareHost } from '../reach.ts';
import { StepFailure } from '../runner.ts';
import { oneStep } from './one-step.ts';

const method = '/grpc.health.v1.Health/Check';
/** `HealthCheckResponse.ServingStatus`. */
const servingStatuses = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];
/** Maximum bytes of an answer that are read; two would suffice. */
const maxBytes = 65_536;

/** `HealthCheckRequest` { service: 1 } */
const encodeRequest = (service: string): Buffer => {
  const writer = new WireWriter(service.length + 16);
  if (service !== '') {
    writer.byte(0x0a);
    const mark = writer.begin();
    writer.utf8(service);
    writer.end(mark);
  }
  return writer.finish();
};

/** `HealthCheckResponse` { status: 1 }, which is omitted if it is 0. */
const decodeStatus = (bytes: Buffer): string => {
  const reader = new WireReader(bytes);
  let found = 0;
  while (reader.position < bytes.length) {
    const tag = reader.tag(bytes.length);
    if (tag === 0x08) found = reader.varint(bytes.length);
    else reader.skip(tag, bytes.length);
  }
  return servingStatuses[found] ?? String(found);
};

interface Tls {
  readonly host: string;
  readonly servername: string;
  readonly verifyCertificate: boolean;
  readonly clock: PhaseClock;
}

/** Observes an established connection: reports the phases, and the certificate. */
class ObservedCredentials extends ChannelCredentials {
  readonly #tls: Tls | undefined;
  readonly #clock: PhaseClock;
  certificate: Observation['certificate'];
  /** Why the server is not trusted, or has no encryption: more specific than the error of the call. */
  error: Error | undefined;

  constructor(clock: PhaseClock, tls: Tls | undefined) {
    super();
    this.#clock = clock;
    this.#tls = tls;
  }

  override _isSecure(): boolean {
    return this.#tls !== undefined;
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  override _createSecureConnector() {
    const none = CallCredentials.createEmpty();
    return {
      connect: async (socket: Socket) => {
        const secure = this.#tls === undefined ? socket : await this.#secured(socket, this.#tls);
        this.#clock.enter('wait');
        return { socket: secure, secure: this.#tls !== undefined };
      },
      waitForReady: () => Promise.resolve(),
      getCallCredentials: () => none,
      destroy: () => undefined,
    };
  }

  #secured(socket: Socket, { host, servername, verifyCertificate, clock }: Tls): Promise<Socket> {
    clock.enter('tls');
    return new Promise((ended, failed) => {
      const named = isIP(servername) === 0 ? { servername } : { host: servername };
      const options = { socket, ALPNProtocols: ['h2'], rejectUnauthorized: verifyCertificate, ...named };
      const secure = connect(options, () => {
        this.certificate = certificateOf(secure, host);
        ended(secure);
      });
      secure.once('error', (error) => {
        this.error = error;
        failed(error);
      });
      secure.once('close', () => failed(new Error('it closed the connection')));
    });
  }
}

/** gRPC's connection errors contain system codes in their text. */
const systemCode = /\b(E[A-Z]{4,})\b/;

const failureOfCall = (error: ServiceError, { error: ofTls }: ObservedCredentials): Error => {
  if (ofTls !== undefined) return ofTls;
  const code = systemCode.exec(error.details)?.[1];
  return Object.assign(new Error(error.details, { cause: error }), code === undefined ? {} : { code });
};

export const runGrpc = oneStep<z.output<(typeof grpc)['settings']>>(
  'lookup',
  ({ host }) => host,
  async ({ host: written, port, service, tls, serverName, verifyCertificate, metadata, assertions }, attempt) => {
    const { clock, reached, signal } = attempt;
    const host = bareHost(written);
    const name = serverName ?? host;
    const authority = isIP(name) === 6 ? `[${name}]` : name;
    const credentials = new ObservedCredentials(
      clock,
      tls ? { host, servername: name, verifyCertificate, clock } : undefined,
    );
    clock.enter('connect');
    const isSix = isIP(reached.address) === 6;
    const client = new Client(
      isSix ? `ipv6:[${reached.address}]:${port}` : `ipv4:${reached.address}:${port}`,
      credentials,
      {
        'grpc.default_authority': `${authority}:${port}`,
        'grpc.primary_user_agent': userAgent,
        // A new connection, directly to the address, tried once.
        'grpc.use_local_subchannel_pool': 1,
        'grpc.enable_http_proxy': 0,
        'grpc.enable_retries': 0,
        'grpc.service_config_disable_resolution': 1,
        'grpc.max_receive_message_length': maxBytes,
      },
    );
    const sent = new Metadata();
    for (const [key, value] of Object.entries({ ...metadata, ...ownHeadersOf(attempt) })) sent.set(key, value);
    let stop: (() => void) | undefined;
    try {
      const code = await new Promise<string>((ended, failed) => {
        const call = client.makeUnaryRequest(
          method,
          (question: Buffer) => question,
          decodeStatus,
          encodeRequest(service),
          sent,
          (error, answer) => {
            if (error === null && answer !== undefined) return ended(answer);
            const isAnswer = clock.current === 'wait' && error !== null && error.code !== status.UNAVAILABLE;
            if (isAnswer && !signal.aborted) ended(status[error.code] ?? String(error.code));
            else
              failed(error === null ? new StepFailure('it returned no response') : failureOfCall(error, credentials));
          },
        );
        stop = () => call.cancel();
        signal.addEventListener('abort', stop, { once: true });
      });
      const { certificate } = credentials;
      const seen = { code, ...(certificate !== undefined && { certificate }) };
      const hasCodeAssertion = assertions.some(({ source }) => source === 'code');
      const whose = service === '' ? host : `${service} of ${host}`;
      return {
        seen,
        ...(!hasCodeAssertion && code !== 'SERVING' && { message: `${whose} is ${code}, expected: SERVING` }),
      };
    } finally {
      if (stop !== undefined) signal.removeEventListener('abort', stop);
      client.close();
    }
  },
);
