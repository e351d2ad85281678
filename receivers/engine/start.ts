/** Runs receivers as a role: loads the keyring first, then starts the listeners; stops in reverse order. */
import { createStoresCheck } from '../../runtime/readiness.ts';
import { createSecretBox, loadSecretKey, type SecretBox } from '../../runtime/secret-box.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Counters } from '../../schemas/ports/counters.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import type { Role } from '../../schemas/ports/role.ts';
import type { Settings } from '../../schemas/settings.ts';
import { createSourceResolver } from '../../schemas/source-address.ts';
import { createAdmission } from './admission.ts';
import { openCountries } from './countries.ts';
import { Freshness } from './freshness.ts';
import { InFlight } from './in-flight.ts';
import { Ingestion } from './ingestion.ts';
import { KeyUses } from './key-uses.ts';
import { Keyring } from './keyring.ts';
import { Limits } from './limits.ts';
import { Offload } from './offload.ts';
import { OffloadWatch } from './offload-watch.ts';
import { Publisher } from './publisher.ts';
import { Quotas } from './quotas.ts';
import type {
  AddressSetting,
  Engine,
  ExtraEndpoints,
  HttpHandler,
  Listener,
  OpenExtraEndpoints,
  OpenReceiver,
  Receiver,
  WebSocketHandler,
} from './receiver.ts';
import { Rejections } from './rejections.ts';
import { ReceiverMetrics } from './request-metrics.ts';
import { createUsedBytesReader } from './used-bytes.ts';
import { VisitorLimits } from './visitor-limits.ts';

export interface ReceiversOptions {
  readonly bus: Bus;
  readonly documents: Documents;
  readonly counters: Counters;
  /** Store of the ledger; without it, quotas start at zero with the counters. */
  readonly columns?: Columns;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
  readonly settings: Settings;
}

/** The running role. */
export interface Receivers extends Role {
  /**
   * Handles ingest requests of the main HTTP address; returns false for other requests. Also suitable for
   * `checkContinue`, where it responds before the body is sent.
   */
  readonly handler: HttpHandler;
  /** WebSockets of the main HTTP address. */
  readonly sockets: WebSocketHandler;
  /** Bound addresses of the receivers' own listeners, by setting. */
  readonly addresses: Readonly<Partial<Record<Listener['setting'], string>>>;
}

/** Returns the handler of one address, which passes requests to the receivers. */
const createAddressHandler = (openReceivers: readonly OpenReceiver[], setting: AddressSetting): HttpHandler => {
  const handlers = openReceivers.flatMap(({ handlers: { [setting]: handler } = {} }) => handler ?? []);
  return (request, response) => handlers.some((handler) => handler(request, response));
};

/** Returns the WebSockets of one address. */
const createAddressSockets = (openReceivers: readonly OpenReceiver[], setting: AddressSetting): WebSocketHandler => {
  const handlers = openReceivers.flatMap(({ sockets: { [setting]: sockets } = {} }) => sockets ?? []);
  return {
    accepts: (request) => handlers.some((sockets) => sockets.accepts(request)),
    upgrade: (request, socket, head) =>
      handlers.find((sockets) => sockets.accepts(request))?.upgrade(request, socket, head),
  };
};

const createRequestMetrics = (metrics: ReceiverMetrics, receiver: string): Engine['requestMetrics'] => ({
  logs: metrics.createRequestMetrics(receiver, 'logs'),
  metrics: metrics.createRequestMetrics(receiver, 'metrics'),
  traces: metrics.createRequestMetrics(receiver, 'traces'),
});

