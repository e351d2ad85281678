/** The role that runs processors and schedules. `registry.ts` and `schedules.ts` list them. */
import { openPromql } from '../queries/promql/evaluation/threads.ts';
import { readFeatures, readTranslation } from '../queries/promql/settings.ts';
import { selectComponents } from '../runtime/components.ts';
import { toConsumerGroup } from '../runtime/consumer-groups.ts';
import { trackWork } from '../runtime/current-work.ts';
import { deriveFingerprintKey, setFingerprintKey } from '../runtime/fingerprint-key.ts';
import { openOutbound } from '../runtime/outbound.ts';
import { createStoresCheck } from '../runtime/readiness.ts';
import { createSecretBox, loadSecretKey } from '../runtime/secret-box.ts';
import { openStates } from '../runtime/states.ts';
import type { Bus, Producer } from '../schemas/ports/bus.ts';
import type { Clock } from '../schemas/ports/clock.ts';
import type { Columns } from '../schemas/ports/columns.ts';
import type { Counters } from '../schemas/ports/counters.ts';
import type { Documents } from '../schemas/ports/documents.ts';
import type { Log } from '../schemas/ports/log.ts';
import type { Mailer } from '../schemas/ports/mail.ts';
import type { Metrics } from '../schemas/ports/metrics.ts';
import type { Role } from '../schemas/ports/role.ts';
import type { Settings } from '../schemas/settings.ts';
import { topics } from '../schemas/topics.ts';
import { type DeliveriesOptions, deliveriesName, startDeliveries } from './deliveries/deliveries.ts';
import { followConfiguration } from './engine/configuration.ts';
import type { Processor } from './engine/definition.ts';
import { TaskPool, type TaskPoolOptions } from './engine/pool.ts';
import { runProcessor } from './engine/run.ts';
import { defaultIntervals, type ProcessorIntervals } from './engine/runtime.ts';
import { type Schedule, scheduleTopic } from './engine/schedule.ts';
import { type RunningSchedule, runSchedule } from './engine/schedule-run.ts';
import { processors } from './registry.ts';
import { schedules } from './schedules.ts';

/** Returns consumer groups of these processors and schedules, with their topics. */
export const listConsumerGroups = (
  allProcessors: readonly Pick<Processor, 'name' | 'reads'>[],
  allTimed: readonly Pick<Schedule, 'name'>[],
): readonly { readonly group: string; readonly topics: readonly string[] }[] =>
  [
    ...allProcessors.map(({ name, reads }) => ({ name, topics: reads.topics })),
    ...allTimed.map(({ name }) => ({ name, topics: [scheduleTopic(name)] })),
  ].map(({ name, topics }) => ({
    group: toConsumerGroup('processors', name),
    topics: topics.map((topic) => topic.name),
  }));

/** Consumer groups of the registered processors and schedules. Their lag is reported, and they cannot be deleted. */
export const processorGroups = [
  ...listConsumerGroups(processors, schedules),
  { group: toConsumerGroup('processors', deliveriesName), topics: [topics.notifications.name] },
];

/** Topics that distribute the schedules to processes. */
export const scheduleTopics = schedules.map(({ name }) => scheduleTopic(name));

export interface ProcessorsOptions {
  readonly bus: Bus;
  readonly documents: Documents;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
  /** Names of the processors to run; empty for all. */
  readonly only?: readonly string[];
  /** Replaces the registry, with the module whose `processors` the threads load. */
  readonly registered?: {
    readonly processors: readonly Processor[];
    readonly module: URL;
    readonly schedules?: readonly Schedule[];
  };
  /** For queries of schedules; processors do not need it. */
  readonly columns?: Columns;
  /** If present, notifications are delivered too. */
  readonly counters?: Counters;
  readonly mailer?: Mailer;
  readonly settings?: Settings;
  /** Overrides of the default waits. */
  readonly deliveries?: Pick<DeliveriesOptions, 'waitsMs' | 'leaseMs'>;
  readonly pool?: Omit<TaskPoolOptions, 'definitions'>;
  readonly pace?: Partial<ProcessorIntervals>;
}

