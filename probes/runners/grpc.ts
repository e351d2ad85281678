import { isIP, type Socket } from 'node:net';
import { connect } from 'node:tls';
import { CallCredentials, ChannelCredentials, Client, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import type { z } from 'zod';
import { WireReader } from '../../schemas/protobuf/reader.ts';
import { WireWriter } from '../../schemas/protobuf/writer.ts';
import type { Observation } from '../../subjects/synthetics/assertions.ts';
import type { grpc } from '../../subjects/synthetics/types/grpc.ts';
import { readCertificate } from '../certificate.ts';
import { createRunHeaders, userAgent } from '../own-headers.ts';
import type { PhaseClock } from '../phases.ts';
import { removeBrackets } from '../reach.ts';
import { StepFailure } from '../runner.ts';
import { createOneStepRunner } from './one-step.ts';

const method = '/grpc.health.v1.Health/Check';
/** `HealthCheckResponse.ServingStatus`. */
const servingStatuses = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];
/** Maximum number of bytes read from a response; two would suffice. */
const maxResponseBytes = 65_536;

/** `HealthCheckRequest` { service: 1 } */
const encodeRequest = (service: string): Buffer => {
  const writer = new WireWriter(service.length + 16);
  if (service !== '') {
    writer.writeByte(0x0a);
    const mark = writer.beginLengthPrefixed();
    writer.writeUtf8(service);
    writer.endLengthPrefixed(mark);
  }
  return writer.finish();
};

/** `HealthCheckResponse` { status: 1 }, which is omitted if it is 0. */
const decodeStatus = (bytes: Buffer): string => {
  const reader = new WireReader(bytes);
  let servingStatus = 0;
  while (reader.position < bytes.length) {
    const tag = reader.readTag(bytes.length);
    if (tag === 0x08) servingStatus = reader.readVarint(bytes.length);
    else reader.skip(tag, bytes.length);
  }
  return servingStatuses[servingStatus] ?? String(servingStatus);
};

interface TlsOptions {
  readonly host: string;
  readonly servername: string;
  readonly verifyCertificate: boolean;
  readonly clock: PhaseClock;
}

/** Observes an established connection: reports the phases, and the certificate. */
class ObservedCredentials extends ChannelCredentials {
  readonly #tls: TlsOptions | undefined;
  readonly #clock: PhaseClock;
  certificate: Observation['certificate'];
  /** Reason for a failed TLS handshake; more specific than the error of the call. */
  error: Error | undefined;

  constructor(clock: PhaseClock, tls: TlsOptions | undefined) {
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
    const callCredentials = CallCredentials.createEmpty();
    return {
      connect: async (socket: Socket) => {
        const connectedSocket = this.#tls === undefined ? socket : await this.#startTls(socket, this.#tls);
        this.#clock.enter('wait');
        return { socket: connectedSocket, secure: this.#tls !== undefined };
      },
      waitForReady: () => Promise.resolve(),
      getCallCredentials: () => callCredentials,
      destroy: () => undefined,
    };
  }

  #startTls(socket: Socket, { host, servername, verifyCertificate, clock }: TlsOptions): Promise<Socket> {
    clock.enter('tls');
    return new Promise((resolve, reject) => {
      const serverIdentity = isIP(servername) === 0 ? { servername } : { host: servername };
      const options = { socket, ALPNProtocols: ['h2'], rejectUnauthorized: verifyCertificate, ...serverIdentity };
      const tlsSocket = connect(options, () => {
        this.certificate = readCertificate(tlsSocket, host);
        resolve(tlsSocket);
      });
      tlsSocket.once('error', (error) => {
        this.error = error;
        reject(error);
      });
      tlsSocket.once('close', () => reject(new Error('it closed the connection')));
    });
  }
}

/** gRPC's connection errors contain system codes in their text. */
const systemCode = /\b(E[A-Z]{4,})\b/;

const toCallError = (error: ServiceError, { error: tlsError }: ObservedCredentials): Error => {
  if (tlsError !== undefined) return tlsError;
  const code = systemCode.exec(error.details)?.[1];
  return Object.assign(new Error(error.details, { cause: error }), code === undefined ? {} : { code });
};

export const runGrpc = createOneStepRunner<z.output<(typeof grpc)['settings']>>(
  'lookup',
  ({ host }) => host,
  async (
    { host: configuredHost, port, service, tls, serverName, verifyCertificate, metadata, assertions },
    attempt,
  ) => {
    const { clock, reached, signal } = attempt;
    const host = removeBrackets(configuredHost);
    const name = serverName ?? host;
    const authority = isIP(name) === 6 ? `[${name}]` : name;
    const credentials = new ObservedCredentials(
      clock,
      tls ? { host, servername: name, verifyCertificate, clock } : undefined,
    );
    clock.enter('connect');
    const isIPv6Address = isIP(reached.address) === 6;
    const client = new Client(
      isIPv6Address ? `ipv6:[${reached.address}]:${port}` : `ipv4:${reached.address}:${port}`,
      credentials,
      {
        'grpc.default_authority': `${authority}:${port}`,
        'grpc.primary_user_agent': userAgent,
        // One attempt on a new connection, directly to the address.
        'grpc.use_local_subchannel_pool': 1,
        'grpc.enable_http_proxy': 0,
        'grpc.enable_retries': 0,
        'grpc.service_config_disable_resolution': 1,
        'grpc.max_receive_message_length': maxResponseBytes,
      },
    );
    const requestMetadata = new Metadata();
    for (const [key, value] of Object.entries({ ...metadata, ...createRunHeaders(attempt) }))
      requestMetadata.set(key, value);
    let stop: (() => void) | undefined;
    try {
      const code = await new Promise<string>((resolve, reject) => {
        const call = client.makeUnaryRequest(
          method,
          (request: Buffer) => request,
          decodeStatus,
          encodeRequest(service),
          requestMetadata,
          (error, servingStatus) => {
            if (error === null && servingStatus !== undefined) return resolve(servingStatus);
            const hasResponse = clock.current === 'wait' && error !== null && error.code !== status.UNAVAILABLE;
            if (hasResponse && !signal.aborted) resolve(status[error.code] ?? String(error.code));
            else reject(error === null ? new StepFailure('it returned no response') : toCallError(error, credentials));
          },
        );
        stop = () => call.cancel();
        signal.addEventListener('abort', stop, { once: true });
      });
      const { certificate } = credentials;
      const observation = { code, ...(certificate !== undefined && { certificate }) };
      const hasCodeAssertion = assertions.some(({ source }) => source === 'code');
      const serviceName = service === '' ? host : `${service} of ${host}`;
      return {
        observation,
        ...(!hasCodeAssertion && code !== 'SERVING' && { message: `${serviceName} is ${code}, expected: SERVING` }),
      };
    } finally {
      if (stop !== undefined) signal.removeEventListener('abort', stop);
      client.close();
    }
  },
);
