/** Apache ZooKeeper from Maven artifacts, which coordinates replicated ClickHouse tables. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { installInto, missingTools, probe, type ServiceDefinition } from './definition.ts';
import { copyDependencies } from './maven.ts';

const version = '3.9.4';
const variable = 'TEST_ZOOKEEPER';

// The server loads the last two, which its POM does not declare.
const dependencies = `
 <dependency><groupId>org.apache.zookeeper</groupId><artifactId>zookeeper</artifactId><version>${version}</version></dependency>
 <dependency><groupId>io.dropwizard.metrics</groupId><artifactId>metrics-core</artifactId><version>4.2.30</version></dependency>
 <dependency><groupId>org.xerial.snappy</groupId><artifactId>snappy-java</artifactId><version>1.1.10.5</version></dependency>`;

const jars = (root: string): string => join(root, `zookeeper-${version}`);

export const zookeeper: ServiceDefinition = {
  name: 'zookeeper',
  variable,
  missing: () => missingTools('zookeeper', variable, ['java', 'mvn']),
  install: (root) => installInto(jars(root), (folder) => copyDependencies(dependencies, folder)),
  async command({ root, directory, port }) {
    await mkdir(directory, { recursive: true });
    return {
      file: 'java',
      args: [
        ...['-Xmx96m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Dzookeeper.admin.enableServer=false'],
        ...['-cp', join(jars(root), '*'), 'org.apache.zookeeper.server.ZooKeeperServerMain'],
        ...[String(port), join(directory, 'state')],
      ],
      cwd: directory,
    };
  },
  url: (port) => `127.0.0.1:${port}`,
  ready: (port) => probe(port, Buffer.from('srvr'), (response) => response.includes('Zookeeper version')),
};
