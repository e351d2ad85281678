/**
 * Apicurio Registry, which implements the Confluent Schema Registry API, from Maven artifacts. Stores schemas in
 * memory.
 */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { answers, execute, installInto, missingTools, type ServiceDefinition } from './definition.ts';
import { copyArtifact } from './maven.ts';

// The last minor version that runs on Java 11 and 17.
const version = '2.6.13.Final';
const variable = 'TEST_SCHEMA_REGISTRY_URL';

const home = (root: string): string => join(root, `apicurio-${version}`);

const runner = async (folder: string): Promise<string> => {
  const name = (await readdir(folder)).find((file) => file.endsWith('runner.jar'));
  if (name === undefined) throw new Error(`no runner jar in ${folder}: remove the folder to download it again`);
  return name;
};

export const schemaRegistry: ServiceDefinition = {
  name: 'schema-registry',
  variable,
  missing: () => missingTools('schema-registry', variable, ['java', 'mvn', 'tar']),
  install: (root) =>
    installInto(home(root), async (folder) => {
      await copyArtifact(`io.apicurio:apicurio-registry-app:${version}:tar.gz:all`, folder);
      for (const file of await readdir(folder)) {
        if (!file.endsWith('.tar.gz')) continue;
        await execute('tar', ['xzf', join(folder, file), '-C', folder]);
        await rm(join(folder, file));
      }
    }),
  async command({ root, directory, port }) {
    await mkdir(directory, { recursive: true });
    return {
      file: 'java',
      args: [
        ...['-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', `-Djava.io.tmpdir=${directory}`],
        ...['-Dquarkus.http.host=127.0.0.1', `-Dquarkus.http.port=${port}`, '-Dquarkus.profile=prod'],
        ...['-jar', await runner(home(root))],
      ],
      cwd: home(root),
    };
  },
  url: (port) => `http://127.0.0.1:${port}/apis/ccompat/v7`,
  ready: (port) => answers(`http://127.0.0.1:${port}/apis/ccompat/v7/subjects`),
};
