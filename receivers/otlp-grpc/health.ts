/** `grpc.health.v1.Health`: whether this receiver accepts calls. */

import {
  beginMessages,
  createMessageReader,
  endMessages,
  frameMessage,
  respondWithError,
  respondWithMessage,
  statusCode,
} from './framing.ts';
import type { ServerStream, StreamHandler } from './grpc-server.ts';

const statuses = { serving: 1, notServing: 2, serviceUnknown: 3 } as const;
const maxRequestBytes = 1_024;
const frameStatus = (status: number): Buffer => frameMessage(Buffer.from([0x08, status]));

/** Returns the service name of a request; the only field is a string with number 1. */
const parseService = (request: Buffer): string =>
  request[0] === 0x0a && (request[1] ?? 0) < 128 ? request.subarray(2, 2 + (request[1] ?? 0)).toString() : '';

export class Health {
  readonly #services: ReadonlySet<string>;
  readonly #watchers = new Map<ServerStream, string>();
  #isServing = true;

  constructor(services: readonly string[]) {
    this.#services = new Set(['', ...services]);
  }

  check(stream: ServerStream): StreamHandler {
    return createMessageReader(stream, maxRequestBytes, (request) => {
      const status = this.#findStatus(parseService(request));
      if (status === statuses.serviceUnknown)
        return respondWithError(stream, statusCode.notFound, 'the service does not exist here');
      respondWithMessage(stream, frameStatus(status));
    });
  }

  watch(stream: ServerStream): StreamHandler {
    const watch = (request: Buffer): void => {
      if (stream.hasResponded) return;
      const service = parseService(request);
      this.#watchers.set(stream, service);
      beginMessages(stream);
      stream.write(frameStatus(this.#findStatus(service)));
    };
    return createMessageReader(stream, maxRequestBytes, watch, { closed: () => this.#watchers.delete(stream) });
  }

  /** Sends the last status to all watchers and ends their calls. */
  stop(): void {
    this.#isServing = false;
    for (const [stream, service] of this.#watchers) {
      stream.write(frameStatus(this.#findStatus(service)));
      endMessages(stream);
    }
  }

  #findStatus(service: string): number {
    if (!this.#services.has(service)) return statuses.serviceUnknown;
    return this.#isServing ? statuses.serving : statuses.notServing;
  }
}
