/** `grpc.health.v1.Health`: whether this receiver accepts calls. */

import { begin, code, complete, fail, frame, messages, succeed } from './framing.ts';
import type { ServerStream, StreamHandler } from './grpc-server.ts';

const statuses = { serving: 1, notServing: 2, serviceUnknown: 3 } as const;
const maxRequestBytes = 1_024;
const framed = (status: number): Buffer => frame(Buffer.from([0x08, status]));

/** Returns the service name of a request; the only field is a string with number 1. */
const serviceOf = (request: Buffer): string =>
  request[0] === 0x0a && (request[1] ?? 0) < 128 ? request.subarray(2, 2 + (request[1] ?? 0)).toString() : '';

export class Health {
  readonly #services: ReadonlySet<string>;
  readonly #watchers = new Map<ServerStream, string>();
  #serving = true;

  constructor(services: readonly string[]) {
    this.#services = new Set(['', ...services]);
  }

  check(stream: ServerStream): StreamHandler {
    return messages(stream, maxRequestBytes, (request) => {
      const status = this.#statusOf(serviceOf(request));
      if (status === statuses.serviceUnknown) return fail(stream, code.notFound, 'the service does not exist here');
      succeed(stream, framed(status));
    });
  }

  watch(stream: ServerStream): StreamHandler {
    const watch = (request: Buffer): void => {
      if (stream.hasResponded) return;
      const service = serviceOf(request);
      this.#watchers.set(stream, service);
      begin(stream);
      stream.write(framed(this.#statusOf(service)));
    };
    return messages(stream, maxRequestBytes, watch, { closed: () => this.#watchers.delete(stream) });
  }

  /** Sends the last status to all watchers and ends their calls. */
  stop(): void {
    this.#serving = false;
    for (const [stream, service] of this.#watchers) {
      stream.write(framed(this.#statusOf(service)));
      complete(stream);
    }
  }

  #statusOf(service: string): number {
    if (!this.#services.has(service)) return statuses.serviceUnknown;
    return this.#serving ? statuses.serving : statuses.notServing;
  }
}