/** Starts the delivery of notifications, if its dependencies are present. */
const startOptionalDeliveries = async (options: ProcessorsOptions, producer: Producer) => {
  const { counters, mailer, settings } = options;
  if (counters === undefined || mailer === undefined || settings === undefined) return [];
  const outbound = openOutbound({ allowedNetworks: settings.OUTBOUND_NETWORKS });
  const box = createSecretBox(await loadSecretKey(settings));
  const publicUrl = settings.PUBLIC_URL ?? '';
  return [
    await startDeliveries({
      ...options,
      ...options.deliveries,
      counters,
      mailer,
      outbound,
      box,
      publicUrl,
      producer,
      address: settings.HTTP_ADDRESS,
    }),
  ];
};

/** Starts consuming. Topics and collections must exist. */
export const startProcessors = async (options: ProcessorsOptions): Promise<Role> => {
  const { bus, documents, columns, settings, metrics, log, clock, registered } = options;
  const { processors: allProcessors, schedules: allSchedules = [] } = registered ?? { processors, schedules };
  // Processors and schedules share one namespace, because each has its own consumer group.
  const selectedComponents = selectComponents(
    'processor',
    [...allProcessors, ...allSchedules, { name: deliveriesName }],
    options.only,
  );
  const selectedProcessors = allProcessors.filter((processor) => selectedComponents.includes(processor));
  const selectedSchedules = allSchedules.filter((schedule) => selectedComponents.includes(schedule));
  if (columns === undefined && selectedSchedules.length > 0)
    throw new TypeError('schedules cannot run without columns');
  // The threads of processors inherit it.
  if (settings !== undefined) setFingerprintKey(deriveFingerprintKey(createSecretBox(await loadSecretKey(settings))));
  const pool = new TaskPool({
    ...options.pool,
    definitions: registered?.module ?? new URL('./registry.ts', import.meta.url),
  });
  const producer = await bus.producer();
  const runsDeliveries = registered === undefined && selectedComponents.some(({ name }) => name === deliveriesName);
  // Everything that can fail runs before consumption starts.
  const openDependencies = async () => ({
    configuration: await followConfiguration(selectedProcessors, documents, (change) => pool.change(change)),
    deliveries: runsDeliveries
      ? await trackWork(`processor ${deliveriesName}`, () => startOptionalDeliveries(options, producer))
      : [],
  });
  const { configuration, deliveries } = await openDependencies().catch(async (error: unknown) => {
    await Promise.all([pool.close(), producer.close()]);
    throw error;
  });
  const states = openStates({ documents, clock });
  const intervals = { ...defaultIntervals, ...options.pace };
  const runtime = { bus, producer, states, pool, configuration, clock, metrics, log, intervals };
  const consumers = selectedProcessors.map((processor) => {
    const consumer = bus.createConsumer({ group: toConsumerGroup('processors', processor.name) });
    return {
      consumer,
      done: trackWork(`processor ${processor.name}`, () => runProcessor(processor, consumer, runtime)),
    };
  });
  // PromQL threads start with the first query.
  const threads = openPromql({ features: settings && readFeatures(settings) });
  const promql = settings && { threads, translation: readTranslation(settings) };
  const runningSchedules = columns
    ? selectedSchedules.map((schedule) =>
        trackWork(`schedule ${schedule.name}`, () =>
          runSchedule(schedule, { ...runtime, ports: { columns, documents, promql } }),
        ),
      )
    : [];
  const runningParts: Pick<RunningSchedule, 'done' | 'stop'>[] = [...runningSchedules, ...deliveries];
  const stopped = Promise.withResolvers<void>();
  return {
    name: 'processors',
    checkReady: createStoresCheck({ 'the bus': () => bus.check(), 'the documents store': () => documents.check() }),
    getDegradation() {
      const reasons = runningSchedules.flatMap((schedule) => schedule.degraded() ?? []);
      return reasons.length === 0 ? undefined : reasons.join('; ');
    },
    async stop() {
      await Promise.all([
        ...consumers.map(({ consumer }) => consumer.stop()),
        ...runningParts.map((component) => component.stop()),
      ]);
      await Promise.allSettled(consumers.map(({ done }) => done));
      await configuration.close();
      await Promise.all([pool.close(), threads.close()]);
      await producer.close();
      stopped.resolve();
    },
    failure: Promise.all([stopped.promise, ...[...consumers, ...runningParts].map(({ done }) => done)]).then(
      () => undefined,
    ),
  };
};
