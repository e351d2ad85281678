/**
 * Apache Kafka from Maven artifacts: nodes that are broker and controller (KRaft). `kafka-cluster.ts` starts clusters
 * of several nodes.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../waiting.ts';
import { execute, exists, installInto, missingTools, type Place, probe, type ServiceDefinition } from './definition.ts';
import { copyDependencies } from './maven.ts';
import { freePorts } from './ports.ts';

const version = process.env['TEST_KAFKA_VERSION'] ?? '4.4.0';
const isVersion3 = version.startsWith('3.');
const variable = 'TEST_KAFKA_BROKERS';

// kafka_2.13's pom of 4.4.0 names kafka-tools-api 4.4.0, which the registry does not hold and the broker does not load. The
// poms carry no binding for the logging facade, so one is added.
const exclusions =
  '<exclusions><exclusion><groupId>org.apache.kafka</groupId><artifactId>kafka-tools-api</artifactId></exclusion></exclusions>';
const loggingBinding = isVersion3
  ? '<groupId>org.slf4j</groupId><artifactId>slf4j-reload4j</artifactId><version>1.7.36</version>'
  : '<groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId><version>2.25.4</version>';
const dependencies = `
 <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${version}</version>${isVersion3 ? '' : exclusions}</dependency>
 <dependency>${loggingBinding}</dependency>`;

const jars = (root: string): string => join(root, `kafka-${version}`);
/**
 * Archive with the loaded classes of a broker (class data sharing): half of the CPU time of a start is reading and
 * verifying classes.
 */
const classes = (root: string): string => join(root, `kafka-${version}.jsa`);

const shareGroups = `share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
`;

const properties = ({ directory, port }: Place): string => `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${port + 1}
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${port + 1}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=${directory}/log
num.partitions=1
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
${isVersion3 ? '' : shareGroups}group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
log.segment.bytes=134217728
log.retention.check.interval.ms=1000
log.initial.task.delay.ms=1000
log.segment.delete.delay.ms=1000
log.cleaner.dedupe.buffer.size=16777216
log.cleaner.threads=1
`;

const logging = isVersion3
  ? `log4j.rootLogger=WARN, o
log4j.appender.o=org.apache.log4j.ConsoleAppender
log4j.appender.o.layout=org.apache.log4j.PatternLayout
log4j.appender.o.layout.ConversionPattern=[%d] %p %m (%c)%n
`
  : `rootLogger.level=WARN
rootLogger.appenderRefs=o
rootLogger.appenderRef.o.ref=o
appenders=o
appender.o.type=Console
appender.o.name=o
appender.o.layout.type=PatternLayout
appender.o.layout.pattern=[%d] %p %m (%c)%n
`;

/** Returns 16 random bytes in base64url that do not start with a dash. */
export const clusterId = (): string => `A${randomBytes(16).toString('base64url').slice(1)}`;

/** An ApiVersions request, version 0, with correlation id 7. The response repeats the id. */
const apiVersions = Buffer.from([0, 0, 0, 13, 0, 18, 0, 0, 0, 0, 0, 7, 0, 3, 114, 100, 121]);

/**
 * Starts a broker once to write the class archive. Java compares the paths of the jars, so they are at their final
 * path before.
 */
const cacheClasses = async (root: string): Promise<void> => {
  if (await exists(classes(root))) return;
  const directory = await mkdtemp(`${classes(root)}.part-`);
  try {
    const archive = join(directory, 'classes');
    const [port = 0] = await freePorts(1);
    const { file, args } = await kafka.command({ root, directory, port });
    const broker = spawn(file, [`-XX:ArchiveClassesAtExit=${archive}`, ...args], { stdio: 'ignore' });
    const ended = once(broker, 'exit');
    await eventually('a broker whose classes are kept', () => broker.exitCode !== null || kafka.ready(port));
    broker.kill('SIGTERM');
    await ended;
    await rename(archive, classes(root));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};

export const kafka: ServiceDefinition = {
  name: 'kafka',
  variable,
  missing: () => missingTools('kafka', variable, ['java', 'mvn']),
  async install(root) {
    await installInto(jars(root), (folder) => copyDependencies(dependencies, folder));
    await cacheClasses(root);
  },
  async command(place) {
    await mkdir(place.directory, { recursive: true });
    const configuration = join(place.directory, 'server.properties');
    const log4j = join(place.directory, 'log4j.properties');
    // A test that needs other listeners writes additional settings to this file before it starts an instance.
    const more = await readFile(join(place.directory, 'more.properties'), 'utf8').catch(() => '');
    await writeFile(configuration, `${properties(place)}${more}`);
    await writeFile(log4j, logging);
    const loggingFrom = isVersion3 ? `-Dlog4j.configuration=file:${log4j}` : `-Dlog4j2.configurationFile=${log4j}`;
    const archiveArgs = (await exists(classes(place.root))) ? [`-XX:SharedArchiveFile=${classes(place.root)}`] : [];
    const java = [...archiveArgs, '-cp', join(jars(place.root), '*'), loggingFrom];
    if (!(await exists(join(place.directory, 'log', 'meta.properties')))) {
      const id = await readFile(join(place.directory, 'cluster-id'), 'utf8').catch(clusterId);
      await execute('java', [
        ...['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'],
        ...java,
        'kafka.tools.StorageTool',
        'format',
        '-t',
        id,
        '-c',
        configuration,
      ]);
    }
    // Brokers of tests are too short-lived for the second compiler.
    const flags = ['-Xms128m', '-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
    return { file: 'java', args: [...flags, ...java, 'kafka.Kafka', configuration] };
  },
  url: (port) => `127.0.0.1:${port}`,
  ready: (port) => probe(port, apiVersions, (response) => response.length >= 8 && response.readInt32BE(4) === 7),
};
