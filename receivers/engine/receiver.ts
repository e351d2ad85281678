/** Definition of a receiver: one protocol. The engine does the rest: admission, publishing, dead letters, draining. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Producer } from '../../schemas/ports/bus.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import type { SettingName, Settings } from '../../schemas/settings.ts';
import type { ResolveSource } from '../../schemas/source-address.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import type { Admit, AdmitBrowser } from './admission.ts';
import type { BodyFormat } from './body-format.ts';
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
  /** Returns what a browser key is for; undefined if the key is not one, or not valid. */
  readonly findBrowserAccess: (key: string) => BrowserAccess | undefined;
  readonly ingestion: Ingestion;
  /** Counts refusals of known keys before their bodies were accepted. */
  readonly rejections: Pick<Rejections, 'count'>;
  readonly inFlight: InFlight;
  readonly resolveSource: ResolveSource;
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

export interface OpenReceiver {
  /** Handlers of requests on shared addresses. */
  readonly handlers?: Readonly<Partial<Record<AddressSetting, HttpHandler>>>;
  /** Starts listening on a separate address, where `others` handles the requests of other receivers. */
  listen?(handleOthers: HttpHandler): Promise<Listener>;
}

/** Dependencies of endpoints that admit requests themselves. */
export interface ExtraEndpointServices {
  readonly documents: Pick<Documents, 'follow'>;
  readonly producer: Producer;
  readonly limits: Limits;
  readonly freshness: Pick<Freshness, 'check'>;
  readonly inFlight: InFlight;
  /** Lookup of existing organizations. */
  readonly keyring: Pick<Keyring, 'isEnabled'>;
  readonly resolveSource: ResolveSource;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** Endpoints besides telemetry, on the same addresses. */
export interface ExtraEndpoints extends OpenReceiver {
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
