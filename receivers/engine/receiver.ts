/** A receiver is one definition of a protocol. The engine does the rest: admission, publishing, dead letters, draining. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Producer } from '../../schemas/ports/bus.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import type { SettingName, Settings } from '../../schemas/settings.ts';
import type { SourceOf } from '../../schemas/source-address.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import type { Admit } from './admission.ts';
import type { BodyFormat } from './body-format.ts';
import type { Freshness } from './freshness.ts';
import type { InFlight } from './in-flight.ts';
import type { Ingestion } from './ingestion.ts';
import type { Keyring } from './keyring.ts';
import type { Limits } from './limits.ts';
import type { Rejections } from './rejections.ts';
import type { RequestMetrics } from './request-metrics.ts';

/** The services that the engine gives to a receiver. */
export interface Engine {
  readonly admit: Admit;
  readonly ingestion: Ingestion;
  /** Counts what a known key was refused before its body was taken in. */
  readonly rejections: Pick<Rejections, 'count'>;
  readonly inFlight: InFlight;
  readonly sourceOf: SourceOf;
  readonly requestMetrics: Readonly<Record<Signal, RequestMetrics>>;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Settings;
}

export type AddressSetting = SettingName & `${string}_ADDRESS`;

/** An address and the paths that a receiver serves there. */
export interface Listens {
  readonly setting: AddressSetting;
  readonly protocol: 'http' | 'grpc';
  /** Path of each signal; remote-write carries metrics. */
  readonly paths: Readonly<Partial<Record<Signal, string>>>;
}

/** A socket of the receiver's own. */
export interface Listener {
  readonly setting: Listens['setting'];
  /** `host:port` as bound: port 0 becomes the real one. */
  readonly address: string;
  /** Tells clients that it goes soon, where `close` alone would cut their next request. */
  leave?(): Promise<void>;
  /** Stops accepting, lets calls in hand finish and closes connections politely. */
  close(): Promise<void>;
  /** Ends every connection now. */
  destroy(): void;
}

/** True when the request was taken; false leaves it to others on the same address. */
export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface Opened {
  /** Handlers of requests on shared addresses. */
  readonly handlers?: Readonly<Partial<Record<AddressSetting, HttpHandler>>>;
  /** Starts listening on an address of its own, where `others` handles the requests of other receivers. */
  listen?(others: HttpHandler): Promise<Listener>;
}

/** What is given to what admits requests by itself. */
export interface ExtraEndpointServices {
  readonly documents: Pick<Documents, 'follow'>;
  readonly producer: Producer;
  readonly limits: Limits;
  readonly freshness: Pick<Freshness, 'check'>;
  readonly inFlight: InFlight;
  /** Which organizations are there. */
  readonly keyring: Pick<Keyring, 'isEnabled'>;
  readonly sourceOf: SourceOf;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** What is served beside telemetry, on the same addresses. */
export interface ExtraEndpoints extends Opened {
  /** Called when every request was answered. Resolves when nothing of it is under way. */
  close(): Promise<void>;
}

export type OpenExtraEndpoints = (services: ExtraEndpointServices) => Promise<ExtraEndpoints>;

export interface Receiver {
  /** Also the `receiver` label of metrics and the origin of dead letters. */
  readonly name: string;
  readonly summary: string;
  readonly signals: readonly Signal[];
  readonly listens: readonly Listens[];
  /** Largest body, compressed and decompressed. */
  readonly maxBodyBytes: number;
  /** The formats of its bodies. Receivers may share one. */
  readonly formats: readonly BodyFormat[];
  open(engine: Engine): Opened;
}

/** Declares a receiver; one line in `receivers/registry.ts` makes it part of the role. */
export const defineReceiver = (receiver: Receiver): Receiver => receiver;
