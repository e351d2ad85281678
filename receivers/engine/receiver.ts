/** Definition of a receiver: one protocol. The engine does the rest: admission, publishing, dead letters, draining. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Producer } from '../../schemas/ports/bus.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Counters } from '../../schemas/ports/counters.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import type { SettingName, Settings } from '../../schemas/settings.ts';
import type { ResolveSource } from '../../schemas/source-address.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import type { Admit, AdmitBrowser, FindRevocation } from './admission.ts';
import type { BodyFormat } from './body-format.ts';
import type { FindCountry } from './countries.ts';
import type { Freshness } from './freshness.ts';
import type { InFlight } from './in-flight.ts';
import type { Ingestion } from './ingestion.ts';
import type { BrowserAccess, Keyring } from './keyring.ts';
import type { Limits } from './limits.ts';
import type { Rejections } from './rejections.ts';
import type { RequestMetrics } from './request-metrics.ts';

/** Services of the engine for a receiver. */
export interface Engine {
  readonly admit: Admit;
  readonly admitBrowser: AdmitBrowser;
  /** Returns the application and restrictions of a browser key; undefined if the key is not a valid browser key. */
  readonly findBrowserAccess: (key: string) => BrowserAccess | undefined;
  readonly ingestion: Ingestion;
  /** Counts rejections of known keys before their bodies were accepted. */
  readonly rejections: Pick<Rejections, 'count'>;
  readonly inFlight: InFlight;
  readonly resolveSource: ResolveSource;
  readonly findCountry: FindCountry;
  readonly requestMetrics: Readonly<Record<Signal, RequestMetrics>>;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Settings;
}

export type AddressSetting = SettingName & `${string}_ADDRESS`;

/** An address and the receiver's paths there. */
export interface ListenAddress {
  readonly setting: AddressSetting;
  readonly protocol: 'http' | 'grpc';
  /** Path of each telemetry signal; remote write carries metrics. */
  readonly paths: Readonly<Partial<Record<Signal, string>>>;
}

/** A separate socket of the receiver. */
export interface Listener {
  readonly setting: ListenAddress['setting'];
  /** Bound `host:port`, with the real port for port 0. */
  readonly address: string;
  /** Announces the shutdown to clients, if `close` alone would interrupt their next request. */
  announceShutdown?(): Promise<void>;
  /** Stops accepting, lets pending calls finish and closes connections gracefully. */
  close(): Promise<void>;
  /** Ends all connections immediately. */
  destroy(): void;
}

/** Returns true if the request was handled; false leaves it to other handlers on the same address. */
export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

/** WebSockets of an address. */
export interface WebSocketHandler {
  /** Whether a request opens a known WebSocket. */
  accepts(request: IncomingMessage): boolean;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** Handlers of other receivers on the same address. */
export interface SharedAddress {
  readonly handler: HttpHandler;
  readonly sockets: WebSocketHandler;
}

export interface OpenReceiver {
  /** Handlers of requests on shared addresses. */
  readonly handlers?: Readonly<Partial<Record<AddressSetting, HttpHandler>>>;
  /** WebSockets on shared addresses. */
  readonly sockets?: Readonly<Partial<Record<AddressSetting, WebSocketHandler>>>;
  /** Starts listening on a separate address, where `shared` handles the requests of other receivers. */
  listen?(shared: SharedAddress): Promise<Listener>;
}

/** Dependencies of endpoints that admit requests themselves. */
export interface ExtraEndpointServices {
  readonly documents: Pick<Documents, 'follow'>;
  readonly producer: Producer;
  readonly limits: Limits;
  /** Counts that instances share */
  readonly counters: Pick<Counters, 'spend'>;
  readonly freshness: Pick<Freshness, 'check'>;
  readonly inFlight: InFlight;
  /** Lookup of existing organizations. */
  readonly keyring: Pick<Keyring, 'isEnabled'>;
  readonly resolveSource: ResolveSource;
  readonly admit: Admit;
  readonly findRevocation: FindRevocation;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Settings;
}

/** Endpoints besides telemetry, on the same addresses. */
export interface ExtraEndpoints extends OpenReceiver {
  /** Ends connections that stay open without a request. No new one is accepted afterwards. */
  endConnections?(): Promise<void>;
  /** Called when every request has its response. Resolves when no work remains. */
  close(): Promise<void>;
}

export type OpenExtraEndpoints = (services: ExtraEndpointServices) => Promise<ExtraEndpoints>;

export interface Receiver {
  /** Name, also used as the `receiver` label of metrics and the origin of dead letters. */
  readonly name: string;
  readonly summary: string;
  readonly signals: readonly Signal[];
  readonly listens: readonly ListenAddress[];
  /** Maximum size of a body, compressed and decompressed. */
  readonly maxBodyBytes: number;
  /** Formats of its bodies. Receivers may share a format. */
  readonly formats: readonly BodyFormat[];
  open(engine: Engine): OpenReceiver;
}

/** Declares a receiver; one line in `receivers/registry.ts` adds it to the role. */
export const defineReceiver = (receiver: Receiver): Receiver => receiver;