/** Starts listening once all keys are loaded. Rejects if an address is not available. */
export const start = async (
  receivers: readonly Receiver[],
  scanWorker: URL,
  extraEndpointOpeners: readonly OpenExtraEndpoints[],
  { bus, documents, counters, columns, metrics, log, clock, settings }: ReceiversOptions,
): Promise<Receivers> => {
  const resolveSource = createSourceResolver(settings.TRUSTED_PROXIES);
  // Read first: if the table is unreadable, the start fails before anything has to be closed.
  const findCountry = await openCountries(settings.COUNTRY_FILE);
  const uses = new KeyUses(documents, clock, log);
  const keyring = await Keyring.load(documents, clock, uses).catch(async (error: unknown) => {
    await uses.close();
    throw error;
  });
  const producer = await bus.producer();
  const graceMs = settings.KEY_GRACE_SECONDS * 1000;
  const freshness = new Freshness({ staleMs: () => keyring.staleMs(), graceMs, metrics, log });
  const limits = new Limits(counters, clock, settings.KEY_REQUESTS_PER_SECOND);
  const quotas = new Quotas({ counters, clock, log, readUsedBytes: columns && createUsedBytesReader(columns) });
  const rejections = new Rejections(producer, clock, log);
  const receiverMetrics = new ReceiverMetrics(metrics);
  const publisher = new Publisher(producer, receiverMetrics.bus, settings.BUS_PUBLISH_DELAY_MS);
  const visitorLimits = new VisitorLimits(clock);
  const sessionLimits = new VisitorLimits(clock);
  const offload = new Offload(scanWorker);
  // A flood of browser bodies must not delay those of servers.
  const browserOffload = new Offload(scanWorker);
  const redactionOffload = new Offload(scanWorker);
  const offloadWatch = new OffloadWatch({
    offloads: { large: offload, browser: browserOffload, redacted: redactionOffload },
    metrics,
    log,
  });
  let secretBox: Promise<SecretBox> | undefined;
  const loadSecretBox = (): Promise<SecretBox> => {
    secretBox ??= loadSecretKey(settings)
      .then(createSecretBox)
      .catch((error: unknown) => {
        // After a failure, the next dead letter tries again.
        secretBox = undefined;
        throw error;
      });
    return secretBox;
  };
  const ingestion = new Ingestion({
    offload,
    browserOffload,
    redactionOffload,
    quotas,
    visitorLimits,
    sessionLimits,
    rejections,
    publisher,
    loadSecretBox,
    metrics,
    log,
  });
  const inFlight = new InFlight();
  const { admit, admitBrowser, findRevocation } = createAdmission({
    keyring,
    freshness,
    limits,
    visitorLimits,
    rejections,
  });
  const openedReceivers: OpenReceiver[] = receivers.map((receiver) =>
    receiver.open({
      admit,
      admitBrowser,
      findBrowserAccess: (key) => keyring.lookup(key, '')?.browser,
      ingestion,
      rejections,
      inFlight,
      resolveSource,
      findCountry,
      clock,
      log,
      settings,
      requestMetrics: createRequestMetrics(receiverMetrics, receiver.name),
    }),
  );
  const extraEndpoints: ExtraEndpoints[] = [];
  const listeners: Listener[] = [];
  const closeAll = async (): Promise<void> => {
    await publisher.drain();
    await Promise.all(extraEndpoints.map((endpoints) => endpoints.close()));
    freshness.close();
    offloadWatch.close();
    receiverMetrics.close();
    await rejections.close();
    await Promise.all([
      offload.close(),
      browserOffload.close(),
      redactionOffload.close(),
      keyring.close(),
      uses.close(),
      producer.close(),
    ]);
  };
  try {
    for (const openExtraEndpoints of extraEndpointOpeners)
      extraEndpoints.push(
        await openExtraEndpoints({
          documents,
          keyring,
          producer,
          limits,
          counters,
          freshness,
          inFlight,
          resolveSource,
          admit,
          findRevocation,
          metrics,
          clock,
          log,
          settings,
        }),
      );
    // Checked first, because their paths may have the same prefix as those of a receiver.
    openedReceivers.unshift(...extraEndpoints);
    const shared = {
      handler: createAddressHandler(openedReceivers, 'OTLP_HTTP_ADDRESS'),
      sockets: createAddressSockets(openedReceivers, 'OTLP_HTTP_ADDRESS'),
    };
    for (const { listen } of openedReceivers) if (listen !== undefined) listeners.push(await listen(shared));
  } catch (error) {
    for (const listener of listeners) listener.destroy();
    await closeAll();
    throw error;
  }
  const { promise: failure } = Promise.withResolvers<void>();
  let stopping: Promise<void> | undefined;

  const endConnections = () => Promise.all(extraEndpoints.map((endpoints) => endpoints.endConnections?.()));
  const stop = async (): Promise<void> => {
    inFlight.isDraining = true;
    // A server closes once its WebSockets have ended.
    await endConnections();
    const closing = Promise.all(listeners.map((listener) => listener.close()));
    // Requests that are pending at the deadline are aborted; their senders will retry.
    const deadline = setTimeout(() => {
      for (const listener of listeners) listener.destroy();
    }, settings.SHUTDOWN_SECONDS * 1000);
    await inFlight.waitUntilIdle();
    await closing;
    clearTimeout(deadline);
    await closeAll();
  };

  const checkStores = createStoresCheck({ 'the bus': () => bus.check() });
  return {
    name: 'receivers',
    handler: createAddressHandler(openedReceivers, 'HTTP_ADDRESS'),
    sockets: createAddressSockets(openedReceivers, 'HTTP_ADDRESS'),
    addresses: Object.fromEntries(listeners.map(({ setting, address }) => [setting, address])),
    async checkReady() {
      if (inFlight.isDraining) throw new UnavailableError('the receivers are stopping');
      freshness.check();
      await checkStores();
    },
    getDegradation: () => freshness.describeDegradation() ?? offloadWatch.describeDegradation(),
    announceShutdown: () =>
      Promise.all([endConnections(), ...listeners.map((listener) => listener.announceShutdown?.())]),
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
    failure,
  };
};
