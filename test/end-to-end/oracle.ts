/**
 * A counting oracle. Every record has a unique number and is sent once. Its request is acknowledged (2xx), refused
 * (4xx) or unknown (5xx, broken connection). Read back, acknowledged records exist exactly once, refused ones never,
 * unknown ones at most once. `sent = acknowledged + refused + unknown` holds by construction and is checked.
 */
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { stretched } from '../waiting.ts';

type Fate = 'acknowledged' | 'refused' | 'unknown';

export interface OracleOptions {
  /** Base address to which `/v1/logs` is appended; a function, because it may change between rounds. */
  readonly otlp: () => string;
  readonly licenseKey: string;
  readonly recordsPerRequest?: number;
  readonly connections?: number;
  /** Pause of each connection between requests. */
  readonly pauseMs?: number;
  readonly gzip?: boolean;
  /** Bytes of padding that each record has besides its number. */
  readonly paddingBytes?: number;
  /** Distinguishes runs that share a store. */
  readonly run?: string;
}

/** Counts of responses: `200`, `503 retry-after`, `503`, `ECONNREFUSED` … */
export type ResponseCounts = ReadonlyMap<string, number>;

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...varint(Math.floor(value / 128))];
const field = (number: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
const text = (number: number, value: string): Buffer => field(number, Buffer.from(value));
const time = (number: number, nanoseconds: bigint): Buffer => {
  const bytes = Buffer.alloc(9);
  bytes[0] = number * 8 + 1;
  bytes.writeBigUInt64LE(nanoseconds, 1);
  return bytes;
};

/** Encodes an ExportLogsServiceRequest of one resource by hand: the oracle shares no code with the product. */
export const logsRequest = (service: string, bodies: readonly string[], padding = ''): Buffer => {
  const now = BigInt(Date.now()) * 1_000_000n;
  const attribute = (key: string, value: string): Buffer => Buffer.concat([text(1, key), field(2, text(1, value))]);
  const extra = field(6, attribute('oracle.kind', `numbered${padding}`));
  const records = bodies.map((body) =>
    field(2, Buffer.concat([time(1, now), Buffer.from([16, 9]), field(5, text(1, body)), extra])),
  );
  const resource = field(1, field(1, attribute('service.name', service)));
  return field(1, Buffer.concat([resource, field(2, Buffer.concat(records))]));
};

const fateOf = (status: number): Fate => {
  if (status < 300) return 'acknowledged';
  return status < 500 ? 'refused' : 'unknown';
};

const outcomeOf = ({ statusCode = 0, headers }: IncomingMessage): string =>
  `${statusCode}${headers['retry-after'] === undefined ? '' : ' retry-after'}`;

const defaults = { recordsPerRequest: 20, connections: 8, pauseMs: 0, gzip: false, paddingBytes: 0 };

export class Oracle {
  readonly #options: Required<OracleOptions>;
  readonly #fates: Fate[] = [];
  readonly #responses = new Map<string, number>();
  readonly #agent: Agent;
  readonly #padding: string;
  #stopped = false;
  #senders: Promise<void>[] = [];

  constructor(options: OracleOptions) {
    this.#options = { ...defaults, run: Math.random().toString(36).slice(2, 10), ...options };
    this.#agent = new Agent({ keepAlive: true, maxSockets: this.#options.connections });
    this.#padding = 'x'.repeat(this.#options.paddingBytes);
  }

  /** The service name of all records of this run. */
  get service(): string {
    return `oracle-${this.#options.run}`;
  }

  /** Starts sending; `stop` ends it. */
  start(): void {
    this.#stopped = false;
    this.#senders = Array.from({ length: this.#options.connections }, () => this.#send());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#senders);
  }

  async close(): Promise<void> {
    await this.stop();
    this.#agent.destroy();
  }

  /** Counts of records. */
  counts(): Readonly<Record<Fate | 'sent', number>> {
    const counts = { sent: this.#fates.length, acknowledged: 0, refused: 0, unknown: 0 };
    for (const fate of this.#fates) counts[fate]++;
    return counts;
  }

  /** Counts of responses since the start, or since the last call with `reset`. */
  responses({ reset = false } = {}): ResponseCounts {
    const responses = new Map(this.#responses);
    if (reset) this.#responses.clear();
    return responses;
  }

  /** Sends one request with new records. Returns its outcome. */
  async sendOnce(): Promise<string> {
    const first = this.#fates.length;
    const numbers = Array.from({ length: this.#options.recordsPerRequest }, (_, index) => first + index);
    // Reserved synchronously, so connections never share a number. `unknown` until there is a response.
    for (const number of numbers) this.#fates[number] = 'unknown';
    const bodies = numbers.map((number) => this.#body(number));
    const { fate, outcome } = await this.#request(logsRequest(this.service, bodies, this.#padding));
    for (const number of numbers) this.#fates[number] = fate;
    this.#responses.set(outcome, (this.#responses.get(outcome) ?? 0) + 1);
    return outcome;
  }

  /** Compares what was read back (body → count) with what was sent. Returns one line per difference. */
  verdict(readBack: ReadonlyMap<string, number>): string[] {
    const wrong: string[] = [];
    const expected = new Map(this.#fates.map((fate, number) => [this.#body(number), fate]));
    for (const [body, fate] of expected) {
      const times = readBack.get(body) ?? 0;
      if (fate === 'acknowledged' && times !== 1) wrong.push(`${body} was acknowledged and is there ${times} times`);
      if (fate === 'refused' && times !== 0) wrong.push(`${body} was refused and is there ${times} times`);
      if (fate === 'unknown' && times > 1) wrong.push(`${body} is unknown and is there ${times} times`);
    }
    for (const body of readBack.keys()) if (!expected.has(body)) wrong.push(`${body} was never sent`);
    return wrong;
  }

  #body(number: number): string {
    return `${this.#options.run} ${number}`;
  }

  async #send(): Promise<void> {
    const { pauseMs } = this.#options;
    while (!this.#stopped) {
      const outcome = await this.sendOnce();
      // Without a server, immediate retries would only inflate the count.
      const pause = outcome.startsWith('2') ? pauseMs : Math.max(pauseMs, 50);
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  #request(plain: Buffer): Promise<{ readonly fate: Fate; readonly outcome: string }> {
    const { otlp, licenseKey, gzip } = this.#options;
    const body = gzip ? gzipSync(plain) : plain;
    return new Promise((resolve) => {
      const broken = (error: NodeJS.ErrnoException): void =>
        resolve({ fate: 'unknown', outcome: error.code ?? error.message });
      const request = httpRequest(
        `${otlp()}/v1/logs`,
        {
          method: 'POST',
          agent: this.#agent,
          timeout: stretched(30_000),
          headers: {
            'content-type': 'application/x-protobuf',
            'content-length': body.length,
            'x-license-key': licenseKey,
            ...(gzip ? { 'content-encoding': 'gzip' } : {}),
          },
        },
        (response) => {
          response.resume();
          response.on('end', () => resolve({ fate: fateOf(response.statusCode ?? 500), outcome: outcomeOf(response) }));
          response.on('error', broken);
        },
      );
      request.on('timeout', () => request.destroy(new Error('timeout')));
      request.on('error', broken);
      request.end(body);
    });
  }
}
